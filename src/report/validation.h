/* What a check of rows found, told to a person or to a program.
 * TB_ERR_LIMIT and TB_ERR_MEMORY leave a part of it in `buffer`. */
#ifndef TB_VALIDATION_H
#define TB_VALIDATION_H

#include "buffer.h"
#include "validator.h"

/* What was checked, for both forms. All borrowed. */
struct tb_validation {
    const char *path;
    tb_mooncake_consumer consumer;
    uint32_t block_size;
    const char *block_size_origin; /* "given", "meta" or "default" */
    const struct tb_validation_counts *counts;
};

/* Lines for one finding: where, what and the rule's name; for the rule's first
 * also what the consumer will do, and what to change. */
TB_NODISCARD tb_status tb_finding_text(const struct tb_finding *finding,
                                       tb_mooncake_consumer consumer,
                                       struct tb_buffer *buffer);

/* Behind all findings: what was not shown because there are more than
 * `shown_max` of a rule, and one line that counts. */
TB_NODISCARD tb_status
tb_validation_text(const struct tb_validation *validation, uint64_t shown_max,
                   struct tb_buffer *buffer);

/* One finding as a JSON object without a newline: rule, fatal, line, offset,
 * json_path, message, consequence, change. */
TB_NODISCARD tb_status tb_finding_json(const struct tb_finding *finding,
                                       tb_mooncake_consumer consumer,
                                       struct tb_buffer *buffer);

/* One JSON object on one line. All keys are always there, and stay:
 *
 * path, for             what was checked, and for whom
 * block_size            tokens; block_size_origin: given, meta or default
 * good                  no rule is broken whose breaking ends the run
 * rows, sessions, ids   numbers; ids are distinct ones
 * fatal, warnings       numbers of findings
 * rules                 object: name of a broken rule -> how often
 * findings              list of objects as tb_finding_json writes them;
 *                       `findings` here is the inside of that list
 */
TB_NODISCARD tb_status
tb_validation_json(const struct tb_validation *validation,
                   struct tb_span findings, struct tb_buffer *buffer);

#endif
