/* Expressions, in the order of precedence that jinja2 has. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "c_locale.h"
#include "jinja_filter.h"
#include "jinja_parser.h"

typedef struct tb_jinja_parser parser_t;

struct chain {
    struct tb_node *first, **end;
};

static void add(struct chain *chain, struct tb_node *node)
{
    if (!chain->first)
        chain->first = node;
    else
        *chain->end = node;
    chain->end = &node->next;
}

static tb_status parse_or(parser_t *parser, struct tb_node **node);

/* ---- literals --------------------------------------------------------- */

static tb_status parse_name(parser_t *parser, bool is_target,
                            struct tb_node **node)
{
    struct tb_span name = parser->token.text;
    bool is_true = tb_span_equal(name, TB_SPAN("true")) ||
                   tb_span_equal(name, TB_SPAN("True"));
    bool is_false = tb_span_equal(name, TB_SPAN("false")) ||
                    tb_span_equal(name, TB_SPAN("False"));
    bool is_none = tb_span_equal(name, TB_SPAN("none")) ||
                   tb_span_equal(name, TB_SPAN("None"));
    if (is_true || is_false || is_none) {
        TB_TRY(tb_jinja_node(parser, TB_NODE_CONST, node));
        (*node)->value = is_none ? tb_value_none() : tb_value_bool(is_true);
        return tb_jinja_advance(parser);
    }
    TB_TRY(tb_jinja_node(parser, TB_NODE_NAME, node));
    TB_TRY(tb_jinja_take_variable(parser, &(*node)->name));
    for (struct tb_jinja_macro_frame *at = parser->macro; at; at = at->parent) {
        at->macro->uses_caller |= tb_span_equal(name, TB_SPAN("caller"));
        at->macro->uses_varargs |= tb_span_equal(name, TB_SPAN("varargs"));
        at->macro->uses_kwargs |= tb_span_equal(name, TB_SPAN("kwargs"));
    }
    if (!is_target || !tb_jinja_at_operator(parser, "."))
        return TB_OK;
    (*node)->kind = TB_NODE_NSREF;
    TB_TRY(tb_jinja_advance(parser));
    (*node)->value.kind = TB_VALUE_STRING;
    return tb_jinja_take_name(parser, &(*node)->value.as.text);
}

// Strings that follow each other are one.
static tb_status parse_string(parser_t *parser, struct tb_node **node)
{
    TB_TRY(tb_jinja_node(parser, TB_NODE_CONST, node));
    struct tb_span text = parser->token.text;
    TB_TRY(tb_jinja_advance(parser));
    while (parser->token.kind == TB_JINJA_STRING) {
        struct tb_span more = parser->token.text;
        uint8_t *both =
            tb_arena_alloc(&parser->code->arena, text.len + more.len);
        if (!both)
            return tb_jinja_fail(parser, TB_ERR_MEMORY, "out of memory");
        if (text.len)
            memcpy(both, text.ptr, text.len);
        if (more.len)
            memcpy(both + text.len, more.ptr, more.len);
        text = (struct tb_span){both, text.len + more.len};
        TB_TRY(tb_jinja_advance(parser));
    }
    (*node)->value = tb_value_text(text);
    return TB_OK;
}

// The digits without underscores and the prefix of their base.
static tb_status copy_digits(parser_t *parser, struct tb_span text,
                             char *digits, size_t size, int *base)
{
    size_t len = 0;
    *base = 10;
    if (text.len > 2 && text.ptr[0] == '0') {
        uint8_t letter = text.ptr[1] | 0x20;
        *base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 10;
    }
    for (size_t i = *base == 10 ? 0 : 2; i < text.len; i++) {
        if (text.ptr[i] == '_')
            continue;
        if (len + 1 >= size)
            return tb_jinja_fail(parser, TB_ERR_LIMIT, "number too long");
        digits[len++] = (char)text.ptr[i];
    }
    digits[len] = '\0';
    return TB_OK;
}

