/* One rendering under way: its memory, its output, its limits, and the
 * operations on values that can fail or need memory. Private to this layer.
 *
 * All functions that return tb_status leave the message in `run->error` on
 * failure: TB_ERR_VALUE where Python would raise, TB_ERR_LIMIT where a limit
 * below is passed, TB_ERR_UNSUPPORTED for what jinja2 has and we lack.
 *
 * Text that grows is built at the end of the output and then taken off:
 *
 *     size_t mark = tb_render_mark(run);
 *     TB_TRY(tb_render_write(run, ...));
 *     TB_TRY(tb_render_take(run, mark, &text));
 */
#ifndef TB_RENDER_H
#define TB_RENDER_H

#include "arena.h"
#include "buffer.h"
#include "value.h"

enum {
    TB_RENDER_MAX_DEPTH = 250,       /* expressions, statements, macros */
    TB_RENDER_MAX_VALUE_DEPTH = 200, /* lists in lists */
    TB_RENDER_MAX_STEPS = 100000000, /* nodes looked at, items made */
    TB_RENDER_MAX_RANGE = 100000,    /* items of range(), as in the sandbox */
};

#define TB_RENDER_MAX_LEN ((size_t)1 << 28)    /* bytes of output */
#define TB_RENDER_MAX_MEMORY ((size_t)1 << 29) /* bytes of values */

struct tb_template_code;
struct tb_scope;

typedef enum tb_flow {
    TB_FLOW_ON,
    TB_FLOW_BREAK,
    TB_FLOW_CONTINUE,
} tb_flow;

struct tb_render {
    struct tb_arena *arena;
    size_t arena_mark; /* bytes that were in use before */
    struct tb_buffer *out;
    size_t out_mark;
    struct tb_error error;
    const struct tb_template_code *code;
    struct tb_scope *scope; /* the innermost */
    struct tb_scope *top;   /* the template's own */
    uint64_t steps;
    unsigned depth;
    tb_flow flow;
    double now_s; /* seconds since 1970 UTC, for strftime_now */
};

/* ---- failing and limits ----------------------------------------------- */

tb_status tb_render_fail(struct tb_render *run, const char *format, ...)
    TB_PRINTF(2, 3);
tb_status tb_render_fail_as(struct tb_render *run, tb_status status,
                            const char *format, ...) TB_PRINTF(3, 4);

/* Using an undefined value for what is more than printing it. */
tb_status tb_render_fail_undefined(struct tb_render *run,
                                   const struct tb_value *value);

/* Counts `count` steps. */
TB_NODISCARD tb_status tb_render_step(struct tb_render *run, size_t count);

/* Counts what it takes to look through so many bytes. */
TB_NODISCARD tb_status tb_render_scan(struct tb_render *run, size_t len);

/* Goes one level deeper; undo with run->depth--. */
TB_NODISCARD tb_status tb_render_enter(struct tb_render *run);

/* Memory for `count` things, zeroed; NULL (and run->error) when there is no
 * more or the limit is reached: then return tb_render_no_memory. */
void *tb_render_alloc(struct tb_render *run, size_t count, size_t size);
tb_status tb_render_no_memory(struct tb_render *run);

#define TB_RENDER_NEW(run, type, count)                                        \
    ((type *)tb_render_alloc((run), (count), sizeof(type)))

/* ---- text ------------------------------------------------------------- */

static inline size_t tb_render_mark(const struct tb_render *run)
{
    return run->out->len;
}

TB_NODISCARD tb_status tb_render_write(struct tb_render *run,
                                       struct tb_span text);
TB_NODISCARD tb_status tb_render_write_byte(struct tb_render *run,
                                            uint8_t byte);
/* Writes `text` so many times; negative: none. */
TB_NODISCARD tb_status tb_render_repeat(struct tb_render *run,
                                        struct tb_span text, int64_t times);
TB_NODISCARD tb_status tb_render_write_cp(struct tb_render *run, uint32_t cp);
TB_NODISCARD tb_status tb_render_printf(struct tb_render *run,
                                        const char *format, ...)
    TB_PRINTF(2, 3);

/* Takes what was written since `mark` off the output, as a span or value. */
TB_NODISCARD tb_status tb_render_take(struct tb_render *run, size_t mark,
                                      struct tb_span *text);
TB_NODISCARD tb_status tb_render_take_value(struct tb_render *run, size_t mark,
                                            struct tb_value *value);

/* Writes str(value) or repr(value). */
TB_NODISCARD tb_status tb_render_write_str(struct tb_render *run,
                                           const struct tb_value *value);
TB_NODISCARD tb_status tb_render_write_repr(struct tb_render *run,
                                            const struct tb_value *value);

/* str(value); a string is itself. */
TB_NODISCARD tb_status tb_render_str(struct tb_render *run,
                                     const struct tb_value *value,
                                     struct tb_span *text);

/* ---- lists and dicts -------------------------------------------------- */

TB_NODISCARD tb_status tb_render_list(struct tb_render *run, tb_value_kind kind,
                                      size_t capacity, struct tb_value *value);
TB_NODISCARD tb_status tb_list_append(struct tb_render *run,
                                      struct tb_list *list,
                                      const struct tb_value *item);
/* A tuple of two. */
TB_NODISCARD tb_status tb_render_pair(struct tb_render *run,
                                      const struct tb_value *first,
                                      const struct tb_value *second,
                                      struct tb_value *value);
TB_NODISCARD tb_status tb_render_dict(struct tb_render *run,
                                      struct tb_value *value);

/* Sets a key, which must be hashable; an old one keeps its place. */
TB_NODISCARD tb_status tb_dict_set(struct tb_render *run, struct tb_dict *dict,
                                   const struct tb_value *key,
                                   const struct tb_value *value);

/* `*found` is NULL when the key is not there. */
TB_NODISCARD tb_status tb_dict_find(struct tb_render *run,
                                    const struct tb_dict *dict,
                                    const struct tb_value *key,
                                    const struct tb_value **found);

/* An iterator over `list`, which fails with `status` behind its end; the
 * message is taken from run->error. */
TB_NODISCARD tb_status tb_render_iterator(struct tb_render *run,
                                          const char *name,
                                          const struct tb_list *list,
                                          tb_status status,
                                          struct tb_value *value);

/* list(value): all items of what can be iterated, in a list that must not be
 * changed. An iterator is used up. Undefined gives no items. */
TB_NODISCARD tb_status tb_render_items(struct tb_render *run,
                                       const struct tb_value *value,
                                       struct tb_list *items);
bool tb_value_is_iterable(const struct tb_value *value);

/* ---- comparing -------------------------------------------------------- */

TB_NODISCARD tb_status tb_render_equal(struct tb_render *run,
                                       const struct tb_value *a,
                                       const struct tb_value *b,
                                       bool *is_equal);

/* a < b gives *order < 0, and so on; fails for what Python cannot order.
 * `sign` is the operator for the message. NaN gives 2. */
TB_NODISCARD tb_status tb_render_compare(struct tb_render *run,
                                         const struct tb_value *a,
                                         const struct tb_value *b,
                                         const char *sign, int *order);

/* item in container. */
TB_NODISCARD tb_status tb_render_contains(struct tb_render *run,
                                          const struct tb_value *container,
                                          const struct tb_value *item,
                                          bool *found);

#endif
