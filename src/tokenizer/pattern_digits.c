/* GPT-2's pattern behind a step that makes each digit a word: StarCoder's,
 * SmolLM's, Granite's, Command R's. */
#include "pattern.h"

#include "pattern_class.h"
#include "pretokenizer.h"

/* The step knows numbers that came after Unicode 16.0, which the pattern takes
 * for signs. */
static inline bool is_number(struct tb_span text, size_t at)
{
    if (at == text.len)
        return false;
    uint8_t byte = text.ptr[at];
    return byte < 0x80 ? byte >= '0' && byte <= '9'
                       : tb_scan_numeric(text, at) > at;
}

/* The pattern sees what lies between two digits. Of that only white space
 * depends on where it ends: before a digit, all of it is one word. */
size_t tb_pattern_scan_digits_gpt2(struct tb_span text, size_t at)
{
    if (is_number(text, at))
        return at + tb_char_at(text, at).len;
    size_t end = tb_run(text, at, TB_CLASS_SPACE, 0);
    if (end > at && is_number(text, end))
        return end;
    end = tb_pattern_scan_gpt2(text, at);
    for (size_t i = at; i < end; i++)
        if (text.ptr[i] >= 0xF0 && is_number(text, i))
            return i;
    return end;
}