static tb_status parse_number(parser_t *parser, struct tb_node **node)
{
    char digits[400];
    int base;
    struct tb_span text = parser->token.text;
    TB_TRY(tb_jinja_node(parser, TB_NODE_CONST, node));
    TB_TRY(copy_digits(parser, text, digits, sizeof(digits), &base));
    if (parser->token.kind == TB_JINJA_FLOAT) {
        (*node)->value = tb_value_float(tb_real_of_text(digits, NULL));
        return tb_jinja_advance(parser);
    }
    errno = 0;
    (*node)->value = tb_value_int(strtoll(digits, NULL, base));
    if (errno == ERANGE && base != 10)
        return tb_jinja_fail(parser, TB_ERR_LIMIT, "number too large");
    if (errno == ERANGE)
        (*node)->value =
            (struct tb_value){.kind = TB_VALUE_BIG, .as.text = text};
    return tb_jinja_advance(parser);
}

static tb_status parse_list(parser_t *parser, struct tb_node **node)
{
    struct chain items = {0};
    TB_TRY(tb_jinja_node(parser, TB_NODE_LIST, node));
    TB_TRY(tb_jinja_advance(parser));
    while (!tb_jinja_at_operator(parser, "]")) {
        struct tb_node *item;
        if (items.first)
            TB_TRY(tb_jinja_expect_operator(parser, ","));
        if (tb_jinja_at_operator(parser, "]"))
            break;
        TB_TRY(tb_jinja_expression(parser, &item));
        add(&items, item);
    }
    (*node)->list = items.first;
    return tb_jinja_expect_operator(parser, "]");
}

static tb_status parse_dict(parser_t *parser, struct tb_node **node)
{
    struct chain items = {0};
    TB_TRY(tb_jinja_node(parser, TB_NODE_DICT, node));
    TB_TRY(tb_jinja_advance(parser));
    while (!tb_jinja_at_operator(parser, "}")) {
        struct tb_node *pair;
        if (items.first)
            TB_TRY(tb_jinja_expect_operator(parser, ","));
        if (tb_jinja_at_operator(parser, "}"))
            break;
        TB_TRY(tb_jinja_node(parser, TB_NODE_KEYWORD, &pair));
        TB_TRY(tb_jinja_expression(parser, &pair->a));
        TB_TRY(tb_jinja_expect_operator(parser, ":"));
        TB_TRY(tb_jinja_expression(parser, &pair->b));
        add(&items, pair);
    }
    (*node)->list = items.first;
    return tb_jinja_expect_operator(parser, "}");
}

static tb_status parse_primary(parser_t *parser, bool is_target,
                               struct tb_node **node)
{
    switch (parser->token.kind) {
    case TB_JINJA_NAME:
        return parse_name(parser, is_target, node);
    case TB_JINJA_STRING:
        return parse_string(parser, node);
    case TB_JINJA_INTEGER:
    case TB_JINJA_FLOAT:
        return parse_number(parser, node);
    default:
        break;
    }
    if (tb_jinja_at_operator(parser, "(")) {
        TB_TRY(tb_jinja_advance(parser));
        TB_TRY(tb_jinja_tuple(parser, TB_JINJA_TUPLE_PARENTHESES, node));
        return tb_jinja_expect_operator(parser, ")");
    }
    if (tb_jinja_at_operator(parser, "["))
        return parse_list(parser, node);
    if (tb_jinja_at_operator(parser, "{"))
        return parse_dict(parser, node);
    return tb_jinja_fail(parser, TB_ERR_SYNTAX, "expected an expression");
}

/* ---- behind a primary ------------------------------------------------- */

static tb_status parse_slice_part(parser_t *parser, struct tb_node **node)
{
    *node = NULL;
    if (tb_jinja_at_operator(parser, ":") ||
        tb_jinja_at_operator(parser, "]") || tb_jinja_at_operator(parser, ","))
        return TB_OK;
    return tb_jinja_expression(parser, node);
}

