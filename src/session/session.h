/* The model that every trace dialect fills: messages, usage and times of one
 * LLM call, and sessions that are made of calls.
 *
 * A dialect yields parts: some traces tell a call in one record (a telemetry
 * line), others in two (NAT writes LLM_START and LLM_END, paired by UUID).
 * tb_session puts the parts of one session together, in file order:
 *
 *     tb_session_add(&session, &part);   // for each part
 *     tb_session_finish(&session);       // -> session.calls
 *
 * Nothing here knows tokens. Texts are UTF-8.
 */
#ifndef TB_SESSION_H
#define TB_SESSION_H

#include "arena.h"
#include "name_table.h"

typedef enum tb_content {
    TB_CONTENT_NONE, /* absent or null */
    TB_CONTENT_TEXT, /* a string: `text` */
    TB_CONTENT_JSON, /* anything else (a list of parts): `content_json` */
} tb_content;

struct tb_message {
    struct tb_span role; /* system, user, assistant, tool, or as recorded */
    tb_content content;
    bool is_bare;                /* the list held a string, not an object */
    struct tb_span text;         /* decoded; TB_CONTENT_TEXT */
    struct tb_span content_json; /* raw JSON; TB_CONTENT_JSON */
    struct tb_span json;         /* the whole message, raw JSON */
};

/* What the server counted, in tokens. Absent is not zero. */
struct tb_usage {
    uint64_t prompt;     /* all of the prompt, cached part included */
    uint64_t completion; /* reasoning included */
    uint64_t cached;     /* part of prompt that the server's cache had */
    uint64_t reasoning;
    bool has_prompt, has_completion, has_cached, has_reasoning;
};

struct tb_call {
    struct tb_span key;      /* pairs the parts of a call; empty: whole */
    struct tb_span model;    /* as recorded */
    struct tb_span agent;    /* function or agent that made the call */
    struct tb_span priority; /* telemetry's latency_priority */
    bool has_priority;       /* false: absent */
    bool is_priority_null;
    double start_s, end_s; /* seconds since 1970 UTC; NAN: not known */
    double first_token_s;  /* when the answer began to come; NAN: not known */
    uint64_t invocation;   /* which run of the agent made the call, a hash; 0:
                              not known */
    struct tb_usage usage;
    /* The prompt. Borrowed from the record and its arena: not there any more
     * in tb_session.calls. */
    struct tb_message *messages;
    size_t message_count;
    struct tb_span tools;  /* raw JSON list, or empty */
    struct tb_span answer; /* recorded text of the answer, or empty */
    uint64_t tools_hash;   /* of `tools`; 0: none */
    /* What happened while reading it. */
    uint32_t lone_surrogate_count;
    uint32_t bad_utf8_count;
    uint32_t image_count; /* parts that are no text */
    uint64_t offset;      /* of the record in its file */
    uint64_t line;
    uint64_t prompt_number; /* the caller's: which prompt this is */
    uint64_t answer_number; /* ... and which answer; an end brings its own */
};

typedef enum tb_part_kind {
    TB_PART_NONE,  /* the record is no LLM call */
    TB_PART_START, /* prompt known, usage and end not yet */
    TB_PART_END,   /* usage and end known */
    TB_PART_WHOLE, /* everything in one record */
    TB_PART_TOKEN, /* a piece of the answer came, at start_s */
} tb_part_kind;

struct tb_part {
    tb_part_kind kind;
    struct tb_call call;
};

typedef enum tb_call_state {
    TB_CALL_ANSWERED,
    TB_CALL_NO_END,        /* started, never ended: failed or retried */
    TB_CALL_NO_START,      /* ended, never started: no prompt */
    TB_CALL_DUPLICATE_END, /* ended again */
} tb_call_state;

typedef enum tb_call_order {
    TB_ORDER_START, /* by start, then by file order */
    TB_ORDER_END,   /* by end, an unknown one as 0 (the Python converter) */
    TB_ORDER_FILE,  /* as the parts came */
} tb_call_order;

struct tb_session_call {
    struct tb_call call; /* texts live in the session's arena */
    tb_call_state state;
    uint32_t file_index; /* order of arrival, of the part that made it */
};

/* Parts and calls of one session. Zero-initialised is empty and ready;
 * reset for the next session. One thread at a time. */
struct tb_session {
    struct tb_arena arena;
    struct tb_part *parts; /* in order of arrival */
    size_t part_count, parts_capacity;
    struct tb_name_table keys;
    uint32_t *starts; /* by key number: index of the last start + 1 */
    size_t starts_capacity;
    struct tb_name_table token_keys; /* keys of TB_PART_TOKEN */
    double *first_tokens;            /* by their number: when the first came */
    size_t first_tokens_capacity;
    struct tb_session_call *calls; /* valid after finish */
    size_t call_count, calls_capacity;
};

/* Takes over a part; its texts but messages, tools and answer are copied. Of
 * TB_PART_TOKEN only the earliest of each key is kept. */
TB_NODISCARD tb_status tb_session_add(struct tb_session *session,
                                      const struct tb_part *part);

/* Pairs the parts and orders the calls. A start that came twice with one key
 * counts as the last; an end may stand before its start. With
 * `keep_duplicate_ends` each further end of a key is an answered call of its
 * own, as the Python converter has it; without, it is TB_CALL_DUPLICATE_END.
 * Every start and every end ends up in exactly one call. */
TB_NODISCARD tb_status tb_session_finish(struct tb_session *session,
                                         tb_call_order order,
                                         bool keep_duplicate_ends);

void tb_session_reset(struct tb_session *session);
void tb_session_release(struct tb_session *session);

#endif
