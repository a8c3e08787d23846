/* A pull reader for JSON, over memory or over a stream.
 *
 * It builds no tree: the caller walks through what it wants and skips the
 * rest, which costs a vector compare per byte and is not checked for more
 * than its brackets and quotes.
 *
 *     TB_TRY(tb_json_enter_object(&reader));
 *     for (;;) {
 *         struct tb_span key;
 *         TB_TRY(tb_json_next_key(&reader, &key));
 *         if (!key.ptr)
 *             break;
 *         if (tb_span_equal(key, TB_SPAN("name")))
 *             TB_TRY(tb_json_read_string(&reader, &arena, &name));
 *         else
 *             TB_TRY(tb_json_skip(&reader));
 *     }
 *
 * Accepted beyond RFC 8259, since toolkits write it: NaN, Infinity and
 * -Infinity (numbers without a value), control characters in strings, a byte
 * order mark at the start, a lone surrogate escape (read as U+FFFD, counted),
 * invalid UTF-8 in strings (each bad part read as U+FFFD, counted).
 *
 * Every failing call leaves status, line, offset and JSON path in
 * `reader->error`; TB_ERR_CUT means that the input ended inside a value.
 * One thread at a time.
 */
#ifndef TB_JSON_READER_H
#define TB_JSON_READER_H

#include "arena.h"
#include "buffer.h"

enum {
    TB_JSON_MAX_DEPTH = 512,  /* levels that are entered */
    TB_JSON_PATH_DEPTH = 12,  /* levels that the path of an error can name */
    TB_JSON_PATH_KEY_LEN = 23 /* bytes of a key that are kept for it */
};

/* Longest value that a stream reader holds in one piece, bytes. */
#define TB_JSON_MAX_VALUE_LEN ((size_t)1 << 32)

typedef enum tb_json_type {
    TB_JSON_OBJECT,
    TB_JSON_ARRAY,
    TB_JSON_STRING,
    TB_JSON_NUMBER, /* NaN and the infinities too */
    TB_JSON_TRUE,
    TB_JSON_FALSE,
    TB_JSON_NULL,
    TB_JSON_END, /* no further value: the input is at its end */
} tb_json_type;

struct tb_json_number {
    struct tb_span text; /* as written; borrowed like a string */
    double value;        /* NAN for NaN and the infinities as written */
    int64_t integer;     /* when is_integer */
    bool is_integer;     /* written without '.' or exponent and fits */
};

/* Fills `bytes` with up to `size` bytes; `*len` 0 is the end. */
typedef tb_status (*tb_json_read_fn)(void *context, uint8_t *bytes, size_t size,
                                     size_t *len, struct tb_error *error);

struct tb_json_frame {
    bool is_array;
    uint8_t key_len;
    uint64_t index; /* of the current item, when is_array */
    char key[TB_JSON_PATH_KEY_LEN];
};

struct tb_json_reader {
    /* private */
    const uint8_t *at;
    const uint8_t *end;
    const uint8_t *mark;  /* bytes from here on stay in the window */
    tb_json_read_fn read; /* NULL: all bytes are there */
    void *context;
    struct tb_buffer window; /* of a stream */
    uint64_t end_offset;     /* offset of `end` in the input */
    size_t counted_len;      /* bytes of the window whose lines are counted */
    uint64_t counted_line;   /* newlines up to there, from the beginning */
    bool is_at_end;          /* the stream has no more */
    bool is_first;           /* before the next key or item stands no comma */
    uint32_t depth;
    struct tb_json_frame frames[TB_JSON_PATH_DEPTH];
    /* public, read only */
    struct tb_error error;
    uint64_t lone_surrogate_count;
    uint64_t bad_utf8_count;
};

/* Reads `json`, which must outlive the reader. `offset` and `line` are where
 * it stands in its file (0 and 1 for a whole one), for errors. */
void tb_json_reader_init_span(struct tb_json_reader *reader,
                              struct tb_span json, uint64_t offset,
                              uint64_t line);

/* Reads what `read` gives, in a window that grows with the longest piece. */
void tb_json_reader_init_stream(struct tb_json_reader *reader,
                                tb_json_read_fn read, void *context);

void tb_json_reader_release(struct tb_json_reader *reader);

