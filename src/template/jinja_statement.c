/* Statements, scopes, loops and macros. */
#include <string.h>

#include "jinja_eval.h"

/* ---- scopes ----------------------------------------------------------- */

tb_status tb_scope_new(struct tb_render *run, struct tb_scope *parent,
                       struct tb_scope **scope)
{
    *scope = TB_RENDER_NEW(run, struct tb_scope, 1);
    if (!*scope)
        return tb_render_no_memory(run);
    (*scope)->parent = parent;
    return TB_OK;
}

tb_status tb_scope_set(struct tb_render *run, struct tb_scope *scope,
                       uint32_t name, const struct tb_value *value)
{
    for (uint32_t i = 0; i < scope->count; i++)
        if (scope->variables[i].name == name) {
            scope->variables[i].value = *value;
            return TB_OK;
        }
    if (scope->count == scope->capacity) {
        uint32_t capacity = scope->capacity ? scope->capacity * 2 : 4;
        struct tb_variable *grown =
            TB_RENDER_NEW(run, struct tb_variable, capacity);
        if (!grown)
            return tb_render_no_memory(run);
        if (scope->count)
            memcpy(grown, scope->variables, scope->count * sizeof(*grown));
        scope->variables = grown;
        scope->capacity = capacity;
    }
    scope->variables[scope->count++] = (struct tb_variable){name, *value};
    return TB_OK;
}

// Runs `body` in a scope of its own.
static tb_status run_scope(struct tb_render *run, const struct tb_node *body)
{
    struct tb_scope *outer = run->scope;
    TB_TRY(tb_scope_new(run, outer, &run->scope));
    TB_TRY(tb_eval_body(run, body));
    run->scope = outer;
    return TB_OK;
}

/* What `body` writes, as a value. A loop may be left from inside: then it is
 * dropped. */
static tb_status capture(struct tb_render *run, const struct tb_node *body,
                         struct tb_value *value)
{
    size_t mark = tb_render_mark(run);
    TB_TRY(run_scope(run, body));
    if (run->flow != TB_FLOW_ON) {
        run->out->len = mark;
        return TB_OK;
    }
    return tb_render_take_value(run, mark, value);
}

/* ---- assigning -------------------------------------------------------- */

static tb_status assign(struct tb_render *run, const struct tb_node *target,
                        const struct tb_value *value);

static tb_status assign_items(struct tb_render *run,
                              const struct tb_node *target,
                              const struct tb_value *value)
{
    struct tb_list items;
    size_t count = 0, at = 0;
    for (const struct tb_node *one = target->list; one; one = one->next)
        count++;
    if (value->kind != TB_VALUE_UNDEFINED && !tb_value_is_iterable(value))
        return tb_render_fail(run, "cannot unpack non-iterable %s object",
                              tb_value_type(value));
    TB_TRY(tb_render_items(run, value, &items));
    if (items.count < count)
        return tb_render_fail(run,
                              "not enough values to unpack (expected %zu, got "
                              "%zu)",
                              count, items.count);
    if (items.count > count)
        return tb_render_fail(run, "too many values to unpack (expected %zu)",
                              count);
    for (const struct tb_node *one = target->list; one; one = one->next)
        TB_TRY(assign(run, one, &items.items[at++]));
    return TB_OK;
}

static tb_status assign_attribute(struct tb_render *run,
                                  const struct tb_node *target,
                                  const struct tb_value *value)
{
    struct tb_value name = target->value, of;
    struct tb_node variable = {.kind = TB_NODE_NAME, .name = target->name};
    TB_TRY(tb_eval(run, &variable, &of));
    if (of.kind != TB_VALUE_NAMESPACE)
        return tb_render_fail(
            run, "cannot assign attribute on non-namespace object");
    if (name.as.text.ptr[0] == '_')
        return tb_render_fail(run, "Chat templates cannot store "
                                   "underscore-prefixed attributes on a "
                                   "namespace");
    return tb_dict_set(run, of.as.dict, &name, value);
}

