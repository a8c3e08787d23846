/* A parsed template: nodes in an arena, read-only once parsed. Private to
 * this layer. */
#ifndef TB_JINJA_AST_H
#define TB_JINJA_AST_H

#include "name_table.h"
#include "value.h"

typedef enum tb_node_kind {
    /* Expressions. a, b, c: children; list: a chain of children. */
    TB_NODE_CONST,   /* value */
    TB_NODE_NAME,    /* name */
    TB_NODE_LIST,    /* list */
    TB_NODE_TUPLE,   /* list */
    TB_NODE_DICT,    /* list: keys; each key's a is its value */
    TB_NODE_GETATTR, /* a.value */
    TB_NODE_GETITEM, /* a[b] */
    TB_NODE_SLICE,   /* a:b:c, each may be NULL */
    TB_NODE_CALL,    /* a(args) */
    TB_NODE_FILTER,  /* a|text(args); a NULL: the block's own text */
    TB_NODE_TEST,    /* a is text(args) */
    TB_NODE_NOT,     /* a */
    TB_NODE_NEG,
    TB_NODE_POS,
    TB_NODE_AND, /* a, b */
    TB_NODE_OR,
    TB_NODE_COMPARE, /* a, then list of TB_NODE_OPERAND */
    TB_NODE_OPERAND, /* op, a */
    TB_NODE_BINARY,  /* a op b */
    TB_NODE_CONCAT,  /* list */
    TB_NODE_COND,    /* a if b else c, which may be NULL */
    TB_NODE_KEYWORD, /* value = a */
    /* Statements. body: a chain. */
    TB_NODE_DATA,         /* value */
    TB_NODE_PRINT,        /* list */
    TB_NODE_IF,           /* a, body, other: else (an elif is an IF in it) */
    TB_NODE_FOR,          /* target a in b if c, body, other */
    TB_NODE_SET,          /* a = b */
    TB_NODE_SET_BLOCK,    /* a, filter b or NULL, body */
    TB_NODE_MACRO,        /* name, list: parameters, body */
    TB_NODE_PARAMETER,    /* name, default a or NULL */
    TB_NODE_NSREF,        /* name.value as a target */
    TB_NODE_CALL_BLOCK,   /* call a, macro b */
    TB_NODE_FILTER_BLOCK, /* filter a, body */
    TB_NODE_WITH,         /* list of SET, body */
    TB_NODE_SCOPE,        /* body, in a scope of its own */
    TB_NODE_BREAK,
    TB_NODE_CONTINUE,
} tb_node_kind;

typedef enum tb_operator {
    TB_OP_ADD,
    TB_OP_SUB,
    TB_OP_MUL,
    TB_OP_DIV,
    TB_OP_FLOORDIV,
    TB_OP_MOD,
    TB_OP_POW,
    TB_OP_EQ,
    TB_OP_NE,
    TB_OP_LT,
    TB_OP_LE,
    TB_OP_GT,
    TB_OP_GE,
    TB_OP_IN,
    TB_OP_NOT_IN,
} tb_operator;

/* What a call, filter or test is given. */
struct tb_arguments {
    struct tb_node *positional; /* chain */
    struct tb_node *keywords;   /* chain of TB_NODE_KEYWORD */
    struct tb_node *more;       /* *more, or NULL */
    struct tb_node *more_keywords;
};

struct tb_node {
    tb_node_kind kind;
    uint8_t op;        /* tb_operator */
    bool is_recursive; /* FOR */
    bool uses_caller;  /* MACRO: what its body speaks of */
    bool uses_varargs;
    bool uses_kwargs;
    uint32_t line;
    uint32_t name; /* number in the code's table of names */
    int index;     /* FILTER, TEST: which one; -1: jinja2 has none */
    struct tb_value value;
    struct tb_node *a, *b, *c;
    struct tb_node *list, *body, *other;
    struct tb_node *next; /* in its chain */
    struct tb_arguments arguments;
};

/* Read-only once made; shared by threads. */
struct tb_template_code {
    struct tb_arena arena;
    struct tb_name_table names; /* of variables */
    int *functions;             /* by name: a global function, or -1 */
    struct tb_node *body;
    uint32_t loop_name, caller_name, varargs_name, kwargs_name;
};

#endif