static tb_status parse_subscript(parser_t *parser, struct tb_node **node)
{
    struct tb_node *first;
    if (tb_jinja_at_operator(parser, ":"))
        first = NULL;
    else
        TB_TRY(tb_jinja_expression(parser, &first));
    if (!tb_jinja_at_operator(parser, ":")) {
        *node = first;
        return TB_OK;
    }
    TB_TRY(tb_jinja_node(parser, TB_NODE_SLICE, node));
    TB_TRY(tb_jinja_advance(parser));
    (*node)->a = first;
    TB_TRY(parse_slice_part(parser, &(*node)->b));
    if (!tb_jinja_at_operator(parser, ":"))
        return TB_OK;
    TB_TRY(tb_jinja_advance(parser));
    return parse_slice_part(parser, &(*node)->c);
}

static tb_status parse_brackets(parser_t *parser, struct tb_node *of,
                                struct tb_node **node)
{
    struct chain items = {0};
    TB_TRY(tb_jinja_node(parser, TB_NODE_GETITEM, node));
    TB_TRY(tb_jinja_advance(parser));
    while (!tb_jinja_at_operator(parser, "]")) {
        struct tb_node *item;
        if (items.first)
            TB_TRY(tb_jinja_expect_operator(parser, ","));
        TB_TRY(parse_subscript(parser, &item));
        add(&items, item);
    }
    TB_TRY(tb_jinja_expect_operator(parser, "]"));
    (*node)->a = of;
    (*node)->b = items.first;
    if (items.first && !items.first->next)
        return TB_OK;
    TB_TRY(tb_jinja_node(parser, TB_NODE_TUPLE, &(*node)->b));
    (*node)->b->list = items.first;
    return TB_OK;
}

static tb_status parse_dot(parser_t *parser, struct tb_node *of,
                           struct tb_node **node)
{
    TB_TRY(tb_jinja_node(parser, TB_NODE_GETATTR, node));
    TB_TRY(tb_jinja_advance(parser));
    (*node)->a = of;
    if (parser->token.kind == TB_JINJA_INTEGER) {
        (*node)->kind = TB_NODE_GETITEM;
        return parse_number(parser, &(*node)->b);
    }
    (*node)->value.kind = TB_VALUE_STRING;
    return tb_jinja_take_name(parser, &(*node)->value.as.text);
}

static tb_status fail_arguments(parser_t *parser)
{
    return tb_jinja_fail(parser, TB_ERR_SYNTAX,
                         "arguments of a call are out of order");
}

static tb_status parse_argument(parser_t *parser,
                                struct tb_arguments *arguments,
                                struct chain *positional,
                                struct chain *keywords)
{
    const struct tb_jinja_token *ahead;
    struct tb_node *node;
    if (tb_jinja_at_operator(parser, "*")) {
        if (arguments->more || arguments->more_keywords)
            return fail_arguments(parser);
        TB_TRY(tb_jinja_advance(parser));
        return tb_jinja_expression(parser, &arguments->more);
    }
    if (tb_jinja_at_operator(parser, "**")) {
        if (arguments->more_keywords)
            return fail_arguments(parser);
        TB_TRY(tb_jinja_advance(parser));
        return tb_jinja_expression(parser, &arguments->more_keywords);
    }
    TB_TRY(tb_jinja_look(parser, &ahead));
    if (parser->token.kind == TB_JINJA_NAME &&
        ahead->kind == TB_JINJA_OPERATOR &&
        tb_span_equal(ahead->text, TB_SPAN("="))) {
        if (arguments->more_keywords)
            return fail_arguments(parser);
        TB_TRY(tb_jinja_node(parser, TB_NODE_KEYWORD, &node));
        node->value = tb_value_text(parser->token.text);
        TB_TRY(tb_jinja_advance(parser));
        TB_TRY(tb_jinja_advance(parser));
        add(keywords, node);
        return tb_jinja_expression(parser, &node->a);
    }
    if (arguments->more || arguments->more_keywords || keywords->first)
        return fail_arguments(parser);
    TB_TRY(tb_jinja_expression(parser, &node));
    add(positional, node);
    return TB_OK;
}

static tb_status parse_arguments(parser_t *parser,
                                 struct tb_arguments *arguments)
{
    struct chain positional = {0}, keywords = {0};
    bool is_first = true;
    TB_TRY(tb_jinja_expect_operator(parser, "("));
    for (; !tb_jinja_at_operator(parser, ")"); is_first = false) {
        if (!is_first)
            TB_TRY(tb_jinja_expect_operator(parser, ","));
        if (!is_first && tb_jinja_at_operator(parser, ")"))
            break;
        TB_TRY(parse_argument(parser, arguments, &positional, &keywords));
    }
    arguments->positional = positional.first;
    arguments->keywords = keywords.first;
    return tb_jinja_expect_operator(parser, ")");
}

