/* Why a replay was not the recorded load, as far as the run, its settings and
 * the rows' meta file tell: each cause in a sentence, and what to change. */
#ifndef TB_REPLAY_CAUSE_H
#define TB_REPLAY_CAUSE_H

#include "replay_check.h"
#include "replay_run.h"

typedef enum tb_replay_cause_kind {
    TB_CAUSE_NO_REQUESTS,  /* the run ended before it sent any */
    TB_CAUSE_OTHER_ROWS,   /* the calls are not those of the rows */
    TB_CAUSE_BLOCK_SIZE,   /* the run's is not the rows' */
    TB_CAUSE_WHOLE_ROWS,   /* whole prompts were read as increments */
    TB_CAUSE_TEMPLATE,     /* it was put around prompts that had it, or not
                              around prompts without; or it is another one */
    TB_CAUSE_TOKENIZER,    /* the run's is not the rows' */
    TB_CAUSE_FEW_REQUESTS, /* the run was told to send no more */
    TB_CAUSE_REPEATED,     /* sessions were played more than once */
    TB_CAUSE_CANCELLED,    /* the run was */
    TB_CAUSE_FAILED,       /* requests were answered by errors */
    TB_CAUSE_OUTPUT,       /* answers are not as long as they were asked for */
    TB_CAUSE_NOT_COUNTED,  /* nobody told how long something was */
    TB_CAUSE_LATE,         /* turns did not come when they should have */
    TB_CAUSE_STARTS,       /* sessions did not begin when they should have */
    TB_CAUSE_COUNT,
} tb_replay_cause_kind;

/* A constant name for programs such as "block-size". */
const char *tb_replay_cause_name(tb_replay_cause_kind kind);

struct tb_replay_cause {
    tb_replay_cause_kind kind;
    char message[640]; /* what is the case: no full stop, lower case */
    char change[320];  /* what to change */
};

/* Each kind at most once, in the order of the kinds. */
struct tb_replay_causes {
    struct tb_replay_cause items[TB_CAUSE_COUNT];
    size_t count;
};

/* What is known of the rows, from their meta file; 0, NULL and UNKNOWN are: not
 * known. Borrowed. */
struct tb_replayed_rows {
    bool is_known; /* there is such a file */
    tb_replay_rows kind;
    uint64_t block_size; /* that they were made with */
    uint64_t row_count;
    const char *tokenizer; /* that they were made with */
};

/* Looks for causes. None is found where the check is equal, but one: of another
 * block size other blocks are shared, whatever the lengths are; so a replay was
 * the recorded load when its check is equal and there are no causes. */
void tb_replay_causes_find(const struct tb_replay_check *check,
                           const struct tb_replay_run *run,
                           const struct tb_replayed_rows *rows,
                           struct tb_replay_causes *causes);

#endif