static tb_status assign(struct tb_render *run, const struct tb_node *target,
                        const struct tb_value *value)
{
    if (target->kind == TB_NODE_NAME)
        return tb_scope_set(run, run->scope, target->name, value);
    if (target->kind == TB_NODE_NSREF)
        return assign_attribute(run, target, value);
    TB_TRY(tb_render_enter(run));
    TB_TRY(assign_items(run, target, value));
    run->depth--;
    return TB_OK;
}

static tb_status run_set(struct tb_render *run, const struct tb_node *node)
{
    struct tb_value value;
    TB_TRY(tb_eval(run, node->b, &value));
    return assign(run, node->a, &value);
}

static tb_status run_set_block(struct tb_render *run,
                               const struct tb_node *node)
{
    struct tb_value value;
    TB_TRY(capture(run, node->body, &value));
    if (run->flow != TB_FLOW_ON)
        return TB_OK;
    if (node->b)
        TB_TRY(tb_eval_filter(run, node->b, &value, &value));
    return assign(run, node->a, &value);
}

static tb_status run_filter_block(struct tb_render *run,
                                  const struct tb_node *node)
{
    struct tb_value value;
    TB_TRY(capture(run, node->body, &value));
    if (run->flow != TB_FLOW_ON)
        return TB_OK;
    TB_TRY(tb_eval_filter(run, node->a, &value, &value));
    return tb_render_write_str(run, &value);
}

static tb_status run_with(struct tb_render *run, const struct tb_node *node)
{
    struct tb_scope *outer = run->scope, *inner;
    TB_TRY(tb_scope_new(run, outer, &inner));
    for (const struct tb_node *one = node->list; one; one = one->next) {
        struct tb_value value;
        TB_TRY(tb_eval(run, one->b, &value));
        TB_TRY(tb_scope_set(run, inner, one->a->name, &value));
    }
    run->scope = inner;
    TB_TRY(tb_eval_body(run, node->body));
    run->scope = outer;
    return TB_OK;
}

/* ---- conditions ------------------------------------------------------- */

static tb_status run_if(struct tb_render *run, const struct tb_node *node)
{
    // An elif is an if alone in the other part: a chain of them is a loop.
    for (;;) {
        struct tb_value condition;
        TB_TRY(tb_eval(run, node->a, &condition));
        if (tb_value_is_true(&condition))
            return tb_eval_body(run, node->body);
        if (!node->other || node->other->kind != TB_NODE_IF ||
            node->other->next)
            return tb_eval_body(run, node->other);
        node = node->other;
    }
}

/* ---- loops ------------------------------------------------------------ */

// Does the condition in the loop's head hold for the item?
static tb_status is_wanted(struct tb_render *run, const struct tb_node *node,
                           const struct tb_value *item, bool *result)
{
    struct tb_value condition;
    TB_TRY(assign(run, node->a, item));
    TB_TRY(tb_eval(run, node->c, &condition));
    *result = tb_value_is_true(&condition);
    return TB_OK;
}

tb_status tb_loop_fill(struct tb_render *run, struct tb_loop *loop,
                       size_t count)
{
    struct tb_scope *outer = run->scope;
    if (loop->items.count >= count || loop->source_at == loop->source.count)
        return TB_OK;
    TB_TRY(tb_scope_new(run, loop->scope, &run->scope));
    while (loop->items.count < count && loop->source_at < loop->source.count) {
        bool result;
        const struct tb_value *item = &loop->source.items[loop->source_at++];
        TB_TRY(is_wanted(run, loop->node, item, &result));
        if (result)
            TB_TRY(tb_list_append(run, &loop->items, item));
    }
    run->scope = outer;
    return TB_OK;
}

