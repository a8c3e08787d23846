/* One component of a tokenizer.json: a normalizer, pre-tokenizer or decoder
 * such as {"type": "Split", "pattern": {...}, ...}: its members as far as
 * anything here knows them. Private to the readers of that file. */
#ifndef TB_COMPONENT_H
#define TB_COMPONENT_H

#include "json_reader.h"
#include "tokenizer_model.h"

/* A member that is true, false, or absent. */
typedef enum tb_flag {
    TB_FLAG_ABSENT, /* or null */
    TB_FLAG_FALSE,
    TB_FLAG_TRUE,
} tb_flag;

struct tb_component {
    struct tb_span type;
    struct tb_span list;    /* raw: what a Sequence consists of */
    bool has_pattern;       /* either of these */
    struct tb_span literal; /* pattern.String */
    struct tb_span regex;   /* pattern.Regex */
    struct tb_span behavior, content, prepend, charsmap;
    struct tb_span replacement, scheme, delimiter, prefix, suffix;
    struct tb_span merges, vocab; /* raw */
    tb_flag has_prefix_space, uses_regex, is_inverted;
    tb_flag is_stripping_left, is_stripping_right;
    tb_flag is_cleaning, has_chinese, is_dropping_accents, is_lowering;
    tb_flag is_splitting, has_single_digits, is_cleaning_up;
    struct tb_json_number length, most_characters, start, stop;
};

/* The parts of the file, raw, so that they can be read in an order of ours. */
struct tb_file_parts {
    struct tb_span json; /* the whole file */
    struct tb_span added_tokens, normalizer, pre_tokenizer, model, decoder;
};

/* Reads the component that comes next; texts go into `arena`. */
TB_NODISCARD tb_status tb_component_read(struct tb_json_reader *reader,
                                         struct tb_arena *arena,
                                         struct tb_component *component);

bool tb_component_is(const struct tb_component *component, const char *type);

/* Fails with "<kind> '<name>' is not supported". */
TB_NODISCARD tb_status tb_component_refuse(struct tb_json_reader *reader,
                                           const char *kind,
                                           struct tb_span name);

/* A string that outlives the file's bytes. */
TB_NODISCARD tb_status tb_component_keep_string(struct tb_json_reader *reader,
                                                struct tb_arena *arena,
                                                struct tb_span *text);

/* Reads an added token's object; its text goes into `arena`, its id is for the
 * caller to set. */
TB_NODISCARD tb_status tb_added_token_from_json(struct tb_json_reader *reader,
                                                struct tb_arena *arena,
                                                struct tb_added_token *token);

/* A reader over one part, with places as they are in the file. */
void tb_component_open(struct tb_json_reader *reader,
                       const struct tb_file_parts *parts, struct tb_span raw);

/* Compiles a pattern; failures name the reader's place. */
TB_NODISCARD tb_status tb_component_compile(struct tb_json_reader *reader,
                                            struct tb_span pattern,
                                            struct tb_regex **regex);

/* Reads the component `raw` (which may be absent) into `tokenizer`: `add` gets
 * it, or those of a Sequence one by one, however deep they lie. */
typedef tb_status (*tb_component_fn)(struct tb_tokenizer *tokenizer,
                                     struct tb_json_reader *reader,
                                     const struct tb_component *component);
TB_NODISCARD tb_status tb_component_read_chain(
    struct tb_tokenizer *tokenizer, const struct tb_file_parts *parts,
    struct tb_span raw, tb_component_fn add, struct tb_error *error);

/* For tb_component_read_chain. */
TB_NODISCARD tb_status tb_normalizer_add(struct tb_tokenizer *tokenizer,
                                         struct tb_json_reader *reader,
                                         const struct tb_component *component);
TB_NODISCARD tb_status tb_pretokenizer_add(
    struct tb_tokenizer *tokenizer, struct tb_json_reader *reader,
    const struct tb_component *component);

#endif
