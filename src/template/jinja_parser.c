#include "jinja_parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct tb_jinja_parser parser_t;

/* ---- tools ------------------------------------------------------------ */

tb_status tb_jinja_fail(parser_t *parser, tb_status status, const char *format,
                        ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    tb_fail(parser->error, status, "%s", text);
    if (parser->error)
        parser->error->line = parser->token.line;
    return status;
}

tb_status tb_jinja_advance(parser_t *parser)
{
    if (!parser->has_ahead)
        return tb_jinja_lexer_next(&parser->lexer, &parser->token);
    parser->token = parser->ahead;
    parser->has_ahead = false;
    return TB_OK;
}

tb_status tb_jinja_look(parser_t *parser, const struct tb_jinja_token **token)
{
    if (!parser->has_ahead)
        TB_TRY(tb_jinja_lexer_next(&parser->lexer, &parser->ahead));
    parser->has_ahead = true;
    *token = &parser->ahead;
    return TB_OK;
}

tb_status tb_jinja_node(parser_t *parser, tb_node_kind kind,
                        struct tb_node **node)
{
    *node = TB_ARENA_NEW(&parser->code->arena, struct tb_node, 1);
    if (!*node)
        return tb_jinja_fail(parser, TB_ERR_MEMORY, "out of memory");
    (*node)->kind = kind;
    (*node)->line = parser->token.line;
    return TB_OK;
}

tb_status tb_jinja_enter(parser_t *parser)
{
    if (parser->depth >= TB_JINJA_MAX_NESTING)
        return tb_jinja_fail(parser, TB_ERR_LIMIT, "nested too deeply");
    parser->depth++;
    return TB_OK;
}

bool tb_jinja_at_operator(const parser_t *parser, const char *text)
{
    return parser->token.kind == TB_JINJA_OPERATOR &&
           tb_span_equal(parser->token.text, tb_span_of(text));
}

bool tb_jinja_at_name(const parser_t *parser, const char *text)
{
    return parser->token.kind == TB_JINJA_NAME &&
           tb_span_equal(parser->token.text, tb_span_of(text));
}

tb_status tb_jinja_expect_operator(parser_t *parser, const char *text)
{
    if (!tb_jinja_at_operator(parser, text))
        return tb_jinja_fail(parser, TB_ERR_SYNTAX, "expected '%s'", text);
    return tb_jinja_advance(parser);
}

tb_status tb_jinja_take_name(parser_t *parser, struct tb_span *name)
{
    if (parser->token.kind != TB_JINJA_NAME)
        return tb_jinja_fail(parser, TB_ERR_SYNTAX, "expected a name");
    *name = parser->token.text;
    return tb_jinja_advance(parser);
}

tb_status tb_jinja_take_variable(parser_t *parser, uint32_t *name)
{
    struct tb_span text;
    TB_TRY(tb_jinja_take_name(parser, &text));
    if (tb_name_table_add(&parser->code->names, text, name) == TB_OK)
        return TB_OK;
    return tb_jinja_fail(parser, TB_ERR_MEMORY, "out of memory");
}

static tb_status expect(parser_t *parser, tb_jinja_token_kind kind,
                        const char *what)
{
    if (parser->token.kind != kind)
        return tb_jinja_fail(parser, TB_ERR_SYNTAX, "expected %s", what);
    return tb_jinja_advance(parser);
}

static tb_status expect_block_end(parser_t *parser)
{
    return expect(parser, TB_JINJA_BLOCK_END, "the end of the block's tag");
}

/* ---- bodies ----------------------------------------------------------- */

static tb_status parse_statement(parser_t *parser, struct tb_node **node);

// Is the current token one of the words, which are separated by spaces?
static bool is_at_word(const parser_t *parser, const char *words)
{
    while (*words) {
        size_t len = strcspn(words, " ");
        struct tb_span word = {(const uint8_t *)words, len};
        if (parser->token.kind == TB_JINJA_NAME &&
            tb_span_equal(parser->token.text, word))
            return true;
        words += len + (words[len] == ' ');
    }
    return false;
}

