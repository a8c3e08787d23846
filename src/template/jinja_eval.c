#include "jinja_eval.h"

#include "jinja_filter.h"

enum { SUM_MAX = 48 }; /* operands of a sum that is written in pieces */

/* ---- names and literals ----------------------------------------------- */

static tb_status eval_name(struct tb_render *run, uint32_t name,
                           struct tb_value *value)
{
    for (const struct tb_scope *scope = run->scope; scope;
         scope = scope->parent)
        for (uint32_t i = 0; i < scope->count; i++)
            if (scope->variables[i].name == name) {
                *value = scope->variables[i].value;
                return TB_OK;
            }
    int function = run->code->functions[name];
    if (function >= 0) {
        *value = (struct tb_value){.kind = TB_VALUE_FUNCTION,
                                   .as.function = function};
        return TB_OK;
    }
    struct tb_span text = tb_name_table_name(&run->code->names, name);
    return tb_eval_undefined(run, false, value, "'%.*s' is undefined",
                             (int)text.len, (const char *)text.ptr);
}

static tb_status eval_items(struct tb_render *run, const struct tb_node *node,
                            struct tb_value *value)
{
    tb_value_kind kind =
        node->kind == TB_NODE_TUPLE ? TB_VALUE_TUPLE : TB_VALUE_LIST;
    struct tb_value list, item;
    TB_TRY(tb_render_list(run, kind, 0, &list));
    for (node = node->list; node; node = node->next) {
        TB_TRY(tb_eval(run, node, &item));
        TB_TRY(tb_list_append(run, list.as.list, &item));
    }
    *value = list;
    return TB_OK;
}

static tb_status eval_dict(struct tb_render *run, const struct tb_node *node,
                           struct tb_value *value)
{
    struct tb_value dict, key, item;
    TB_TRY(tb_render_dict(run, &dict));
    for (node = node->list; node; node = node->next) {
        TB_TRY(tb_eval(run, node->a, &key));
        TB_TRY(tb_eval(run, node->b, &item));
        TB_TRY(tb_dict_set(run, dict.as.dict, &key, &item));
    }
    *value = dict;
    return TB_OK;
}

/* ---- access ----------------------------------------------------------- */

static tb_status eval_getattr(struct tb_render *run, const struct tb_node *node,
                              struct tb_value *value)
{
    struct tb_value of;
    TB_TRY(tb_eval(run, node->a, &of));
    return tb_eval_getattr(run, &of, node->value.as.text, value);
}

static tb_status eval_slice(struct tb_render *run, const struct tb_node *node,
                            struct tb_slice *slice)
{
    *slice =
        (struct tb_slice){tb_value_none(), tb_value_none(), tb_value_none()};
    if (node->a)
        TB_TRY(tb_eval(run, node->a, &slice->start));
    if (node->b)
        TB_TRY(tb_eval(run, node->b, &slice->stop));
    if (node->c)
        TB_TRY(tb_eval(run, node->c, &slice->step));
    return TB_OK;
}

static tb_status eval_getslice(struct tb_render *run,
                               const struct tb_node *node,
                               struct tb_value *value)
{
    struct tb_value of;
    struct tb_slice slice;
    TB_TRY(tb_eval(run, node->a, &of));
    TB_TRY(eval_slice(run, node->b, &slice));
    return tb_eval_slice(run, &of, &slice, value);
}

static tb_status eval_getitem(struct tb_render *run, const struct tb_node *node,
                              struct tb_value *value)
{
    struct tb_value of, key;
    if (node->b->kind == TB_NODE_SLICE)
        return eval_getslice(run, node, value);
    TB_TRY(tb_eval(run, node->a, &of));
    TB_TRY(tb_eval(run, node->b, &key));
    return tb_eval_getitem(run, &of, &key, value);
}

/* ---- calls, filters, tests -------------------------------------------- */

static tb_status eval_call(struct tb_render *run, const struct tb_node *node,
                           struct tb_value *value)
{
    struct tb_value callee;
    struct tb_given given;
    TB_TRY(tb_eval(run, node->a, &callee));
    TB_TRY(tb_eval_arguments(run, &node->arguments, &given));
    return tb_eval_call(run, &callee, &given, value);
}

static tb_status fail_missing(struct tb_render *run, const char *what,
                              const struct tb_node *node)
{
    struct tb_span name = node->value.as.text;
    return tb_render_fail(run, "No %s named '%.*s'.", what, (int)name.len,
                          (const char *)name.ptr);
}

