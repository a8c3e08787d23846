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

/* Code points of one piece, each with its canonical combining class above, and
 * above that whether it is one more than the text has. */
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
    IS_MORE = 1 << 29, /* not the first that a character was taken apart into */
    SHORT_RUN = 24,    /* marks; insertion beats counting up to here */
};

static int32_t class_of(int32_t item)
{
    return item >> CLASS_SHIFT & (CLASS_COUNT - 1);
}

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

    int32_t *first = piece->items + piece->count;
    for (int32_t *item = first; item < first + need; item++) {
        *item |= utf8proc_get_property(*item)->combining_class << CLASS_SHIFT;
        *item |= item > first ? IS_MORE : 0;
    }
    piece->count += need;
    return TB_OK;
}

static void sort_short_run(int32_t *items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        int32_t item = items[i];
        size_t at = i;
        for (; at > 0 && class_of(items[at - 1]) > class_of(item); at--)
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
        ends[class_of(items[i])]++;
    }
    for (size_t i = 1; i < CLASS_COUNT; i++)
        ends[i] += ends[i - 1];
    for (size_t i = count; i-- > 0;)
        items[--ends[class_of(spare[i])]] = spare[i];
}

/* Sorts every run of marks by combining class, equal ones staying in order. */
static tb_status order_marks(struct piece *piece)
{
    for (size_t at = 0; at < piece->count;) {
        size_t end = at;
        while (end < piece->count && class_of(piece->items[end]) != 0)
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
    return TB_OK;
}

// Leaves nothing but the code points.
static void take_classes_off(struct piece *piece)
{
    for (size_t i = 0; i < piece->count; i++)
        piece->items[i] &= CODE_POINT_BITS;
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

/* Takes the piece that begins at `*at` apart, in order, and moves `*at` behind
 * it. */
static tb_status read_piece(struct tb_span text, size_t *at,
                            enum tb_normal_form form, struct piece *piece)
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

    return order_marks(piece);
}

/* Appends the piece that begins at `*at` and moves `*at` behind it. */
static tb_status append_piece(struct tb_span text, size_t *at,
                              enum tb_normal_form form, struct piece *piece,
                              struct tb_buffer *out)
{
    utf8proc_option_t options = options_of(form);
    TB_TRY(read_piece(text, at, form, piece));
    take_classes_off(piece);
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

/* ---- origins --------------------------------------------------------------
 */

/* What came out and how far that is into what went in, in characters. */
struct origin {
    size_t end;      /* characters of the text whose origin is asked for */
    size_t read;     /* characters that what came out stands for */
    size_t made_len; /* bytes that stand for the first `end` */
    bool is_over;    /* something stands for a later one */
};

/* Another character that came out; `taken` is of how many characters it was
 * made, 0 for one that is more than the text has: it stands where the one
 * before stands. */
static void put_out(struct origin *origin, int32_t code_point, size_t taken)
{
    uint8_t bytes[TB_UTF8_MAX_LEN];
    size_t place = origin->read - (taken == 0 && origin->read > 0);
    origin->is_over |= place >= origin->end;
    if (origin->is_over)
        return;
    origin->made_len += tb_utf8_encode((uint32_t)code_point, bytes);
    origin->read += taken;
}

/* The character that both become, or a negative number. */
static int32_t pair_of(int32_t starter, int32_t next, utf8proc_option_t options)
{
    int32_t both[] = {starter, next};
    return utf8proc_normalize_utf32(both, 2, options) == 1 ? both[0] : -1;
}

// Puts out items that nothing has joined.
static void put_items(struct origin *origin, const int32_t *items, size_t count)
{
    for (size_t i = 0; i < count && !origin->is_over; i++)
        put_out(origin, items[i] & CODE_POINT_BITS, !(items[i] & IS_MORE));
}

/* A starter that marks may still join, and those that did not. */
struct open_starter {
    int32_t code_point;   /* negative: none */
    size_t taken;         /* characters of the text that are in it */
    int32_t class_before; /* of the mark behind it; -1: none */
    size_t kept_count;    /* marks behind it, at the front of the piece */
};

static void open_starter(struct open_starter *open, int32_t item)
{
    *open = (struct open_starter){.code_point = item & CODE_POINT_BITS,
                                  .taken = !(item & IS_MORE),
                                  .class_before = -1};
}

static void close_starter(struct origin *origin, struct open_starter *open,
                          const struct piece *piece)
{
    if (open->code_point >= 0)
        put_out(origin, open->code_point, open->taken);
    put_items(origin, piece->items, open->kept_count);
    *open = (struct open_starter){.code_point = -1, .class_before = -1};
}

static bool join_starter(struct open_starter *open, int32_t item,
                         utf8proc_option_t options)
{
    if (open->code_point < 0 || open->class_before >= class_of(item))
        return false;
    int32_t joined = pair_of(open->code_point, item & CODE_POINT_BITS, options);
    if (joined < 0)
        return false;
    open->code_point = joined;
    open->taken += !(item & IS_MORE);
    return true;
}

/* Composes as Unicode says (UAX 15), with the count of what each was made of:
 * a character joins the last starter unless one of its class or above stands
 * between, and marks that do not join come out behind it. */
static void put_composed(struct origin *origin, struct piece *piece,
                         utf8proc_option_t options)
{
    struct open_starter open = {.code_point = -1, .class_before = -1};
    for (size_t i = 0; i < piece->count && !origin->is_over; i++) {
        int32_t item = piece->items[i];
        if (join_starter(&open, item, options))
            continue;
        if (class_of(item) == 0) {
            close_starter(origin, &open, piece);
            open_starter(&open, item);
        } else if (open.code_point < 0) {
            put_items(origin, &item, 1);
        } else {
            open.class_before = class_of(item);
            piece->items[open.kept_count++] = item;
        }
    }
    close_starter(origin, &open, piece);
}

static void put_plain(struct origin *origin, struct tb_span text)
{
    for (size_t at = 0; at < text.len && !origin->is_over;) {
        uint32_t code_point;
        at += tb_utf8_decode(text, at, &code_point);
        put_out(origin, (int32_t)code_point, 1);
    }
}

static size_t count_characters(struct tb_span text)
{
    size_t count = 0;
    uint32_t code_point;
    for (size_t at = 0; at < text.len; count++)
        at += tb_utf8_decode(text, at, &code_point);
    return count;
}

tb_status tb_normalize_origin(struct tb_span text, size_t origin_len,
                              enum tb_normal_form form, size_t *made_len)
{
    tb_status status = TB_OK;
    utf8proc_option_t options = options_of(form);
    struct tb_span first = {text.ptr, origin_len};
    struct origin origin = {.end = count_characters(first)};
    struct piece piece = {0};
    for (size_t at = 0; at < text.len && !origin.is_over;) {
        size_t piece_at;
        if (skip_plain(text, at, form, &piece_at) == text.len)
            piece_at = text.len;
        put_plain(&origin, (struct tb_span){text.ptr + at, piece_at - at});
        at = piece_at;
        if (at == text.len || origin.is_over)
            break;
        TB_TRY_DONE(read_piece(text, &at, form, &piece));
        if (options & UTF8PROC_COMPOSE)
            put_composed(&origin, &piece, options);
        else
            put_items(&origin, piece.items, piece.count);
    }
    *made_len = origin.made_len;
done:
    tb_memory_free(piece.items);
    tb_memory_free(piece.spare);
    return status;
}