static tb_status parse_data(parser_t *parser, struct tb_node **node)
{
    TB_TRY(tb_jinja_node(parser, TB_NODE_DATA, node));
    (*node)->value = tb_value_text(parser->token.text);
    return tb_jinja_advance(parser);
}

static tb_status parse_print(parser_t *parser, struct tb_node **node)
{
    TB_TRY(tb_jinja_node(parser, TB_NODE_PRINT, node));
    TB_TRY(tb_jinja_advance(parser));
    TB_TRY(tb_jinja_tuple(parser, TB_JINJA_TUPLE_PLAIN, &(*node)->list));
    return expect(parser, TB_JINJA_VARIABLE_END, "the end of the print tag");
}

/* Reads up to a tag that begins with one of `ends`, and leaves its name as
 * the current token; without `ends`, up to the end. */
static tb_status parse_body(parser_t *parser, const char *ends,
                            struct tb_node **body)
{
    struct tb_node **end = body;
    *body = NULL;
    TB_TRY(tb_jinja_enter(parser));
    while (parser->token.kind != TB_JINJA_END) {
        if (parser->token.kind == TB_JINJA_DATA) {
            TB_TRY(parse_data(parser, end));
        } else if (parser->token.kind == TB_JINJA_VARIABLE_BEGIN) {
            TB_TRY(parse_print(parser, end));
        } else {
            TB_TRY(tb_jinja_advance(parser));
            if (ends && is_at_word(parser, ends)) {
                parser->depth--;
                return TB_OK;
            }
            TB_TRY(parse_statement(parser, end));
            TB_TRY(expect_block_end(parser));
        }
        end = &(*end)->next;
    }
    parser->depth--;
    if (ends)
        return tb_jinja_fail(parser, TB_ERR_SYNTAX,
                             "the template ends before '%s'", ends);
    return TB_OK;
}

// The body of a block: the rest of the tag, then up to one of `ends`.
static tb_status parse_block(parser_t *parser, const char *ends,
                             struct tb_node **body)
{
    TB_TRY(expect_block_end(parser));
    return parse_body(parser, ends, body);
}

// As above for what is a scope of its own and no part of a condition.
static tb_status parse_scope(parser_t *parser, const char *ends,
                             struct tb_node **body)
{
    struct tb_jinja_missing missing = parser->missing;
    parser->missing = (struct tb_jinja_missing){0};
    TB_TRY(parse_block(parser, ends, body));
    if (parser->missing.name.ptr)
        parser->hard_missing = parser->missing;
    parser->missing = missing;
    return TB_OK;
}

/* ---- statements ------------------------------------------------------- */

static tb_status parse_if_parts(parser_t *parser, struct tb_node *node)
{
    for (;;) {
        TB_TRY(tb_jinja_advance(parser));
        TB_TRY(tb_jinja_tuple(parser, TB_JINJA_TUPLE_NO_COND, &node->a));
        TB_TRY(parse_block(parser, "elif else endif", &node->body));
        if (!tb_jinja_at_name(parser, "elif"))
            break;
        TB_TRY(tb_jinja_node(parser, TB_NODE_IF, &node->other));
        node = node->other;
    }
    if (tb_jinja_at_name(parser, "else")) {
        TB_TRY(tb_jinja_advance(parser));
        TB_TRY(parse_block(parser, "endif", &node->other));
    }
    return tb_jinja_advance(parser);
}

static tb_status parse_if(parser_t *parser, struct tb_node **node)
{
    struct tb_jinja_missing missing = parser->missing;
    TB_TRY(tb_jinja_node(parser, TB_NODE_IF, node));
    TB_TRY(parse_if_parts(parser, *node));
    parser->missing = missing;
    return TB_OK;
}

static bool names_loop(const parser_t *parser, const struct tb_node *target)
{
    if (target->kind == TB_NODE_NAME)
        return target->name == parser->code->loop_name;
    for (const struct tb_node *item = target->list; item; item = item->next)
        if (names_loop(parser, item))
            return true;
    return false;
}

