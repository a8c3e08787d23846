/* The file beside the rows, <output>.meta.json: what a reader of the rows must
 * know and the rows cannot say. Replaying with another block size or another
 * tokenizer loads without complaint and is another load. */
#ifndef TB_META_H
#define TB_META_H

#include "buffer.h"
#include "stats.h"

struct tb_meta_input {
    const char *path;
    uint64_t size;           /* bytes, uncompressed */
    const char *fingerprint; /* XXH3-128 of them, 32 hex digits */
};

/* What stats do not hold. All borrowed. */
struct tb_meta {
    const char *version; /* of tracebake */
    const char *command; /* how the run was asked for; NULL: left out */
    const struct tb_meta_input *inputs;
    size_t input_count;
    bool does_usage_lead; /* the server's counts are the input lengths */
    bool has_delay;
    uint64_t delay_ms;
};

/* Appends one JSON object, indented, with a newline at its end. The same run
 * gives the same bytes: no times in it. TB_ERR_LIMIT, TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_meta_json(const struct tb_meta *meta,
                                    const struct tb_stats *stats,
                                    struct tb_buffer *buffer);

#endif