static tb_status run_iteration(struct tb_render *run, struct tb_loop *loop)
{
    struct tb_value self = {.kind = TB_VALUE_LOOP, .as.loop = loop};
    if (run->scope->is_kept)
        TB_TRY(tb_scope_new(run, loop->scope, &run->scope));
    run->scope->count = 0;
    TB_TRY(tb_scope_set(run, run->scope, run->code->loop_name, &self));
    TB_TRY(assign(run, loop->node->a, &loop->items.items[loop->index]));
    return tb_eval_body(run, loop->node->body);
}

// `*is_entered`: did one iteration come to the end of the body?
static tb_status iterate(struct tb_render *run, struct tb_loop *loop,
                         bool *is_entered)
{
    *is_entered = false;
    TB_TRY(tb_scope_new(run, loop->scope, &run->scope));
    for (;; loop->index++) {
        TB_TRY(tb_loop_fill(run, loop, loop->index + 1));
        if (loop->index >= loop->items.count)
            break;
        TB_TRY(run_iteration(run, loop));
        tb_flow flow = run->flow;
        run->flow = TB_FLOW_ON;
        if (flow == TB_FLOW_BREAK)
            break;
        *is_entered |= flow == TB_FLOW_ON;
    }
    run->scope = loop->scope;
    return TB_OK;
}

static tb_status run_loop(struct tb_render *run, const struct tb_node *node,
                          const struct tb_value *over, unsigned depth)
{
    bool is_entered;
    struct tb_loop *loop = TB_RENDER_NEW(run, struct tb_loop, 1);
    if (!loop)
        return tb_render_no_memory(run);
    *loop = (struct tb_loop){.depth = depth, .node = node, .scope = run->scope};
    loop->changed.kind = TB_VALUE_ABSENT;
    TB_TRY(tb_render_items(run, over, node->c ? &loop->source : &loop->items));
    TB_TRY(iterate(run, loop, &is_entered));
    // As in jinja2, an iteration that was left early counts as none.
    return is_entered || !node->other ? TB_OK : run_scope(run, node->other);
}

static tb_status run_for(struct tb_render *run, const struct tb_node *node)
{
    struct tb_value over;
    TB_TRY(tb_eval(run, node->b, &over));
    return run_loop(run, node, &over, 0);
}

tb_status tb_loop_call(struct tb_render *run, const struct tb_loop *loop,
                       const struct tb_given *given, struct tb_value *value)
{
    struct tb_value over;
    struct tb_scope *scope = run->scope;
    size_t mark = tb_render_mark(run);
    if (!loop->node->is_recursive)
        return tb_render_fail(run, "The loop must have the 'recursive' marker "
                                   "to be called.");
    TB_TRY(tb_given_bind(run, given, "loop", "iterable", 1, &over));
    run->scope = loop->scope;
    TB_TRY(run_loop(run, loop->node, &over, loop->depth + 1));
    run->scope = scope;
    return tb_render_take_value(run, mark, value);
}

/* ---- macros ----------------------------------------------------------- */

static tb_status make_macro(struct tb_render *run, const struct tb_node *node,
                            struct tb_value *value)
{
    struct tb_macro *macro = TB_RENDER_NEW(run, struct tb_macro, 1);
    if (!macro)
        return tb_render_no_memory(run);
    *macro = (struct tb_macro){node, run->scope};
    for (struct tb_scope *at = run->scope; at && !at->is_kept; at = at->parent)
        at->is_kept = true;
    *value = (struct tb_value){.kind = TB_VALUE_MACRO, .as.macro = macro};
    return TB_OK;
}

static tb_status run_macro(struct tb_render *run, const struct tb_node *node)
{
    struct tb_value macro;
    TB_TRY(make_macro(run, node, &macro));
    return tb_scope_set(run, run->scope, node->name, &macro);
}

struct binding {
    const struct tb_macro *macro;
    const struct tb_given *given;
    struct tb_scope *scope; /* of the call */
    struct tb_span name;    /* of the macro */
};

static struct tb_span name_of(const struct tb_render *run, uint32_t name)
{
    return tb_name_table_name(&run->code->names, name);
}

