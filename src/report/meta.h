/* The file beside the rows, <output>.meta.json: what a reader of the rows must
 * know and the rows cannot say. Replaying with another block size or another
 * tokenizer loads without complaint and is another load. */
#ifndef TB_META_H
#define TB_META_H

#include "buffer.h"
#include "stats.h"

enum { TB_META_FORMAT = 1 }; /* grows when a key changes its meaning */

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
    bool has_content_ids;    /* ids that are the same in every run: */
    const char *secret_name; /* ... made with this secret, or NULL */
    struct tb_span options;  /* ... on these terms: a JSON object */
    bool has_timestamps;     /* ... which are then since 1970, */
    uint64_t first_ms;       /* ... and should count from here */
};

/* Appends one JSON object, indented, with a newline at its end. The same run
 * gives the same bytes: no times in it. TB_ERR_LIMIT, TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_meta_json(const struct tb_meta *meta,
                                    const struct tb_stats *stats,
                                    struct tb_buffer *buffer);

/* What a meta file says about how to read the rows beside it. */
struct tb_meta_reading {
    bool is_found;       /* there is one, and it could be read */
    bool has_prompt;     /* it says what a row holds: */
    bool is_delta;       /* ... what a turn adds, or the whole prompt */
    bool is_messages;    /* it holds messages; has_prompt is false then */
    uint32_t block_size; /* 0: not said */
    uint64_t row_count;  /* 0: not said */
    bool has_format;     /* it says what the traces were: */
    bool is_telemetry;   /* ... telemetry, or NAT's */
    bool is_compat;      /* rows are what the Python converters write */
    bool has_content_ids;
    char tokenizer[256]; /* its name, or "" */
};

/* Appends the content of the meta file of the rows at `path`; nothing when
 * there is none. "-" has none. TB_ERR_MEMORY, TB_ERR_IO, TB_ERR_LIMIT. */
TB_NODISCARD tb_status tb_meta_content(const char *path,
                                       struct tb_buffer *content,
                                       struct tb_error *error);

/* Reads the meta file of the rows at `path`, if there is one: none, or one
 * that says nothing of the kind, is no failure. "-" has none. TB_ERR_MEMORY,
 * and TB_ERR_IO for one that cannot be opened or read: nobody may take it for
 * absent. */
TB_NODISCARD tb_status tb_meta_read(const char *path,
                                    struct tb_meta_reading *reading,
                                    struct tb_error *error);

#endif