static tb_status parse_for_head(parser_t *parser, struct tb_node *node)
{
    TB_TRY(tb_jinja_advance(parser));
    TB_TRY(tb_jinja_target(parser, TB_JINJA_TUPLE_TARGET, &node->a));
    if (names_loop(parser, node->a))
        return tb_jinja_fail(parser, TB_ERR_SYNTAX,
                             "cannot assign to 'loop' in the head of a loop");
    if (!tb_jinja_at_name(parser, "in"))
        return tb_jinja_fail(parser, TB_ERR_SYNTAX, "expected 'in'");
    TB_TRY(tb_jinja_advance(parser));
    TB_TRY(tb_jinja_tuple(parser, TB_JINJA_TUPLE_NO_COND, &node->b));
    if (tb_jinja_at_name(parser, "if")) {
        TB_TRY(tb_jinja_advance(parser));
        TB_TRY(tb_jinja_expression(parser, &node->c));
    }
    if (!tb_jinja_at_name(parser, "recursive"))
        return TB_OK;
    node->is_recursive = true;
    return tb_jinja_advance(parser);
}

static tb_status parse_for(parser_t *parser, struct tb_node **node)
{
    TB_TRY(tb_jinja_node(parser, TB_NODE_FOR, node));
    TB_TRY(parse_for_head(parser, *node));
    parser->loop_depth++;
    TB_TRY(parse_scope(parser, "endfor else", &(*node)->body));
    parser->loop_depth--;
    if (tb_jinja_at_name(parser, "else")) {
        TB_TRY(tb_jinja_advance(parser));
        TB_TRY(parse_scope(parser, "endfor", &(*node)->other));
    }
    return tb_jinja_advance(parser);
}

static tb_status parse_set(parser_t *parser, struct tb_node **node)
{
    TB_TRY(tb_jinja_node(parser, TB_NODE_SET, node));
    TB_TRY(tb_jinja_advance(parser));
    TB_TRY(tb_jinja_target(parser, TB_JINJA_TUPLE_SET_TARGET, &(*node)->a));
    if (tb_jinja_at_operator(parser, "=")) {
        TB_TRY(tb_jinja_advance(parser));
        return tb_jinja_tuple(parser, TB_JINJA_TUPLE_PLAIN, &(*node)->b);
    }
    (*node)->kind = TB_NODE_SET_BLOCK;
    if (tb_jinja_at_operator(parser, "|")) {
        TB_TRY(tb_jinja_advance(parser));
        TB_TRY(tb_jinja_filters(parser, &(*node)->b));
    }
    TB_TRY(parse_scope(parser, "endset", &(*node)->body));
    return tb_jinja_advance(parser);
}

static tb_status parse_signature(parser_t *parser, struct tb_node *macro)
{
    struct tb_node **end = &macro->list;
    bool has_default = false;
    TB_TRY(tb_jinja_expect_operator(parser, "("));
    while (!tb_jinja_at_operator(parser, ")")) {
        if (macro->list)
            TB_TRY(tb_jinja_expect_operator(parser, ","));
        TB_TRY(tb_jinja_node(parser, TB_NODE_PARAMETER, end));
        TB_TRY(tb_jinja_take_variable(parser, &(*end)->name));
        if (tb_jinja_at_operator(parser, "=")) {
            has_default = true;
            TB_TRY(tb_jinja_advance(parser));
            TB_TRY(tb_jinja_expression(parser, &(*end)->a));
        } else if (has_default) {
            return tb_jinja_fail(parser, TB_ERR_SYNTAX,
                                 "a parameter without a default follows one "
                                 "that has it");
        }
        end = &(*end)->next;
    }
    return tb_jinja_advance(parser);
}