static const struct tb_value *find_keyword(const struct tb_given *given,
                                           struct tb_span name)
{
    for (size_t i = 0; i < given->keyword_count; i++)
        if (tb_span_equal(given->keywords[i].name, name))
            return &given->keywords[i].value;
    return NULL;
}

static bool is_parameter(const struct tb_render *run,
                         const struct tb_node *macro, struct tb_span name)
{
    for (const struct tb_node *one = macro->list; one; one = one->next)
        if (tb_span_equal(name_of(run, one->name), name))
            return true;
    return false;
}

static tb_status set_missing(struct tb_render *run, const struct binding *to,
                             const struct tb_node *parameter)
{
    struct tb_value value;
    struct tb_span name = name_of(run, parameter->name);
    if (parameter->a)
        TB_TRY(tb_eval(run, parameter->a, &value));
    else
        TB_TRY(tb_eval_undefined(run, false, &value,
                                 "parameter '%.*s' was not provided",
                                 (int)name.len, (const char *)name.ptr));
    return tb_scope_set(run, to->scope, parameter->name, &value);
}

// First what was given, then the defaults, which may speak of it.
static tb_status bind_parameters(struct tb_render *run,
                                 const struct binding *to)
{
    size_t at = 0;
    const struct tb_node *one = to->macro->node->list;
    for (; one; one = one->next, at++) {
        const struct tb_value *value =
            find_keyword(to->given, name_of(run, one->name));
        if (at < to->given->count && value)
            return tb_render_fail(run, "macro '%.*s' got a value twice",
                                  (int)to->name.len,
                                  (const char *)to->name.ptr);
        if (at < to->given->count)
            value = &to->given->items[at];
        if (value)
            TB_TRY(tb_scope_set(run, to->scope, one->name, value));
    }
    at = 0;
    for (one = to->macro->node->list; one; one = one->next, at++)
        if (at >= to->given->count &&
            !find_keyword(to->given, name_of(run, one->name)))
            TB_TRY(set_missing(run, to, one));
    return TB_OK;
}

static tb_status bind_caller(struct tb_render *run, const struct binding *to)
{
    struct tb_value caller;
    const struct tb_value *given = find_keyword(to->given, TB_SPAN("caller"));
    if (!to->macro->node->uses_caller ||
        is_parameter(run, to->macro->node, TB_SPAN("caller")))
        return TB_OK;
    if (given)
        caller = *given;
    else
        TB_TRY(tb_eval_undefined(run, false, &caller, "No caller defined"));
    return tb_scope_set(run, to->scope, run->code->caller_name, &caller);
}

static tb_status bind_keywords(struct tb_render *run, const struct binding *to)
{
    const struct tb_node *node = to->macro->node;
    struct tb_value kwargs;
    TB_TRY(tb_render_dict(run, &kwargs));
    for (size_t i = 0; i < to->given->keyword_count; i++) {
        const struct tb_keyword *keyword = &to->given->keywords[i];
        struct tb_value name = tb_value_text(keyword->name);
        if (is_parameter(run, node, keyword->name) ||
            (node->uses_caller &&
             tb_span_equal(keyword->name, TB_SPAN("caller"))))
            continue;
        if (!node->uses_kwargs)
            return tb_render_fail(
                run, "macro '%.*s' takes no keyword argument '%.*s'",
                (int)to->name.len, (const char *)to->name.ptr,
                (int)keyword->name.len, (const char *)keyword->name.ptr);
        TB_TRY(tb_dict_set(run, kwargs.as.dict, &name, &keyword->value));
    }
    if (!node->uses_kwargs)
        return TB_OK;
    return tb_scope_set(run, to->scope, run->code->kwargs_name, &kwargs);
}