static tb_status parse_call(parser_t *parser, struct tb_node *callee,
                            struct tb_node **node)
{
    TB_TRY(tb_jinja_node(parser, TB_NODE_CALL, node));
    (*node)->a = callee;
    return parse_arguments(parser, &(*node)->arguments);
}

static tb_status parse_postfix(parser_t *parser, struct tb_node **node)
{
    for (;;) {
        if (tb_jinja_at_operator(parser, "."))
            TB_TRY(parse_dot(parser, *node, node));
        else if (tb_jinja_at_operator(parser, "["))
            TB_TRY(parse_brackets(parser, *node, node));
        else if (tb_jinja_at_operator(parser, "("))
            TB_TRY(parse_call(parser, *node, node));
        else
            return TB_OK;
    }
}

/* ---- filters and tests ------------------------------------------------ */

static tb_status take_dotted(parser_t *parser, struct tb_span *name)
{
    TB_TRY(tb_jinja_take_name(parser, name));
    while (tb_jinja_at_operator(parser, ".")) {
        // No filter of jinja2 has a dot; the name only has to be unknown.
        TB_TRY(tb_jinja_advance(parser));
        TB_TRY(tb_jinja_take_name(parser, name));
        *name = TB_SPAN("dotted.name");
    }
    return TB_OK;
}

static tb_status check_known(parser_t *parser, const char *what,
                             struct tb_span name, uint32_t line, int index)
{
    if (index >= 0)
        return TB_OK;
    if (index == TB_JINJA_UNBUILT)
        return tb_jinja_fail(parser, TB_ERR_UNSUPPORTED, "the %s '%.*s'", what,
                             (int)name.len, (const char *)name.ptr);
    if (!parser->missing.name.ptr)
        parser->missing = (struct tb_jinja_missing){name, line};
    return TB_OK;
}

tb_status tb_jinja_filters(parser_t *parser, struct tb_node **node)
{
    for (;;) {
        struct tb_node *filter;
        struct tb_span name;
        TB_TRY(tb_jinja_node(parser, TB_NODE_FILTER, &filter));
        TB_TRY(take_dotted(parser, &name));
        filter->value = tb_value_text(name);
        filter->index = tb_jinja_filter_index(name);
        TB_TRY(
            check_known(parser, "filter", name, filter->line, filter->index));
        filter->a = *node;
        *node = filter;
        if (tb_jinja_at_operator(parser, "("))
            TB_TRY(parse_arguments(parser, &filter->arguments));
        if (!tb_jinja_at_operator(parser, "|"))
            return TB_OK;
        TB_TRY(tb_jinja_advance(parser));
    }
}

static bool begins_test_argument(const parser_t *parser)
{
    switch (parser->token.kind) {
    case TB_JINJA_NAME:
        return !tb_jinja_at_name(parser, "else") &&
               !tb_jinja_at_name(parser, "or") &&
               !tb_jinja_at_name(parser, "and");
    case TB_JINJA_STRING:
    case TB_JINJA_INTEGER:
    case TB_JINJA_FLOAT:
        return true;
    default:
        return tb_jinja_at_operator(parser, "[") ||
               tb_jinja_at_operator(parser, "{");
    }
}

static tb_status parse_test_arguments(parser_t *parser, struct tb_node *test)
{
    if (tb_jinja_at_operator(parser, "("))
        return parse_arguments(parser, &test->arguments);
    if (!begins_test_argument(parser))
        return TB_OK;
    if (tb_jinja_at_name(parser, "is"))
        return tb_jinja_fail(parser, TB_ERR_SYNTAX,
                             "tests cannot be chained with 'is'");
    TB_TRY(parse_primary(parser, false, &test->arguments.positional));
    return parse_postfix(parser, &test->arguments.positional);
}

