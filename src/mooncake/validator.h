/* Would a consumer load a file of rows, and replay it as meant?
 *
 *     TB_TRY(tb_validator_new(&options, &validator));
 *     while (... a line ...)
 *         TB_TRY(tb_validator_add(validator, line, offset, number));
 *     tb_validator_finish(validator);
 *     tb_validator_counts(validator)->fatal_count  ->  0: it would
 *
 * Streaming: memory is that of id_sizes.h for each distinct id, and some for
 * each session. One thread at a time.
 */
#ifndef TB_VALIDATOR_H
#define TB_VALIDATOR_H

#include "mooncake_rule.h"
#include "status.h"

struct tb_finding {
    tb_mooncake_rule rule;
    bool is_fatal;
    uint64_t number;       /* of this rule, from 1 */
    struct tb_error place; /* file, line, offset, JSON path, what is wrong */
};

typedef enum tb_row_meaning { /* what rows are said to mean */
                              TB_MEANING_UNKNOWN,
                              TB_MEANING_WHOLE,
                              TB_MEANING_DELTA,
} tb_row_meaning;

struct tb_validator_options {
    const char *path; /* for places; borrowed */
    tb_mooncake_consumer consumer;
    uint32_t block_size;      /* tokens, at least 1 */
    uint32_t made_block_size; /* that the rows are said to have, or 0 */
    tb_row_meaning rows;      /* by what lies beside the file */
    uint64_t shown_max;       /* findings of a rule that are handed on */
    void (*on_finding)(void *context, const struct tb_finding *finding);
    void *context;
};

struct tb_validation_counts {
    uint64_t row_count;     /* lines that are rows, good or bad */
    uint64_t session_count; /* of rows with the right fields; those without a
                               session are one each */
    uint64_t id_count;      /* distinct */
    uint64_t broken[TB_RULE_COUNT];
    uint64_t fatal_count, warning_count; /* sums of them */
};

struct tb_validator;

/* TB_ERR_MEMORY */
TB_NODISCARD tb_status
tb_validator_new(const struct tb_validator_options *options,
                 struct tb_validator **validator);

/* Takes the next line, without white space around. Only TB_ERR_MEMORY: what is
 * wrong with the line is a finding. */
TB_NODISCARD tb_status tb_validator_add(struct tb_validator *validator,
                                        struct tb_span line, uint64_t offset,
                                        uint64_t line_number);

/* The file itself cannot be read on: `error` says why. */
void tb_validator_add_unreadable(struct tb_validator *validator,
                                 const struct tb_error *error);

/* What only the whole file tells. Call it once, behind the last line. */
void tb_validator_finish(struct tb_validator *validator);

const struct tb_validation_counts *
tb_validator_counts(const struct tb_validator *validator);

/* NULL is accepted. */
void tb_validator_free(struct tb_validator *validator);

#endif