static tb_status parse_macro_body(parser_t *parser, struct tb_node *macro,
                                  const char *end)
{
    struct tb_jinja_macro_frame frame = {parser->macro, macro};
    unsigned loop_depth = parser->loop_depth;
    parser->macro = &frame;
    parser->loop_depth = 0;
    TB_TRY(parse_scope(parser, end, &macro->body));
    parser->macro = frame.parent;
    parser->loop_depth = loop_depth;
    return tb_jinja_advance(parser);
}

static tb_status parse_macro(parser_t *parser, struct tb_node **node)
{
    TB_TRY(tb_jinja_node(parser, TB_NODE_MACRO, node));
    TB_TRY(tb_jinja_advance(parser));
    TB_TRY(tb_jinja_take_variable(parser, &(*node)->name));
    TB_TRY(parse_signature(parser, *node));
    return parse_macro_body(parser, *node, "endmacro");
}

static tb_status parse_call_block(parser_t *parser, struct tb_node **node)
{
    struct tb_node *macro;
    TB_TRY(tb_jinja_node(parser, TB_NODE_CALL_BLOCK, node));
    TB_TRY(tb_jinja_node(parser, TB_NODE_MACRO, &macro));
    macro->name = parser->code->caller_name;
    (*node)->b = macro;
    TB_TRY(tb_jinja_advance(parser));
    if (tb_jinja_at_operator(parser, "("))
        TB_TRY(parse_signature(parser, macro));
    TB_TRY(tb_jinja_expression(parser, &(*node)->a));
    if ((*node)->a->kind != TB_NODE_CALL)
        return tb_jinja_fail(parser, TB_ERR_SYNTAX, "expected a call");
    return parse_macro_body(parser, macro, "endcall");
}

static tb_status parse_filter_block(parser_t *parser, struct tb_node **node)
{
    TB_TRY(tb_jinja_node(parser, TB_NODE_FILTER_BLOCK, node));
    TB_TRY(tb_jinja_advance(parser));
    TB_TRY(tb_jinja_filters(parser, &(*node)->a));
    TB_TRY(parse_scope(parser, "endfilter", &(*node)->body));
    return tb_jinja_advance(parser);
}

static tb_status parse_with(parser_t *parser, struct tb_node **node)
{
    TB_TRY(tb_jinja_node(parser, TB_NODE_WITH, node));
    struct tb_node **end = &(*node)->list;
    TB_TRY(tb_jinja_advance(parser));
    while (parser->token.kind != TB_JINJA_BLOCK_END) {
        if ((*node)->list)
            TB_TRY(tb_jinja_expect_operator(parser, ","));
        TB_TRY(tb_jinja_node(parser, TB_NODE_SET, end));
        TB_TRY(tb_jinja_node(parser, TB_NODE_NAME, &(*end)->a));
        TB_TRY(tb_jinja_take_variable(parser, &(*end)->a->name));
        TB_TRY(tb_jinja_expect_operator(parser, "="));
        TB_TRY(tb_jinja_expression(parser, &(*end)->b));
        end = &(*end)->next;
    }
    TB_TRY(parse_scope(parser, "endwith", &(*node)->body));
    return tb_jinja_advance(parser);
}

// What transformers adds: marks what the model wrote; renders its body.
static tb_status parse_generation(parser_t *parser, struct tb_node **node)
{
    TB_TRY(tb_jinja_node(parser, TB_NODE_SCOPE, node));
    TB_TRY(tb_jinja_advance(parser));
    unsigned loop_depth = parser->loop_depth;
    parser->loop_depth = 0;
    TB_TRY(parse_scope(parser, "endgeneration", &(*node)->body));
    parser->loop_depth = loop_depth;
    return tb_jinja_advance(parser);
}

static tb_status parse_print_statement(parser_t *parser, struct tb_node **node)
{
    TB_TRY(tb_jinja_node(parser, TB_NODE_PRINT, node));
    struct tb_node **end = &(*node)->list;
    TB_TRY(tb_jinja_advance(parser));
    while (parser->token.kind != TB_JINJA_BLOCK_END) {
        if ((*node)->list)
            TB_TRY(tb_jinja_expect_operator(parser, ","));
        TB_TRY(tb_jinja_expression(parser, end));
        end = &(*end)->next;
    }
    return TB_OK;
}

