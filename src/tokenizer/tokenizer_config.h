/* The tokenizer_config.json that stands beside a model's vocabulary: which
 * class reads the vocabulary, and what tokens were added to it. Private to
 * this layer. */
#ifndef TB_TOKENIZER_CONFIG_H
#define TB_TOKENIZER_CONFIG_H

#include "added_token.h"
#include "arena.h"

struct tb_tokenizer_config {
    struct tb_span class_name;     /* auto_map's, "module.Class"; or empty */
    struct tb_added_token *tokens; /* of added_tokens_decoder */
    size_t count, capacity;
};

/* Reads the file in the folder of `path`; `config` is empty when there is
 * none. Texts are kept in `arena`. Release `config` even after a failure. */
TB_NODISCARD tb_status tb_tokenizer_config_read(
    struct tb_tokenizer_config *config, struct tb_arena *arena,
    const char *path, struct tb_error *error);

void tb_tokenizer_config_release(struct tb_tokenizer_config *config);

/* The file's path; false when it is too long. It need not exist. */
bool tb_tokenizer_config_path(const char *path, char *config_path, size_t size);

#endif