tb_status tb_eval_filter(struct tb_render *run, const struct tb_node *node,
                         const struct tb_value *input, struct tb_value *value)
{
    struct tb_value inner;
    struct tb_given given;
    if (node->a) {
        TB_TRY(tb_render_enter(run));
        if (node->a->kind == TB_NODE_FILTER)
            TB_TRY(tb_eval_filter(run, node->a, input, &inner));
        else
            TB_TRY(tb_eval(run, node->a, &inner));
        run->depth--;
        input = &inner;
    }
    if (node->index < 0)
        return fail_missing(run, "filter", node);
    TB_TRY(tb_eval_arguments(run, &node->arguments, &given));
    return tb_filter_apply(run, node->index, input, &given, value);
}

static tb_status eval_test(struct tb_render *run, const struct tb_node *node,
                           struct tb_value *value)
{
    struct tb_value input;
    struct tb_given given;
    bool is_true;
    TB_TRY(tb_eval(run, node->a, &input));
    if (node->index < 0)
        return fail_missing(run, "test", node);
    TB_TRY(tb_eval_arguments(run, &node->arguments, &given));
    TB_TRY(tb_test_apply(run, node->index, &input, &given, &is_true));
    *value = tb_value_bool(is_true);
    return TB_OK;
}

/* ---- operators -------------------------------------------------------- */

static tb_status eval_logic(struct tb_render *run, const struct tb_node *node,
                            struct tb_value *value)
{
    TB_TRY(tb_eval(run, node->a, value));
    if (tb_value_is_true(value) == (node->kind == TB_NODE_OR))
        return TB_OK;
    return tb_eval(run, node->b, value);
}

static tb_status eval_not(struct tb_render *run, const struct tb_node *node,
                          struct tb_value *value)
{
    TB_TRY(tb_eval(run, node->a, value));
    *value = tb_value_bool(!tb_value_is_true(value));
    return TB_OK;
}

static tb_status eval_sign(struct tb_render *run, const struct tb_node *node,
                           struct tb_value *value)
{
    struct tb_value operand;
    TB_TRY(tb_eval(run, node->a, &operand));
    return tb_eval_sign(run, node->kind == TB_NODE_NEG, &operand, value);
}

static tb_status eval_compare(struct tb_render *run, const struct tb_node *node,
                              struct tb_value *value)
{
    struct tb_value left, right;
    bool is_true = true;
    TB_TRY(tb_eval(run, node->a, &left));
    for (node = node->list; node && is_true; node = node->next) {
        TB_TRY(tb_eval(run, node->a, &right));
        TB_TRY(tb_eval_relation(run, (tb_operator)node->op, &left, &right,
                                &is_true));
        left = right;
    }
    *value = tb_value_bool(is_true);
    return TB_OK;
}

static tb_status eval_binary(struct tb_render *run, const struct tb_node *node,
                             struct tb_value *value)
{
    struct tb_value left, right;
    TB_TRY(tb_eval(run, node->a, &left));
    TB_TRY(tb_eval(run, node->b, &right));
    return tb_eval_binary(run, (tb_operator)node->op, &left, &right, value);
}

static tb_status print_concat(struct tb_render *run, const struct tb_node *node)
{
    struct tb_value item;
    for (node = node->list; node; node = node->next) {
        TB_TRY(tb_eval(run, node, &item));
        TB_TRY(tb_render_write_str(run, &item));
    }
    return TB_OK;
}

static tb_status eval_concat(struct tb_render *run, const struct tb_node *node,
                             struct tb_value *value)
{
    size_t mark = tb_render_mark(run);
    TB_TRY(print_concat(run, node));
    return tb_render_take_value(run, mark, value);
}

// Which of the two sides of a condition? NULL: the one that is not there.
static tb_status choose(struct tb_render *run, const struct tb_node *node,
                        const struct tb_node **side)
{
    struct tb_value condition;
    TB_TRY(tb_eval(run, node->b, &condition));
    *side = tb_value_is_true(&condition) ? node->a : node->c;
    return TB_OK;
}

static tb_status eval_condition(struct tb_render *run,
                                const struct tb_node *node,
                                struct tb_value *value)
{
    const struct tb_node *side;
    TB_TRY(choose(run, node, &side));
    if (side)
        return tb_eval(run, side, value);
    return tb_eval_undefined(run, false, value,
                             "the inline if-expression on line %u evaluated to "
                             "false and no else section was defined.",
                             (unsigned)node->line);
}

