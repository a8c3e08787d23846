/* A model's chat templates, ready to render with: the one for calls with
 * tools and the one for all others, the special tokens they use, and further
 * variables. They lie beside the tokenizer, or a person gives them.
 *
 *     struct tb_chat_template_set set = {0};
 *     TB_TRY(tb_chat_template_set_read(&set, "llama/tokenizer.json",
 *                                      &overrides, error));
 *     TB_TRY(tb_chat_template_set_compile(&set, error));
 *     const struct tb_chat_template_entry *entry =
 *         tb_chat_template_set_find(&set, has_tools);
 *     ...
 *     tb_chat_template_set_release(&set);
 */
#ifndef TB_CHAT_TEMPLATE_SET_H
#define TB_CHAT_TEMPLATE_SET_H

#include "chat_template_file.h"

/* What a person gives; each may be NULL. Borrowed as long as the set lives. */
struct tb_chat_template_overrides {
    const char *path;    /* of a template, which then serves all calls */
    const char *kwargs;  /* JSON object: variables of the template */
    const char *special; /* JSON object of strings: special tokens, which win
                            over those of the tokenizer */
};

struct tb_chat_template_entry {
    struct tb_chat_template *compiled; /* NULL: there is none */
    bool takes_parts; /* it walks through contents that are lists of parts */
};

/* Zero-initialised is empty: there is no template. Read-only once open,
 * shared by threads. */
struct tb_chat_template_set {
    struct tb_chat_template_entry plain, with_tools;
    struct tb_special_token special[2 * TB_CHAT_TEMPLATE_MAX_SPECIAL];
    size_t special_count;
    struct tb_span kwargs;
    struct tb_chat_template_file file; /* private */
    const char *path; /* private: where the templates are from */
};

/* Reads what lies beside `tokenizer_path` (a file; NULL: nothing), less what
 * `overrides` (may be NULL) replaces. Both paths are borrowed. No template at
 * all is TB_OK. TB_ERR_NOT_FOUND, TB_ERR_IO for the file that was given;
 * TB_ERR_SYNTAX, TB_ERR_TYPE, TB_ERR_CUT with the place in JSON that should be
 * an object; TB_ERR_LIMIT, TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_chat_template_set_read(
    struct tb_chat_template_set *set, const char *tokenizer_path,
    const struct tb_chat_template_overrides *overrides, struct tb_error *error);

/* Compiles what was read. TB_ERR_SYNTAX with the line in the template;
 * TB_ERR_UNSUPPORTED for what jinja2 has and this has not; TB_ERR_LIMIT,
 * TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_chat_template_set_compile(
    struct tb_chat_template_set *set, struct tb_error *error);

/* The template of a call with or without tools, or NULL. */
const struct tb_chat_template_entry *
tb_chat_template_set_find(const struct tb_chat_template_set *set,
                          bool has_tools);

/* What all renderings with this set have in common. */
struct tb_chat_input
tb_chat_template_set_input(const struct tb_chat_template_set *set);

/* Names the templates and what they are given beside the messages: XXH3-128, 32
 * hex digits. False, and nothing, when there is no template. */
bool tb_chat_template_set_fingerprint(const struct tb_chat_template_set *set,
                                      char text[33]);

void tb_chat_template_set_release(struct tb_chat_template_set *set);

#endif