static tb_status bind_rest(struct tb_render *run, const struct binding *to)
{
    const struct tb_node *node = to->macro->node;
    struct tb_value rest;
    size_t count = 0;
    for (const struct tb_node *one = node->list; one; one = one->next)
        count++;
    if (!node->uses_varargs && to->given->count > count)
        return tb_render_fail(
            run, "macro '%.*s' takes not more than %zu argument(s)",
            (int)to->name.len, (const char *)to->name.ptr, count);
    if (!node->uses_varargs)
        return TB_OK;
    TB_TRY(tb_render_list(run, TB_VALUE_TUPLE, 0, &rest));
    for (size_t i = count; i < to->given->count; i++)
        TB_TRY(tb_list_append(run, rest.as.list, &to->given->items[i]));
    return tb_scope_set(run, to->scope, run->code->varargs_name, &rest);
}

tb_status tb_macro_call(struct tb_render *run, const struct tb_macro *macro,
                        const struct tb_given *given, struct tb_value *value)
{
    struct tb_scope *outer = run->scope;
    size_t mark = tb_render_mark(run);
    TB_TRY(tb_scope_new(run, macro->scope, &run->scope));
    struct binding to = {macro, given, run->scope,
                         name_of(run, macro->node->name)};
    TB_TRY(bind_caller(run, &to));
    TB_TRY(bind_keywords(run, &to));
    TB_TRY(bind_rest(run, &to));
    TB_TRY(bind_parameters(run, &to));
    TB_TRY(tb_eval_body(run, macro->node->body));
    run->scope = outer;
    return tb_render_take_value(run, mark, value);
}

// Calls with the block as one more argument, `caller`.
static tb_status run_call_block(struct tb_render *run,
                                const struct tb_node *node)
{
    struct tb_value callee, caller, value;
    struct tb_given given;
    TB_TRY(make_macro(run, node->b, &caller));
    TB_TRY(tb_eval(run, node->a->a, &callee));
    TB_TRY(tb_eval_arguments(run, &node->a->arguments, &given));
    struct tb_keyword *keywords =
        TB_RENDER_NEW(run, struct tb_keyword, given.keyword_count + 1);
    if (!keywords)
        return tb_render_no_memory(run);
    for (size_t i = 0; i < given.keyword_count; i++)
        keywords[i] = given.keywords[i];
    keywords[given.keyword_count++] =
        (struct tb_keyword){TB_SPAN("caller"), caller};
    given.keywords = keywords;
    TB_TRY(tb_eval_call(run, &callee, &given, &value));
    return tb_render_write_str(run, &value);
}

/* ---- bodies ----------------------------------------------------------- */

static tb_status run_print(struct tb_render *run, const struct tb_node *node)
{
    for (node = node->list; node; node = node->next)
        TB_TRY(tb_eval_print(run, node));
    return TB_OK;
}

static tb_status run_statement(struct tb_render *run,
                               const struct tb_node *node)
{
    switch (node->kind) {
    case TB_NODE_DATA:
        return tb_render_write(run, node->value.as.text);
    case TB_NODE_PRINT:
        return run_print(run, node);
    case TB_NODE_IF:
        return run_if(run, node);
    case TB_NODE_FOR:
        return run_for(run, node);
    case TB_NODE_SET:
        return run_set(run, node);
    case TB_NODE_SET_BLOCK:
        return run_set_block(run, node);
    case TB_NODE_MACRO:
        return run_macro(run, node);
    case TB_NODE_CALL_BLOCK:
        return run_call_block(run, node);
    case TB_NODE_FILTER_BLOCK:
        return run_filter_block(run, node);
    case TB_NODE_WITH:
        return run_with(run, node);
    case TB_NODE_SCOPE:
        return run_scope(run, node->body);
    default:
        run->flow =
            node->kind == TB_NODE_BREAK ? TB_FLOW_BREAK : TB_FLOW_CONTINUE;
        return TB_OK;
    }
}

tb_status tb_eval_body(struct tb_render *run, const struct tb_node *body)
{
    if (!body)
        return TB_OK;
    TB_TRY(tb_render_enter(run));
    for (; body && run->flow == TB_FLOW_ON; body = body->next) {
        TB_TRY(tb_render_step(run, 1));
        TB_TRY(run_statement(run, body));
    }
    run->depth--;
    return TB_OK;
}