static tb_status eval_inner(struct tb_render *run, const struct tb_node *node,
                            struct tb_value *value)
{
    switch (node->kind) {
    case TB_NODE_LIST:
    case TB_NODE_TUPLE:
        return eval_items(run, node, value);
    case TB_NODE_DICT:
        return eval_dict(run, node, value);
    case TB_NODE_GETATTR:
        return eval_getattr(run, node, value);
    case TB_NODE_GETITEM:
        return eval_getitem(run, node, value);
    case TB_NODE_CALL:
        return eval_call(run, node, value);
    case TB_NODE_FILTER:
        return tb_eval_filter(run, node, NULL, value);
    case TB_NODE_TEST:
        return eval_test(run, node, value);
    case TB_NODE_NOT:
        return eval_not(run, node, value);
    case TB_NODE_NEG:
    case TB_NODE_POS:
        return eval_sign(run, node, value);
    case TB_NODE_AND:
    case TB_NODE_OR:
        return eval_logic(run, node, value);
    case TB_NODE_COMPARE:
        return eval_compare(run, node, value);
    case TB_NODE_BINARY:
        return eval_binary(run, node, value);
    case TB_NODE_CONCAT:
        return eval_concat(run, node, value);
    case TB_NODE_COND:
        return eval_condition(run, node, value);
    default:
        return tb_render_fail_as(run, TB_ERR_UNSUPPORTED,
                                 "a slice among other subscripts");
    }
}

tb_status tb_eval(struct tb_render *run, const struct tb_node *node,
                  struct tb_value *value)
{
    TB_TRY(tb_render_step(run, 1));
    if (node->kind == TB_NODE_CONST) {
        *value = node->value;
        return TB_OK;
    }
    if (node->kind == TB_NODE_NAME)
        return eval_name(run, node->name, value);
    TB_TRY(tb_render_enter(run));
    TB_TRY(eval_inner(run, node, value));
    run->depth--;
    return TB_OK;
}

/* ---- printing --------------------------------------------------------- */

static bool is_plain_text(const struct tb_value *value)
{
    return tb_value_is_text(value) && !value->is_safe;
}

/* a + b + c: while all of them are strings each goes to the output once. At
 * the first that is none, what was written is taken back and summed up as
 * Python does. */
static tb_status print_operands(struct tb_render *run,
                                const struct tb_node *const *operands,
                                size_t count)
{
    size_t mark = tb_render_mark(run);
    struct tb_value sum = tb_value_none(), item;
    bool is_written = true;
    for (size_t i = 0; i < count; i++) {
        TB_TRY(tb_eval(run, operands[i], &item));
        if (is_written && is_plain_text(&item)) {
            TB_TRY(tb_render_write(run, item.as.text));
            continue;
        }
        if (is_written && i > 0)
            TB_TRY(tb_render_take_value(run, mark, &sum));
        if (i == 0)
            sum = item;
        else
            TB_TRY(tb_eval_binary(run, TB_OP_ADD, &sum, &item, &sum));
        is_written = false;
    }
    return is_written ? TB_OK : tb_render_write_str(run, &sum);
}

static bool is_sum(const struct tb_node *node)
{
    return node->kind == TB_NODE_BINARY && node->op == TB_OP_ADD;
}

static tb_status print_sum(struct tb_render *run, const struct tb_node *node,
                           bool *is_done)
{
    const struct tb_node *operands[SUM_MAX];
    size_t at = SUM_MAX;
    for (; is_sum(node) && at > 1; node = node->a)
        operands[--at] = node->b;
    *is_done = !is_sum(node);
    if (!*is_done)
        return TB_OK;
    operands[--at] = node;
    return print_operands(run, operands + at, SUM_MAX - at);
}

tb_status tb_eval_print(struct tb_render *run, const struct tb_node *node)
{
    struct tb_value value;
    const struct tb_node *side;
    bool is_done = false;
    TB_TRY(tb_render_enter(run));
    if (node->kind == TB_NODE_COND) {
        TB_TRY(choose(run, node, &side));
        if (side)
            TB_TRY(tb_eval_print(run, side));
        is_done = true;
    } else if (node->kind == TB_NODE_CONCAT) {
        TB_TRY(print_concat(run, node));
        is_done = true;
    } else if (is_sum(node)) {
        TB_TRY(print_sum(run, node, &is_done));
    }
    if (!is_done) {
        TB_TRY(tb_eval(run, node, &value));
        TB_TRY(tb_render_write_str(run, &value));
    }
    run->depth--;
    return TB_OK;
}
