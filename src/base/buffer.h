/* Bytes that grow, up to a cap that is given at birth.
 *
 *     struct tb_buffer line = TB_BUFFER(1 << 20);
 *     TB_TRY(tb_buffer_append(&line, TB_SPAN("{")));
 *     ...
 *     tb_buffer_release(&line);
 */
#ifndef TB_BUFFER_H
#define TB_BUFFER_H

#include "span.h"
#include "status.h"

struct tb_buffer {
    uint8_t *ptr;
    size_t len;      /* bytes in use */
    size_t capacity; /* bytes that are there */
    size_t max_len;  /* bytes; growing past it is TB_ERR_LIMIT */
};

#define TB_BUFFER(cap) ((struct tb_buffer){NULL, 0, 0, (cap)})

/* The content, valid until the next call that grows or releases. */
struct tb_span tb_buffer_span(const struct tb_buffer *buffer);

/* Makes room for `extra` bytes behind `len`. The content stays.
 * TB_ERR_LIMIT or TB_ERR_MEMORY leave the buffer unchanged. */
TB_NODISCARD tb_status tb_buffer_reserve(struct tb_buffer *buffer,
                                         size_t extra);

TB_NODISCARD tb_status tb_buffer_append(struct tb_buffer *buffer,
                                        struct tb_span text);
TB_NODISCARD tb_status tb_buffer_append_byte(struct tb_buffer *buffer,
                                             uint8_t byte);

/* Appends `text` with `by` in place of each `byte`; `by` has 1 to
 * TB_REPLACEMENT_MAX bytes. */
enum { TB_REPLACEMENT_MAX = 8 };
TB_NODISCARD tb_status tb_buffer_append_replacing(struct tb_buffer *buffer,
                                                  struct tb_span text,
                                                  uint8_t byte,
                                                  struct tb_span by);

/* Appends the decimal digits of `value`. */
TB_NODISCARD tb_status tb_buffer_append_u64(struct tb_buffer *buffer,
                                            uint64_t value);

/* Appends formatted text of any length. */
TB_NODISCARD tb_status tb_buffer_printf(struct tb_buffer *buffer,
                                        const char *format, ...)
    TB_PRINTF(2, 3);

/* Empties it and keeps the memory. */
void tb_buffer_clear(struct tb_buffer *buffer);

/* Gives the memory back; the buffer is empty with the same cap. */
void tb_buffer_release(struct tb_buffer *buffer);

/* Grows an array that belongs to the caller: returns `items`, moved if need
 * be, with room for at least `need` items of `item_size` bytes, and says in
 * `*capacity` how many fit. NULL when out of memory; `items` stays valid.
 *
 *     struct call *grown = tb_array_grow(calls, &capacity, count + 1,
 *                                        sizeof(*calls));
 */
void *tb_array_grow(void *items, size_t *capacity, size_t need,
                    size_t item_size);

#endif
