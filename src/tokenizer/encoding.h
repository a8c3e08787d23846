/* What a rank file does not say: by which pattern texts are cut, and which
 * tokens are special. tiktoken ties this to names, models to Python code that
 * stands beside the file; here it is a table of those that are known, found
 * by the tokens themselves, by a name, or by the class that a model's
 * tokenizer_config.json names. Private to this layer.
 */
#ifndef TB_ENCODING_H
#define TB_ENCODING_H

#include "hash.h"
#include "pattern.h"
#include "vocab.h"

/* Special tokens in a row: `before`, a number, `behind`; when `behind` is NULL,
 * `before` is all of it. */
struct tb_special_run {
    const char *before, *behind;
    tb_token id;     /* of the first; TB_NO_TOKEN: they stand behind all ranks,
                        and their ids are their numbers */
    unsigned number; /* in the first */
    unsigned count;
};

struct tb_encoding {
    const char *name;       /* tiktoken's, or one given here */
    const char *cache_name; /* of tiktoken's copy of the file, or NULL */
    const char *class_name; /* in tokenizer_config.json, or NULL */
    tb_pattern_scan scan;
    uint32_t id_count;        /* largest rank + 1 */
    struct tb_hash128 tokens; /* see encoding.c; 0: not known by them */
    const struct tb_special_run *specials; /* ends with a count of 0 */
    bool is_filling; /* the specials are there beside those that a model's
                        configuration names, under other ids */
    bool is_nfc;     /* texts are brought to this form first */
};

/* By name; NULL: there is none. */
const struct tb_encoding *tb_encoding_of_name(const char *name);

/* By the name of a file, "<name>.tiktoken" in any folder; NULL: none. */
const struct tb_encoding *tb_encoding_of_file(const char *path);

/* By "module.Class" in a tokenizer_config.json; NULL: none. */
const struct tb_encoding *tb_encoding_of_class(struct tb_span class_name);

/* By the tokens of a vocabulary, all of them; `*encoding` is NULL for none. */
TB_NODISCARD tb_status tb_encoding_of_tokens(
    const struct tb_vocab *vocab, const struct tb_encoding **encoding);

/* By the name that tiktoken gives its copy of a file, the first of those that
 * share it; NULL: none. */
const struct tb_encoding *tb_encoding_of_cached(const char *path);

/* Where tiktoken keeps the encoding's rank file, if it is there: in
 * TIKTOKEN_CACHE_DIR, DATA_GYM_CACHE_DIR, or data-gym-cache in the folder for
 * temporary files. `path` is where it would be even if it is not; "" when
 * there is no such place. */
bool tb_encoding_find_cached(const struct tb_encoding *encoding, char *path,
                             size_t size);

#endif