static tb_status parse_jump(parser_t *parser, struct tb_node **node)
{
    bool is_break = tb_jinja_at_name(parser, "break");
    if (parser->loop_depth == 0)
        return tb_jinja_fail(parser, TB_ERR_SYNTAX, "'%s' outside of a loop",
                             is_break ? "break" : "continue");
    TB_TRY(tb_jinja_node(parser, is_break ? TB_NODE_BREAK : TB_NODE_CONTINUE,
                         node));
    return tb_jinja_advance(parser);
}

static tb_status parse_unbuilt(parser_t *parser, struct tb_node **node)
{
    (void)node;
    return tb_jinja_fail(parser, TB_ERR_UNSUPPORTED, "the tag '%.*s'",
                         (int)parser->token.text.len,
                         (const char *)parser->token.text.ptr);
}

static tb_status parse_statement(parser_t *parser, struct tb_node **node)
{
    static const struct {
        const char *word;
        tb_status (*parse)(parser_t *parser, struct tb_node **node);
    } statements[] = {
        {"if", parse_if},
        {"for", parse_for},
        {"set", parse_set},
        {"macro", parse_macro},
        {"call", parse_call_block},
        {"filter", parse_filter_block},
        {"with", parse_with},
        {"generation", parse_generation},
        {"print", parse_print_statement},
        {"break", parse_jump},
        {"continue", parse_jump},
        {"block", parse_unbuilt},
        {"extends", parse_unbuilt},
        {"include", parse_unbuilt},
        {"import", parse_unbuilt},
        {"from", parse_unbuilt},
        {"autoescape", parse_unbuilt},
    };
    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++)
        if (tb_jinja_at_name(parser, statements[i].word))
            return statements[i].parse(parser, node);
    if (parser->token.kind != TB_JINJA_NAME)
        return tb_jinja_fail(parser, TB_ERR_SYNTAX, "expected a tag's name");
    return tb_jinja_fail(parser, TB_ERR_SYNTAX, "unknown tag '%.*s'",
                         (int)parser->token.text.len,
                         (const char *)parser->token.text.ptr);
}

/* ---- a template ------------------------------------------------------- */

static tb_status add_own_names(parser_t *parser)
{
    struct tb_template_code *code = parser->code;
    tb_status status =
        tb_name_table_add(&code->names, TB_SPAN("loop"), &code->loop_name);
    if (status == TB_OK)
        status = tb_name_table_add(&code->names, TB_SPAN("caller"),
                                   &code->caller_name);
    if (status == TB_OK)
        status = tb_name_table_add(&code->names, TB_SPAN("varargs"),
                                   &code->varargs_name);
    if (status == TB_OK)
        status = tb_name_table_add(&code->names, TB_SPAN("kwargs"),
                                   &code->kwargs_name);
    if (status == TB_OK)
        return TB_OK;
    return tb_jinja_fail(parser, status, "out of memory");
}

tb_status tb_jinja_parse(struct tb_template_code *code, struct tb_span source,
                         struct tb_error *error)
{
    struct tb_jinja_parser parser = {.code = code, .error = error};
    if (source.len > TB_JINJA_MAX_SOURCE)
        return tb_fail(error, TB_ERR_LIMIT, "template too long");
    tb_jinja_lexer_init(&parser.lexer, source, &code->arena, error);
    TB_TRY(add_own_names(&parser));
    TB_TRY(tb_jinja_advance(&parser));
    TB_TRY(parse_body(&parser, NULL, &code->body));
    struct tb_jinja_missing missing =
        parser.missing.name.ptr ? parser.missing : parser.hard_missing;
    if (!missing.name.ptr)
        return TB_OK;
    parser.token.line = missing.line;
    return tb_jinja_fail(&parser, TB_ERR_SYNTAX, "no filter or test '%.*s'",
                         (int)missing.name.len, (const char *)missing.name.ptr);
}
