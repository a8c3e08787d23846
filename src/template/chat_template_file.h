/* The chat template and special tokens that lie beside a tokenizer:
 *
 *     chat_template.jinja      the template
 *     tokenizer_config.json    `chat_template`, a string or a list of
 *                              {"name": "default", "template": ..} and
 *                              "tool_use"; `bos_token` and its like, strings
 *                              or {"content": ..}
 *     chat_template.json       {"chat_template": ..}
 *
 * In this order, as transformers looks for them. */
#ifndef TB_CHAT_TEMPLATE_FILE_H
#define TB_CHAT_TEMPLATE_FILE_H

#include "chat_template.h"

enum { TB_CHAT_TEMPLATE_MAX_SPECIAL = 16 };

/* Zero-initialised is empty. */
struct tb_chat_template_file {
    struct tb_arena arena; /* holds all texts */
    struct tb_span source; /* of the default template; no ptr: there is none */
    struct tb_span tool_source; /* for calls with tools; no ptr: the default */
    struct tb_special_token special[TB_CHAT_TEMPLATE_MAX_SPECIAL];
    size_t special_count;
};

/* Reads what there is in the folder of `tokenizer_path` (a tokenizer.json).
 * Nothing there is TB_OK with nothing in it. TB_ERR_SYNTAX, TB_ERR_TYPE,
 * TB_ERR_CUT with the place, TB_ERR_IO, TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_chat_template_file_read(
    const char *tokenizer_path, struct tb_chat_template_file *file,
    struct tb_error *error);

void tb_chat_template_file_release(struct tb_chat_template_file *file);

#endif
