/* The rules that rows must keep for a consumer, what it does when one is
 * broken, and what to change. docs/FORMATS.md tells where they are from. */
#ifndef TB_MOONCAKE_RULE_H
#define TB_MOONCAKE_RULE_H

#include <stdbool.h>

typedef enum tb_mooncake_consumer {
    TB_MOONCAKE_FOR_AIPERF,   /* aiperf 0.13.0, mooncake_trace */
    TB_MOONCAKE_FOR_MOONCAKE, /* the published form, whole prompts */
    TB_MOONCAKE_FOR_DYNAMO,   /* dynamo.replay, --trace-format mooncake */
    TB_MOONCAKE_CONSUMER_COUNT,
} tb_mooncake_consumer;

/* "aiperf", "mooncake", "dynamo" */
const char *tb_mooncake_consumer_name(tb_mooncake_consumer consumer);

typedef enum tb_mooncake_rule {
    TB_RULE_FILE,       /* cannot be read as the consumer reads files */
    TB_RULE_ROWS,       /* a file without rows */
    TB_RULE_JSON,       /* a line is one JSON value */
    TB_RULE_JSON_VALUE, /* ... whose texts and numbers exist */
    TB_RULE_OBJECT,     /* ... and an object */
    TB_RULE_FIELD_TYPE, /* a field is of the right kind */
    TB_RULE_KEY_TWICE,  /* no key twice */
    TB_RULE_PROMPT,     /* one field says what the prompt is */
    TB_RULE_IDS_ALONE,  /* hash_ids only beside input_length */
    TB_RULE_TOOLS,      /* tools only beside messages, and some */
    TB_RULE_MESSAGES,   /* some, each with a role */
    TB_RULE_MISSING,    /* a field that must be there */
    TB_RULE_INPUT_LENGTH,
    TB_RULE_EMPTY_PROMPT, /* a prompt has tokens */
    TB_RULE_OUTPUT_LENGTH,
    TB_RULE_IDS_MORE,      /* no more ids than blocks */
    TB_RULE_IDS_FEWER,     /* no fewer ids than blocks */
    TB_RULE_ID_SIZE,       /* an id has one size in the whole file */
    TB_RULE_ID_PREFIX,     /* an id stands behind one id only */
    TB_RULE_BLOCK_SIZE,    /* the file was made with another one */
    TB_RULE_SESSION_KINDS, /* one kind of prompt in a session */
    TB_RULE_WHOLE_ROWS,    /* rows mean what the consumer reads */
    TB_RULE_DELTA_ROWS,
    TB_RULE_FIRST_TIME,   /* when the file is a schedule, each session begins */
    TB_RULE_UNUSED_TIMES, /* timestamps in a file that is no schedule */
    TB_RULE_TIME_ORDER,   /* turns follow each other in time */
    TB_RULE_TIME_VALUE,   /* times are finite and not negative */
    TB_RULE_FIRST_DELAY,  /* no delay before a session's first row */
    TB_RULE_DELAY_UNUSED, /* delay beside a timestamp that wins */
    TB_RULE_COUNT,
} tb_mooncake_rule;

/* What a broken rule means to a consumer. Constant texts, never NULL. */
struct tb_mooncake_rule_text {
    const char *consequence; /* "aiperf stops while it loads the file" */
    const char *change;      /* "give every session's first row a timestamp" */
};

/* A short name for programs such as "id-size"; stays. */
const char *tb_mooncake_rule_name(tb_mooncake_rule rule);

/* Does breaking it end the run, rather than replay something else? */
bool tb_mooncake_rule_is_fatal(tb_mooncake_rule rule,
                               tb_mooncake_consumer consumer);

struct tb_mooncake_rule_text
tb_mooncake_rule_text(tb_mooncake_rule rule, tb_mooncake_consumer consumer);

#endif
