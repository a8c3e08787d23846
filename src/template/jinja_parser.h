/* From a template's source to its nodes. Private to this layer.
 *
 * jinja_parser.c reads statements, jinja_expression.c expressions. */
#ifndef TB_JINJA_PARSER_H
#define TB_JINJA_PARSER_H

#include "jinja_ast.h"
#include "jinja_lexer.h"

enum {
    TB_JINJA_MAX_NESTING = 100,    /* of expressions and blocks in a source */
    TB_JINJA_MAX_SOURCE = 4 << 20, /* bytes */
};

/* A filter or test that jinja2 does not have. It counts only when nothing
 * around it is conditional. */
struct tb_jinja_missing {
    struct tb_span name; /* ptr NULL: none */
    uint32_t line;
};

/* A macro around the place that is read. */
struct tb_jinja_macro_frame {
    struct tb_jinja_macro_frame *parent;
    struct tb_node *macro;
};

struct tb_jinja_parser {
    struct tb_jinja_lexer lexer;
    struct tb_template_code *code;
    struct tb_error *error;
    struct tb_jinja_token token; /* current */
    struct tb_jinja_token ahead; /* the next one, once looked at */
    bool has_ahead;
    unsigned depth;
    unsigned loop_depth; /* loops around, within the macro */
    struct tb_jinja_missing missing, hard_missing;
    struct tb_jinja_macro_frame *macro;
};

/* Parses `source`, cleaned, into `code`, whose arena and names are ready.
 * TB_ERR_SYNTAX with the line, TB_ERR_UNSUPPORTED, TB_ERR_LIMIT,
 * TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_jinja_parse(struct tb_template_code *code,
                                      struct tb_span source,
                                      struct tb_error *error);

/* ---- for the two halves of the parser --------------------------------- */

tb_status tb_jinja_fail(struct tb_jinja_parser *parser, tb_status status,
                        const char *format, ...) TB_PRINTF(3, 4);
TB_NODISCARD tb_status tb_jinja_advance(struct tb_jinja_parser *parser);
TB_NODISCARD tb_status tb_jinja_look(struct tb_jinja_parser *parser,
                                     const struct tb_jinja_token **token);
TB_NODISCARD tb_status tb_jinja_node(struct tb_jinja_parser *parser,
                                     tb_node_kind kind, struct tb_node **node);
TB_NODISCARD tb_status tb_jinja_enter(struct tb_jinja_parser *parser);

bool tb_jinja_at_operator(const struct tb_jinja_parser *parser,
                          const char *text);
bool tb_jinja_at_name(const struct tb_jinja_parser *parser, const char *text);
TB_NODISCARD tb_status tb_jinja_expect_operator(struct tb_jinja_parser *parser,
                                                const char *text);
/* Takes a name and gives its text, or its number among variables. */
TB_NODISCARD tb_status tb_jinja_take_name(struct tb_jinja_parser *parser,
                                          struct tb_span *name);
TB_NODISCARD tb_status tb_jinja_take_variable(struct tb_jinja_parser *parser,
                                              uint32_t *name);

TB_NODISCARD tb_status tb_jinja_expression(struct tb_jinja_parser *parser,
                                           struct tb_node **node);

typedef enum tb_jinja_tuple_rule {
    TB_JINJA_TUPLE_PLAIN,
    TB_JINJA_TUPLE_NO_COND,     /* no `if` in the items: for, if */
    TB_JINJA_TUPLE_PARENTHESES, /* may be empty */
    TB_JINJA_TUPLE_TARGET,      /* names only */
    TB_JINJA_TUPLE_SET_TARGET,  /* names and attributes of namespaces */
} tb_jinja_tuple_rule;

/* An expression, or several with commas between as a tuple. */
TB_NODISCARD tb_status tb_jinja_tuple(struct tb_jinja_parser *parser,
                                      tb_jinja_tuple_rule rule,
                                      struct tb_node **node);

/* What is assigned to: checks that it can be. */
TB_NODISCARD tb_status tb_jinja_target(struct tb_jinja_parser *parser,
                                       tb_jinja_tuple_rule rule,
                                       struct tb_node **node);

/* name(args)|name...: `*node` is what goes in (NULL: a block's text) and what
 * comes out. The current token is the first name. */
TB_NODISCARD tb_status tb_jinja_filters(struct tb_jinja_parser *parser,
                                        struct tb_node **node);

#endif
