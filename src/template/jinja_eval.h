/* Running a parsed template: what its parts share. Private to this layer.
 *
 *   jinja_eval.c      expressions
 *   jinja_statement.c statements, scopes, loops, macros
 *   jinja_operator.c  arithmetic
 *   jinja_access.c    attributes, items, slices
 *   jinja_call.c      arguments, global functions
 *   jinja_method.c    methods of lists, dicts, ...; text_method.c of strings
 *   jinja_filter.c    filters and tests by name
 */
#ifndef TB_JINJA_EVAL_H
#define TB_JINJA_EVAL_H

#include "jinja_ast.h"
#include "render.h"

/* ---- scopes ----------------------------------------------------------- */

struct tb_variable {
    uint32_t name;
    struct tb_value value;
};

struct tb_scope {
    struct tb_scope *parent;
    struct tb_variable *variables;
    uint32_t count, capacity;
    bool is_kept; /* a macro was made in it: not to be used again */
};

TB_NODISCARD tb_status tb_scope_new(struct tb_render *run,
                                    struct tb_scope *parent,
                                    struct tb_scope **scope);
TB_NODISCARD tb_status tb_scope_set(struct tb_render *run,
                                    struct tb_scope *scope, uint32_t name,
                                    const struct tb_value *value);

/* ---- calls ------------------------------------------------------------ */

struct tb_keyword {
    struct tb_span name;
    struct tb_value value;
};

/* What a call was given. */
struct tb_given {
    struct tb_value *items;
    size_t count;
    struct tb_keyword *keywords;
    size_t keyword_count;
};

struct tb_macro {
    const struct tb_node *node;
    struct tb_scope *scope; /* where it was made */
};

struct tb_loop {
    struct tb_list items;  /* those known so far */
    struct tb_list source; /* with a condition in the head: all, */
    size_t source_at;      /* looked at one by one when they are needed */
    size_t index;
    unsigned depth;
    const struct tb_node *node;
    struct tb_scope *scope; /* around the loop */
    struct tb_value changed;
};

/* Sorts what was given into the parameters of something written in Python:
 * `names` are separated by spaces, `values` has one place for each; what was
 * not given is TB_VALUE_ABSENT. Fails when fewer than `min` came, or one too
 * many. */
TB_NODISCARD tb_status tb_given_bind(struct tb_render *run,
                                     const struct tb_given *given,
                                     const char *what, const char *names,
                                     size_t min, struct tb_value *values);

TB_NODISCARD tb_status tb_eval_arguments(struct tb_render *run,
                                         const struct tb_arguments *arguments,
                                         struct tb_given *given);
TB_NODISCARD tb_status tb_eval_call(struct tb_render *run,
                                    const struct tb_value *callee,
                                    const struct tb_given *given,
                                    struct tb_value *value);
TB_NODISCARD tb_status tb_macro_call(struct tb_render *run,
                                     const struct tb_macro *macro,
                                     const struct tb_given *given,
                                     struct tb_value *value);
/* Finds out the items up to number `count`, if there are as many. */
TB_NODISCARD tb_status tb_loop_fill(struct tb_render *run, struct tb_loop *loop,
                                    size_t count);
TB_NODISCARD tb_status tb_loop_call(struct tb_render *run,
                                    const struct tb_loop *loop,
                                    const struct tb_given *given,
                                    struct tb_value *value);
TB_NODISCARD tb_status tb_method_call(struct tb_render *run,
                                      const struct tb_method *method,
                                      const struct tb_given *given,
                                      struct tb_value *value);
TB_NODISCARD tb_status tb_text_method_call(struct tb_render *run,
                                           const struct tb_method *method,
                                           const struct tb_given *given,
                                           struct tb_value *value);

/* The number of a global function, or -1. */
int tb_function_index(struct tb_span name);
TB_NODISCARD tb_status tb_function_call(struct tb_render *run, int function,
                                        const struct tb_given *given,
                                        struct tb_value *value);

/* ---- expressions and statements --------------------------------------- */

TB_NODISCARD tb_status tb_eval(struct tb_render *run,
                               const struct tb_node *node,
                               struct tb_value *value);

/* Evaluates and writes str() of it, long sums of strings piece by piece. */
TB_NODISCARD tb_status tb_eval_print(struct tb_render *run,
                                     const struct tb_node *node);

/* Runs statements; run->flow says whether a loop is to be left. */
TB_NODISCARD tb_status tb_eval_body(struct tb_render *run,
                                    const struct tb_node *body);

TB_NODISCARD tb_status tb_eval_filter(struct tb_render *run,
                                      const struct tb_node *node,
                                      const struct tb_value *input,
                                      struct tb_value *value);

/* An index that Python takes: an int or a bool. */
TB_NODISCARD tb_status tb_eval_index(struct tb_render *run,
                                     const struct tb_value *value,
                                     int64_t *index);

/* ---- operations ------------------------------------------------------- */

TB_NODISCARD tb_status tb_eval_binary(struct tb_render *run, tb_operator op,
                                      const struct tb_value *a,
                                      const struct tb_value *b,
                                      struct tb_value *value);
TB_NODISCARD tb_status tb_eval_sign(struct tb_render *run, bool is_minus,
                                    const struct tb_value *a,
                                    struct tb_value *value);

/* a < b and its like, in and not in. */
TB_NODISCARD tb_status tb_eval_relation(struct tb_render *run, tb_operator op,
                                        const struct tb_value *a,
                                        const struct tb_value *b,
                                        bool *is_true);

/* value.name and value[key]; what is not there is undefined. */
TB_NODISCARD tb_status tb_eval_getattr(struct tb_render *run,
                                       const struct tb_value *of,
                                       struct tb_span name,
                                       struct tb_value *value);
TB_NODISCARD tb_status tb_eval_getitem(struct tb_render *run,
                                       const struct tb_value *of,
                                       const struct tb_value *key,
                                       struct tb_value *value);
TB_NODISCARD tb_status tb_eval_slice(struct tb_render *run,
                                     const struct tb_value *of,
                                     const struct tb_slice *slice,
                                     struct tb_value *value);
/* Undefined with a message that is to be had when it is used. */
TB_NODISCARD tb_status tb_eval_undefined(struct tb_render *run, bool is_unsafe,
                                         struct tb_value *value,
                                         const char *format, ...)
    TB_PRINTF(4, 5);

/* text % arguments, and text.format(...). */
TB_NODISCARD tb_status tb_text_percent(struct tb_render *run,
                                       const struct tb_value *format,
                                       const struct tb_value *arguments,
                                       struct tb_value *value);
TB_NODISCARD tb_status tb_text_format(struct tb_render *run,
                                      struct tb_span format,
                                      const struct tb_given *given,
                                      struct tb_value *value);

/* Is there a method of this name? `is_unsafe`: one that the sandbox forbids,
 * since it would change the object. */
bool tb_method_exists(const struct tb_value *of, struct tb_span name,
                      bool *is_unsafe);

#endif
