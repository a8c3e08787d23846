#include "merge_border.h"

#include <string.h>

#include "pattern_class.h"

static inline bool is_space_at(struct tb_span text, size_t at)
{
    const struct tb_span space = TB_ESCAPED_SPACE;
    return text.ptr[at] == space.ptr[0] && text.len - at >= space.len &&
           memcmp(text.ptr + at, space.ptr, space.len) == 0;
}

// The first byte of the character at `at`, as borders know it.
static inline uint8_t first_at(struct tb_span text, size_t at)
{
    return is_space_at(text, at) ? TB_BORDER_SPACE : text.ptr[at];
}

/* Goes behind a space, a byte or a run of letters: between letters there is
 * hardly ever a border, and none has to be found. Returns the last byte. */
static inline uint8_t step_over(struct tb_span text, size_t *at)
{
    if (is_space_at(text, *at)) {
        *at += TB_ESCAPED_SPACE.len;
        return TB_BORDER_SPACE;
    }
    bool is_letter = tb_ascii_classes[text.ptr[*at]] & TB_ASCII_LETTER;
    *at = is_letter ? tb_run_alphabet(text, *at, 'a', 0x20) : *at + 1;
    return text.ptr[*at - 1];
}

// Hot loop: all texts of such a file go through it.
static inline size_t part_end(const struct tb_merge_borders *borders,
                              struct tb_span text, size_t at)
{
    for (;;) {
        uint8_t before = step_over(text, &at);
        if (at == text.len ||
            tb_merge_is_border(borders, before, first_at(text, at)))
            return at;
    }
}

size_t tb_merge_borders_cut(const struct tb_merge_borders *borders,
                            struct tb_span text, size_t at, size_t *ends,
                            size_t most)
{
    size_t count = 0;
    while (at < text.len && count < most)
        ends[count++] = at = part_end(borders, text, at);
    return count;
}