static tb_status parse_test(parser_t *parser, struct tb_node **node)
{
    struct tb_node *test;
    struct tb_span name;
    TB_TRY(tb_jinja_node(parser, TB_NODE_TEST, &test));
    TB_TRY(tb_jinja_advance(parser));
    bool is_negated = tb_jinja_at_name(parser, "not");
    if (is_negated)
        TB_TRY(tb_jinja_advance(parser));
    TB_TRY(take_dotted(parser, &name));
    test->value = tb_value_text(name);
    test->index = tb_jinja_test_index(name);
    TB_TRY(check_known(parser, "test", name, test->line, test->index));
    test->a = *node;
    TB_TRY(parse_test_arguments(parser, test));
    *node = test;
    if (!is_negated)
        return TB_OK;
    TB_TRY(tb_jinja_node(parser, TB_NODE_NOT, node));
    (*node)->a = test;
    return TB_OK;
}

static tb_status parse_filters_and_tests(parser_t *parser,
                                         struct tb_node **node)
{
    for (;;) {
        if (tb_jinja_at_operator(parser, "|")) {
            TB_TRY(tb_jinja_advance(parser));
            TB_TRY(tb_jinja_filters(parser, node));
        } else if (tb_jinja_at_name(parser, "is")) {
            TB_TRY(parse_test(parser, node));
        } else if (tb_jinja_at_operator(parser, "(")) {
            TB_TRY(parse_call(parser, *node, node));
        } else {
            return TB_OK;
        }
    }
}

/* ---- operators -------------------------------------------------------- */

static tb_status parse_unary(parser_t *parser, bool with_filter,
                             struct tb_node **node)
{
    bool is_minus = tb_jinja_at_operator(parser, "-");
    if (is_minus || tb_jinja_at_operator(parser, "+")) {
        struct tb_node *sign;
        TB_TRY(
            tb_jinja_node(parser, is_minus ? TB_NODE_NEG : TB_NODE_POS, &sign));
        TB_TRY(tb_jinja_advance(parser));
        TB_TRY(tb_jinja_enter(parser));
        TB_TRY(parse_unary(parser, false, &sign->a));
        parser->depth--;
        *node = sign;
    } else {
        TB_TRY(parse_primary(parser, false, node));
    }
    TB_TRY(parse_postfix(parser, node));
    return with_filter ? parse_filters_and_tests(parser, node) : TB_OK;
}

struct binary {
    const char *text;
    tb_operator op;
};

// Which of the operators is here? NULL: none.
static const struct binary *find_binary(const parser_t *parser,
                                        const struct binary *operators)
{
    for (; operators->text; operators++)
        if (tb_jinja_at_operator(parser, operators->text))
            return operators;
    return NULL;
}

static tb_status parse_binary(parser_t *parser, const struct binary *operators,
                              tb_status (*parse)(parser_t *, struct tb_node **),
                              struct tb_node **node)
{
    const struct binary *found;
    TB_TRY(parse(parser, node));
    while ((found = find_binary(parser, operators))) {
        struct tb_node *left = *node;
        TB_TRY(tb_jinja_node(parser, TB_NODE_BINARY, node));
        TB_TRY(tb_jinja_advance(parser));
        (*node)->op = (uint8_t)found->op;
        (*node)->a = left;
        TB_TRY(parse(parser, &(*node)->b));
    }
    return TB_OK;
}

static tb_status parse_operand(parser_t *parser, struct tb_node **node)
{
    return parse_unary(parser, true, node);
}

static tb_status parse_power(parser_t *parser, struct tb_node **node)
{
    static const struct binary operators[] = {{"**", TB_OP_POW}, {0}};
    return parse_binary(parser, operators, parse_operand, node);
}

static tb_status parse_product(parser_t *parser, struct tb_node **node)
{
    static const struct binary operators[] = {{"*", TB_OP_MUL},
                                              {"/", TB_OP_DIV},
                                              {"//", TB_OP_FLOORDIV},
                                              {"%", TB_OP_MOD},
                                              {0}};
    return parse_binary(parser, operators, parse_power, node);
}

