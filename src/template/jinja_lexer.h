/* A template's source, token by token, as jinja2 cuts it with trim_blocks and
 * lstrip_blocks set. Private to this layer.
 *
 * The source must have its newlines as "\n" and its last one taken off
 * (tb_jinja_clean_source). Raw blocks come as data, comments not at all.
 */
#ifndef TB_JINJA_LEXER_H
#define TB_JINJA_LEXER_H

#include "arena.h"
#include "span.h"
#include "status.h"

typedef enum tb_jinja_token_kind {
    TB_JINJA_END,
    TB_JINJA_DATA,
    TB_JINJA_BLOCK_BEGIN,
    TB_JINJA_BLOCK_END,
    TB_JINJA_VARIABLE_BEGIN,
    TB_JINJA_VARIABLE_END,
    TB_JINJA_NAME,
    TB_JINJA_STRING, /* text: without escapes */
    TB_JINJA_INTEGER,
    TB_JINJA_FLOAT,
    TB_JINJA_OPERATOR, /* text: the operator */
} tb_jinja_token_kind;

struct tb_jinja_token {
    tb_jinja_token_kind kind;
    struct tb_span text;
    uint32_t line;
};

typedef enum tb_jinja_state {
    TB_JINJA_IN_DATA,
    TB_JINJA_IN_BLOCK,
    TB_JINJA_IN_VARIABLE,
    TB_JINJA_IN_RAW,
} tb_jinja_state;

enum { TB_JINJA_MAX_BRACKETS = 256 }; /* open at one place */

struct tb_jinja_lexer {
    struct tb_span source;
    struct tb_arena *arena; /* of strings with escapes */
    struct tb_error *error;
    size_t at;
    uint32_t line;
    tb_jinja_state state;
    bool is_line_start; /* the last token ended with a newline */
    bool has_pending;   /* a tag behind data that was given */
    struct tb_jinja_token pending;
    size_t bracket_count;
    uint8_t brackets[TB_JINJA_MAX_BRACKETS]; /* closing ones to come */
};

/* Copies the source with its newlines made alike. */
TB_NODISCARD tb_status tb_jinja_clean_source(struct tb_arena *arena,
                                             struct tb_span source,
                                             struct tb_span *clean);

void tb_jinja_lexer_init(struct tb_jinja_lexer *lexer, struct tb_span source,
                         struct tb_arena *arena, struct tb_error *error);

/* TB_ERR_SYNTAX with the line. */
TB_NODISCARD tb_status tb_jinja_lexer_next(struct tb_jinja_lexer *lexer,
                                           struct tb_jinja_token *token);

#endif
