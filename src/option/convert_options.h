/* The options of `tracebake nat` and `tracebake telemetry`, and what a
 * conversion is told by them. */
#ifndef TB_CONVERT_OPTIONS_H
#define TB_CONVERT_OPTIONS_H

#include "convert.h"
#include "option.h"

/* In the order of the words in the tables. */
enum { TB_ARG_STATS_TEXT, TB_ARG_STATS_JSON, TB_ARG_STATS_NONE };
enum { TB_ARG_UNSET = -1 };

/* What was typed. */
struct tb_convert_arguments {
    struct tb_text_list inputs;
    const char *files_from;
    const char *output;
    const char *calls;
    const char *report;
    const char *tokenizer;
    struct tb_chat_template_overrides templates;
    uint64_t block_size;
    uint64_t skip_requests, max_requests;
    const char *delay, *max_delay, *speedup;
    int lengths, prompt, session_prefix, rows, endpoint, timestamps, consumer,
        stats, ids;
    const char *salt_file;
    bool keeps_failed, is_compat, is_strict, is_dry_run, is_quiet, is_help;
    bool has_no_reuse;
    uint64_t threads;
    uint64_t max_memory; /* bytes; 0: no limit */
};

/* Nothing typed yet. */
struct tb_convert_arguments tb_convert_arguments_none(void);

/* The table of options of a dialect's command. */
const struct tb_option_table *tb_convert_option_table(tb_dialect_id dialect);

/* Checks what was typed, but the inputs, and fills `options` with it.
 * TB_ERR_USAGE with what to type instead. */
TB_NODISCARD tb_status tb_convert_arguments_apply(
    const struct tb_convert_arguments *arguments,
    struct tb_convert_options *options, struct tb_error *error);

#endif