static tb_status parse_concat(parser_t *parser, struct tb_node **node)
{
    struct chain items = {0};
    TB_TRY(parse_product(parser, node));
    if (!tb_jinja_at_operator(parser, "~"))
        return TB_OK;
    add(&items, *node);
    while (tb_jinja_at_operator(parser, "~")) {
        struct tb_node *item;
        TB_TRY(tb_jinja_advance(parser));
        TB_TRY(parse_product(parser, &item));
        add(&items, item);
    }
    TB_TRY(tb_jinja_node(parser, TB_NODE_CONCAT, node));
    (*node)->list = items.first;
    return TB_OK;
}

static tb_status parse_sum(parser_t *parser, struct tb_node **node)
{
    static const struct binary operators[] = {
        {"+", TB_OP_ADD}, {"-", TB_OP_SUB}, {0}};
    return parse_binary(parser, operators, parse_concat, node);
}

// Takes a comparison's operator, if one is here.
static tb_status take_comparison(parser_t *parser, tb_operator *op, bool *found)
{
    static const struct binary operators[] = {{"==", TB_OP_EQ},
                                              {"!=", TB_OP_NE},
                                              {"<", TB_OP_LT},
                                              {"<=", TB_OP_LE},
                                              {">", TB_OP_GT},
                                              {">=", TB_OP_GE},
                                              {0}};
    const struct tb_jinja_token *ahead;
    const struct binary *one = find_binary(parser, operators);
    *found = true;
    if (one) {
        *op = one->op;
        return tb_jinja_advance(parser);
    }
    *op = TB_OP_IN;
    if (tb_jinja_at_name(parser, "in"))
        return tb_jinja_advance(parser);
    *found = false;
    if (!tb_jinja_at_name(parser, "not"))
        return TB_OK;
    TB_TRY(tb_jinja_look(parser, &ahead));
    if (ahead->kind != TB_JINJA_NAME ||
        !tb_span_equal(ahead->text, TB_SPAN("in")))
        return TB_OK;
    *op = TB_OP_NOT_IN;
    *found = true;
    TB_TRY(tb_jinja_advance(parser));
    return tb_jinja_advance(parser);
}

static tb_status parse_compare(parser_t *parser, struct tb_node **node)
{
    struct chain operands = {0};
    struct tb_node *first;
    TB_TRY(parse_sum(parser, &first));
    *node = first;
    for (;;) {
        tb_operator op;
        bool found;
        struct tb_node *operand;
        TB_TRY(take_comparison(parser, &op, &found));
        if (!found)
            break;
        TB_TRY(tb_jinja_node(parser, TB_NODE_OPERAND, &operand));
        operand->op = (uint8_t)op;
        TB_TRY(parse_sum(parser, &operand->a));
        add(&operands, operand);
    }
    if (!operands.first)
        return TB_OK;
    TB_TRY(tb_jinja_node(parser, TB_NODE_COMPARE, node));
    (*node)->a = first;
    (*node)->list = operands.first;
    return TB_OK;
}

static tb_status parse_not(parser_t *parser, struct tb_node **node)
{
    if (!tb_jinja_at_name(parser, "not"))
        return parse_compare(parser, node);
    TB_TRY(tb_jinja_node(parser, TB_NODE_NOT, node));
    TB_TRY(tb_jinja_advance(parser));
    TB_TRY(tb_jinja_enter(parser));
    TB_TRY(parse_not(parser, &(*node)->a));
    parser->depth--;
    return TB_OK;
}

static tb_status parse_logic(parser_t *parser, const char *word,
                             tb_node_kind kind,
                             tb_status (*parse)(parser_t *, struct tb_node **),
                             struct tb_node **node)
{
    TB_TRY(parse(parser, node));
    while (tb_jinja_at_name(parser, word)) {
        struct tb_node *left = *node;
        TB_TRY(tb_jinja_node(parser, kind, node));
        TB_TRY(tb_jinja_advance(parser));
        (*node)->a = left;
        TB_TRY(parse(parser, &(*node)->b));
    }
    return TB_OK;
}

static tb_status parse_and(parser_t *parser, struct tb_node **node)
{
    return parse_logic(parser, "and", TB_NODE_AND, parse_not, node);
}