/* Type of the next value; nothing is consumed but white space. Bytes that
 * begin no value: TB_ERR_SYNTAX. */
TB_NODISCARD tb_status tb_json_peek(struct tb_json_reader *reader,
                                    tb_json_type *type);

/* Steps into the next value; TB_ERR_TYPE if it is of another kind. */
TB_NODISCARD tb_status tb_json_enter_object(struct tb_json_reader *reader);
TB_NODISCARD tb_status tb_json_enter_array(struct tb_json_reader *reader);

/* In an object: the next key, whose value must be read or skipped before the
 * next call; at the end of the object (which is left) `key->ptr` is NULL.
 * The span lives until the next call of any function here. A key with escapes
 * is given as written. */
TB_NODISCARD tb_status tb_json_next_key(struct tb_json_reader *reader,
                                        struct tb_span *key);

/* Resolves the escapes of a key as tb_json_next_key gives it, into `arena`; a
 * key without any is borrowed. */
TB_NODISCARD tb_status tb_json_decode_key(struct tb_json_reader *reader,
                                          struct tb_arena *arena,
                                          struct tb_span *key);

/* In an array: is there another item? When not, the array is left. */
TB_NODISCARD tb_status tb_json_next_item(struct tb_json_reader *reader,
                                         bool *found);

/* Reads a string. The text is valid UTF-8. Over memory a string without
 * escapes borrows from the input; all else is copied into `arena`. */
TB_NODISCARD tb_status tb_json_read_string(struct tb_json_reader *reader,
                                           struct tb_arena *arena,
                                           struct tb_span *text);

/* Reads a number; `text` lives until the next call when streaming. */
TB_NODISCARD tb_status tb_json_read_number(struct tb_json_reader *reader,
                                           struct tb_json_number *number);

/* Steps over the next value, whatever it is. */
TB_NODISCARD tb_status tb_json_skip(struct tb_json_reader *reader);

/* Over memory: the bytes from the next value on; and steps over that value,
 * which is known to be its first `len` bytes. */
TB_NODISCARD tb_status tb_json_rest(struct tb_json_reader *reader,
                                    struct tb_span *rest);
void tb_json_skip_known(struct tb_json_reader *reader, size_t len);

/* Steps over the next value and gives its bytes, without white space around.
 * When streaming they live until the next call. */
TB_NODISCARD tb_status tb_json_read_raw(struct tb_json_reader *reader,
                                        struct tb_span *json);

/* Over memory, in an array: steps over items that are `len` bytes or more
 * together, but not out of the array; behind them stands a comma, or what ends
 * the array. They are neither checked nor counted for the path of an error. */
TB_NODISCARD tb_status tb_json_skip_items(struct tb_json_reader *reader,
                                          size_t len);

/* Keeps all bytes from the next value on in the window until tb_json_unmark,
 * so that a value can be looked into and then had as a whole. */
TB_NODISCARD tb_status tb_json_mark(struct tb_json_reader *reader);

/* The bytes since the mark. */
struct tb_span tb_json_marked(const struct tb_json_reader *reader);
void tb_json_unmark(struct tb_json_reader *reader);

/* Steps out of the values that were entered until `depth` (as
 * `tb_json_depth` gave it) is reached again, skipping what is left of them. */
uint32_t tb_json_depth(const struct tb_json_reader *reader);
TB_NODISCARD tb_status tb_json_leave_to(struct tb_json_reader *reader,
                                        uint32_t depth);

/* After the last value: only white space may follow, else TB_ERR_SYNTAX. */
TB_NODISCARD tb_status tb_json_expect_end(struct tb_json_reader *reader);

/* Offset of the next byte. */
uint64_t tb_json_offset(const struct tb_json_reader *reader);

/* Line of the next byte: counts newlines on from where it was asked last. */
uint64_t tb_json_line(struct tb_json_reader *reader);

/* The path of what is read, such as "$[3].payload"; a deep one in part. */
void tb_json_path(const struct tb_json_reader *reader, char *path, size_t size);

/* For a caller that read a value and does not like it: fills reader->error
 * with the place and the text, and returns `status`. */
tb_status tb_json_fail(struct tb_json_reader *reader, tb_status status,
                       const char *format, ...) TB_PRINTF(3, 4);

#endif
