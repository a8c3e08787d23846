/* Most text is plain: no character of it changes in the form that is asked
 * for. Plain runs are copied; what stands between goes through utf8proc piece
 * by piece. A piece is one plain character with the others that follow it,
 * since these may join it; it ends before the next plain character, which by
 * definition has nothing to do with what stands before it.
 *
 * Every code point younger than Unicode 9.0 is plain and starts no piece, so
 * utf8proc, which may know it, never sees it. */
#include "normalize.h"

#include <utf8proc.h>

#include "memory.h"
#include "unicode.h"
#include "utf8.h"

/* Code points of one piece, each with its canonical combining class above. */
struct piece {
    int32_t *items;
    size_t count;
    size_t capacity;
    int32_t *spare; /* for sorting */
    size_t spare_capacity;
};

enum {
    CLASS_SHIFT = 21,
    CODE_POINT_BITS = (1 << CLASS_SHIFT) - 1,
    CLASS_COUNT = 256,
    SHORT_RUN = 24, /* marks; insertion beats counting up to here */
};

static bool is_plain(uint32_t code_point, enum tb_normal_form form)
{
    return (tb_unicode_plain_forms(code_point) >> form) & 1;
}

/* Returns the offset of the first character from `at` on that is not plain,
 * and in `*piece_at` where its piece begins. */
static size_t skip_plain(struct tb_span text, size_t at,
                         enum tb_normal_form form, size_t *piece_at)
{
    *piece_at = at;
    while (at < text.len) {
        if (text.ptr[at] < 0x80) {
            at += tb_utf8_ascii_len(tb_span_from(text, at));
            *piece_at = at - 1;
            continue;
        }
        uint32_t code_point;
        size_t len = tb_utf8_decode(text, at, &code_point);
        if (!is_plain(code_point, form))
            break;
        *piece_at = tb_unicode_is_young(code_point) ? at + len : at;
        at += len;
    }
    return at;
}

static tb_status grow(int32_t **items, size_t *capacity, size_t need)
{
    int32_t *grown = tb_array_grow(*items, capacity, need, sizeof(**items));

    if (!grown)
        return TB_ERR_MEMORY;
    *items = grown;
    return TB_OK;
}

static tb_status add_decomposed(struct piece *piece, uint32_t code_point,
                                utf8proc_option_t options)
{
    size_t need = 1, room;

    do {
        TB_TRY(grow(&piece->items, &piece->capacity, piece->count + need));
        room = piece->capacity - piece->count;
        if (room > INT32_MAX)
            room = INT32_MAX;
        // gives the length even when it is more than the room
        need = (size_t)utf8proc_decompose_char(
            (utf8proc_int32_t)code_point, piece->items + piece->count,
            (utf8proc_ssize_t)room, options, NULL);
    } while (need > room);

    int32_t *end = piece->items + piece->count + need;
    for (int32_t *item = end - need; item < end; item++)
        *item |= utf8proc_get_property(*item)->combining_class << CLASS_SHIFT;
    piece->count += need;
    return TB_OK;
}

static void sort_short_run(int32_t *items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        int32_t item = items[i];
        size_t at = i;
        for (; at > 0 && items[at - 1] >> CLASS_SHIFT > item >> CLASS_SHIFT;
             at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

/* A counting sort, since a megabyte of marks in turn (U+0301 U+0316 ...) is
 * quadratic otherwise. */
static void sort_long_run(int32_t *items, size_t count, int32_t *spare)
{
    size_t ends[CLASS_COUNT] = {0};

    for (size_t i = 0; i < count; i++) {
        spare[i] = items[i];
        ends[items[i] >> CLASS_SHIFT]++;
    }
    for (size_t i = 1; i < CLASS_COUNT; i++)
        ends[i] += ends[i - 1];
    for (size_t i = count; i-- > 0;)
        items[--ends[spare[i] >> CLASS_SHIFT]] = spare[i];
}

/* Sorts every run of marks by combining class, equal ones staying in order,
 * and takes the classes off. */
static tb_status order_marks(struct piece *piece)
{
    for (size_t at = 0; at < piece->count;) {
        size_t end = at;
        while (end < piece->count && piece->items[end] >> CLASS_SHIFT != 0)
            end++;
        size_t run = end - at;
        if (run > SHORT_RUN) {
            TB_TRY(grow(&piece->spare, &piece->spare_capacity, run));
            sort_long_run(piece->items + at, run, piece->spare);
        } else {
            sort_short_run(piece->items + at, run);
        }
        at = end + 1;
    }
    for (size_t i = 0; i < piece->count; i++)
        piece->items[i] &= CODE_POINT_BITS;
    return TB_OK;
}

static void compose(struct piece *piece, utf8proc_option_t options)
{
    utf8proc_ssize_t count = utf8proc_normalize_utf32(
        piece->items, (utf8proc_ssize_t)piece->count, options);

    assert(count >= 0);
    piece->count = (size_t)count;
}

static utf8proc_option_t options_of(enum tb_normal_form form)
{
    // STABLE keeps the characters apart that are excluded from composition
    unsigned options = UTF8PROC_STABLE;

    if (form == TB_NFKC || form == TB_NFKD)
        options |= UTF8PROC_COMPAT;
    if (form == TB_NFC || form == TB_NFKC)
        options |= UTF8PROC_COMPOSE;
    else
        options |= UTF8PROC_DECOMPOSE;
    return (utf8proc_option_t)options;
}

/* Appends the piece that begins at `*at` and moves `*at` behind it. */
static tb_status append_piece(struct tb_span text, size_t *at,
                              enum tb_normal_form form, struct piece *piece,
                              struct tb_buffer *out)
{
    utf8proc_option_t options = options_of(form);
    uint32_t code_point;
    size_t len = tb_utf8_decode(text, *at, &code_point);

    piece->count = 0;
    do {
        TB_TRY(add_decomposed(piece, code_point, options));
        *at += len;
        if (*at == text.len)
            break;
        len = tb_utf8_decode(text, *at, &code_point);
    } while (!is_plain(code_point, form));

    TB_TRY(order_marks(piece));
    if (options & UTF8PROC_COMPOSE)
        compose(piece, options);

    for (size_t i = 0; i < piece->count; i++) {
        uint8_t bytes[TB_UTF8_MAX_LEN];
        size_t bytes_len = tb_utf8_encode((uint32_t)piece->items[i], bytes);
        TB_TRY(tb_buffer_append(out, (struct tb_span){bytes, bytes_len}));
    }
    return TB_OK;
}

bool tb_normalize_is_inert(struct tb_span text, enum tb_normal_form form)
{
    size_t piece_at;

    return skip_plain(text, 0, form, &piece_at) == text.len;
}

tb_status tb_normalize(struct tb_span text, enum tb_normal_form form,
                       struct tb_buffer *out)
{
    tb_status status = TB_OK;
    struct piece piece = {0};
    size_t old_len = out->len;
    size_t at = 0;

    while (at < text.len) {
        size_t piece_at;
        if (skip_plain(text, at, form, &piece_at) == text.len)
            piece_at = text.len;
        TB_TRY_DONE(tb_buffer_append(
            out, (struct tb_span){text.ptr + at, piece_at - at}));
        at = piece_at;
        if (at < text.len)
            TB_TRY_DONE(append_piece(text, &at, form, &piece, out));
    }
done:
    if (status != TB_OK)
        out->len = old_len;
    tb_memory_free(piece.items);
    tb_memory_free(piece.spare);
    return status;
}