static tb_status parse_or(parser_t *parser, struct tb_node **node)
{
    return parse_logic(parser, "or", TB_NODE_OR, parse_and, node);
}

tb_status tb_jinja_expression(parser_t *parser, struct tb_node **node)
{
    struct tb_jinja_missing missing = parser->missing;
    TB_TRY(tb_jinja_enter(parser));
    TB_TRY(parse_or(parser, node));
    while (tb_jinja_at_name(parser, "if")) {
        struct tb_node *value = *node;
        TB_TRY(tb_jinja_node(parser, TB_NODE_COND, node));
        TB_TRY(tb_jinja_advance(parser));
        (*node)->a = value;
        TB_TRY(parse_or(parser, &(*node)->b));
        if (tb_jinja_at_name(parser, "else")) {
            TB_TRY(tb_jinja_advance(parser));
            TB_TRY(tb_jinja_expression(parser, &(*node)->c));
        }
        parser->missing = missing; // all of it is conditional
    }
    parser->depth--;
    return TB_OK;
}

/* ---- tuples and targets ----------------------------------------------- */

static bool is_target_rule(tb_jinja_tuple_rule rule)
{
    return rule == TB_JINJA_TUPLE_TARGET || rule == TB_JINJA_TUPLE_SET_TARGET;
}

static bool is_tuple_end(const parser_t *parser, tb_jinja_tuple_rule rule)
{
    return parser->token.kind == TB_JINJA_VARIABLE_END ||
           parser->token.kind == TB_JINJA_BLOCK_END ||
           tb_jinja_at_operator(parser, ")") ||
           (rule == TB_JINJA_TUPLE_TARGET && tb_jinja_at_name(parser, "in")) ||
           (rule == TB_JINJA_TUPLE_NO_COND &&
            tb_jinja_at_name(parser, "recursive"));
}

static tb_status parse_tuple_item(parser_t *parser, tb_jinja_tuple_rule rule,
                                  struct tb_node **node)
{
    if (is_target_rule(rule))
        return parse_primary(parser, rule == TB_JINJA_TUPLE_SET_TARGET, node);
    if (rule != TB_JINJA_TUPLE_NO_COND)
        return tb_jinja_expression(parser, node);
    TB_TRY(tb_jinja_enter(parser));
    TB_TRY(parse_or(parser, node));
    parser->depth--;
    return TB_OK;
}

tb_status tb_jinja_tuple(parser_t *parser, tb_jinja_tuple_rule rule,
                         struct tb_node **node)
{
    struct chain items = {0};
    struct tb_node *tuple;
    bool is_tuple = false;
    TB_TRY(tb_jinja_node(parser, TB_NODE_TUPLE, &tuple));
    for (;;) {
        struct tb_node *item;
        if (items.first)
            TB_TRY(tb_jinja_expect_operator(parser, ","));
        if (is_tuple_end(parser, rule))
            break;
        TB_TRY(parse_tuple_item(parser, rule, &item));
        add(&items, item);
        if (!tb_jinja_at_operator(parser, ","))
            break;
        is_tuple = true;
    }
    tuple->list = items.first;
    *node = tuple;
    if (is_tuple)
        return TB_OK;
    if (items.first)
        *node = items.first;
    else if (rule != TB_JINJA_TUPLE_PARENTHESES)
        return tb_jinja_fail(parser, TB_ERR_SYNTAX, "expected an expression");
    return TB_OK;
}

static bool can_assign(const struct tb_node *node)
{
    if (node->kind == TB_NODE_NAME || node->kind == TB_NODE_NSREF)
        return true;
    if (node->kind != TB_NODE_TUPLE)
        return false;
    for (const struct tb_node *item = node->list; item; item = item->next)
        if (!can_assign(item))
            return false;
    return true;
}

tb_status tb_jinja_target(parser_t *parser, tb_jinja_tuple_rule rule,
                          struct tb_node **node)
{
    TB_TRY(tb_jinja_tuple(parser, rule, node));
    if (can_assign(*node))
        return TB_OK;
    return tb_jinja_fail(parser, TB_ERR_SYNTAX, "cannot assign to this");
}
