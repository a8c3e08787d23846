/* The telemetry trace: one event a line, of all sessions as they happened;
 * llm_call events become calls, all else is skipped.
 *
 * Two passes, since rows go out by session and time. The first looks at three
 * fields of each event and keeps 40 bytes for each call; those are sorted, and
 * the second pass reads the calls again by their offsets.
 *
 * Where an event ends is found by its brackets, not by its line: two events
 * may be glued together on one line (the writer was killed and started again),
 * and one may span several (printed by hand). But a line that begins with '{'
 * always begins an event, so that one that is cut off costs itself alone. The
 * stretch from one such line to the next is called a chunk.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dialect.h"
#include "hash.h"
#include "json_reader.h"
#include "memory.h"
#include "name_table.h"
#include "python_repr.h"
#include "record_fields.h"
#include "telemetry_record.h"
#include "timestamp.h"

enum {
    READ_LEN = 256 << 10,
    CHUNK_MAX_CUTS = 16, /* lines of a chunk that are tried again in vain */
    ID_MAX_LEN = 1 << 20,
};

/* A call, as the first pass keeps it. */
struct entry {
    int64_t
        time; /* ns, or with is_compat anything that orders as Python does */
    uint64_t offset;
    uint64_t line;
    uint32_t session; /* number, after the first pass rank of its name */
    uint32_t length;  /* bytes */
    int16_t rest;     /* orders calls of equal `time` */
    uint32_t hash;    /* of its bytes, to know them again */
};

/* What kind of timestamps a session has: with is_compat the first one decides,
 * since Python cannot compare the others with it. */
typedef enum time_kind {
    TIME_UNKNOWN,
    TIME_NUMBER,
    TIME_TEXT,
    TIME_NULL,
} time_kind;

struct time {
    time_kind kind;
    int64_t value;
    int16_t rest;
};

struct session {
    struct time latest; /* of the last call that has one */
};

typedef enum telemetry_state {
    READING, /* first pass */
    GIVING,  /* second pass, before the next call */
    ENDED,
} telemetry_state;

struct telemetry {
    struct tb_input *input;
    struct tb_trace_options options;
    telemetry_state state;
    struct tb_arena scratch; /* of one event */
    struct tb_buffer id;     /* session_id that is no string */
    /* first pass: bytes of the file */
    struct tb_buffer window;
    size_t at;              /* of the chunk, in the window */
    uint64_t window_offset; /* of the window, in the file */
    bool is_at_end;         /* the input has no more */
    /* the chunk being read */
    struct tb_span chunk;
    struct tb_json_reader reader; /* over the rest of it: */
    size_t rest_at;               /* where that begins, in the chunk */
    uint64_t rest_line;
    bool has_chunk;
    unsigned cut_count;
    /* what the first pass found */
    struct tb_name_table names; /* of sessions */
    struct session *sessions;   /* by number */
    size_t sessions_capacity;
    struct tb_name_table times; /* is_compat: timestamps that are strings */
    struct entry *entries;
    size_t entry_count, entries_capacity;
    /* second pass */
    uint32_t *by_rank; /* number of the session of a rank */
    size_t next;       /* entry */
    bool has_begun;    /* a session has, of this: */
    uint32_t rank;
    struct tb_buffer record;
    struct tb_trace_counts counts;
};

static void telemetry_close(void *state)
{
    struct telemetry *t = state;
    if (!t)
        return;
    tb_arena_release(&t->scratch);
    tb_buffer_release(&t->id);
    tb_buffer_release(&t->window);
    tb_buffer_release(&t->record);
    tb_name_table_release(&t->names);
    tb_name_table_release(&t->times);
    tb_memory_free(t->sessions);
    tb_memory_free(t->entries);
    tb_memory_free(t->by_rank);
    tb_memory_free(t);
}

static tb_status telemetry_open(const struct tb_trace_options *options,
                                struct tb_input *input, void **state,
                                struct tb_error *error)
{
    TB_TRY(tb_input_keep(input, error));
    struct telemetry *t = tb_memory_zeroed(1, sizeof(*t));
    if (!t)
        return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    t->input = input;
    t->options = *options;
    t->counts.first_s = NAN;
    t->rest_line = 1;
    t->id = TB_BUFFER(ID_MAX_LEN);
    t->window = TB_BUFFER(TB_JSON_MAX_VALUE_LEN);
    t->record = TB_BUFFER(TB_JSON_MAX_VALUE_LEN);
    *state = t;
    return TB_OK;
}

static struct tb_trace_counts telemetry_counts(const void *state)
{
    const struct telemetry *t = state;
    return t->counts;
}

/* ---- chunks ----------------------------------------------------------- */

// Reads more behind the window's end, dropping what is before the chunk.
static tb_status read_more(struct telemetry *t, struct tb_error *error)
{
    size_t len;
    if (t->at > 0) {
        t->window.len -= t->at;
        memmove(t->window.ptr, t->window.ptr + t->at, t->window.len);
        t->window_offset += t->at;
        t->at = 0;
    }
    tb_status status = tb_buffer_reserve(&t->window, READ_LEN);
    if (status != TB_OK)
        return tb_fail(error, status, "an event is too long to hold");
    TB_TRY(tb_input_read(t->input, t->window.ptr + t->window.len,
                         t->window.capacity - t->window.len, &len, error));
    t->window.len += len;
    t->counts.bytes_read += len;
    t->is_at_end = len == 0;
    return TB_OK;
}

/* Finds where the chunk ends: before a line that begins with '{'. `searched`
 * bytes of it are known to have no such end. False: more must be read. */
static bool find_end(const struct telemetry *t, size_t *searched)
{
    const uint8_t *end = t->window.ptr + t->window.len;
    for (;;) {
        const uint8_t *from = t->window.ptr + t->at + *searched;
        const uint8_t *newline =
            from < end ? memchr(from, '\n', (size_t)(end - from)) : NULL;
        if (!newline || newline + 1 == end) {
            // The newline at the very end is looked at again.
            const uint8_t *seen = newline ? newline : end;
            *searched = (size_t)(seen - t->window.ptr) - t->at;
            if (t->is_at_end)
                *searched = t->window.len - t->at;
            return t->is_at_end;
        }
        *searched = (size_t)(newline + 1 - t->window.ptr) - t->at;
        if (newline[1] == '{')
            return true;
    }
}

/* Goes on reading at `at`, so that no newline is counted twice however many
 * events a chunk has. */
static void go_on(struct telemetry *t, size_t at)
{
    struct tb_span rest = tb_span_from(t->chunk, at);
    struct tb_span passed = {t->chunk.ptr + t->rest_at, at - t->rest_at};
    t->rest_line += tb_span_count(passed, '\n');
    t->rest_at = at;
    tb_json_reader_init_span(&t->reader, rest, t->window_offset + t->at + at,
                             t->rest_line);
}

// Makes the next chunk the current one; none at the end of the file.
static tb_status next_chunk(struct telemetry *t, struct tb_error *error)
{
    if (t->chunk.ptr) {
        go_on(t, t->chunk.len);
        t->at += t->chunk.len;
        t->chunk = (struct tb_span){0};
    }
    size_t searched = 0;
    while (t->window.len == 0 || !find_end(t, &searched)) {
        if (t->is_at_end)
            break;
        TB_TRY(read_more(t, error));
    }
    t->has_chunk = searched > 0;
    if (!t->has_chunk)
        return TB_OK;
    t->chunk = (struct tb_span){t->window.ptr + t->at, searched};
    t->cut_count = 0;
    t->rest_at = 0;
    go_on(t, 0);
    return TB_OK;
}

/* ---- losses ----------------------------------------------------------- */

static bool is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

// Where the line behind the one at `at` begins, in the chunk.
static size_t next_line(struct tb_span chunk, size_t at)
{
    const uint8_t *newline = memchr(chunk.ptr + at, '\n', chunk.len - at);
    return newline ? (size_t)(newline + 1 - chunk.ptr) : chunk.len;
}

static bool begins_event(struct tb_span chunk, size_t at)
{
    while (at < chunk.len && is_blank(chunk.ptr[at]))
        at++;
    return at < chunk.len && chunk.ptr[at] == '{';
}

/* Goes on behind the event at `at` that could not be read: at the next line,
 * or, when it began as an event, at the next line that begins one. */
static void skip_broken(struct telemetry *t, size_t at, bool is_cut)
{
    bool was_event = begins_event(t->chunk, at);
    size_t next = next_line(t->chunk, at);
    while (was_event && next < t->chunk.len && !begins_event(t->chunk, next))
        next = next_line(t->chunk, next);
    t->cut_count += is_cut;
    // Each cut has read the chunk to its end: a few may, not thousands.
    if (t->cut_count >= CHUNK_MAX_CUTS)
        next = t->chunk.len;
    go_on(t, next);
}

static void lose(struct telemetry *t, struct tb_trace_event *event,
                 tb_loss loss)
{
    tb_dialect_make_loss(event, loss, &t->reader.error, t->input);
}

// Back to the event at `at`, which is also the place of an error at its end.
static void go_on_with_error(struct telemetry *t, size_t at, bool is_place)
{
    struct tb_error error = t->reader.error;
    go_on(t, at);
    t->reader.error = error;
    if (is_place) {
        t->reader.error.offset = tb_json_offset(&t->reader);
        t->reader.error.line = t->rest_line;
    }
}

// The event at `offset` is broken.
static tb_status lose_broken(struct telemetry *t, struct tb_trace_event *event,
                             tb_status status, uint64_t offset)
{
    tb_loss loss;
    if (!tb_dialect_is_loss(status, &loss))
        return status;
    bool is_cut = status == TB_ERR_CUT;
    bool is_last = t->is_at_end && t->at + t->chunk.len == t->window.len;
    size_t at = (size_t)(offset - t->window_offset) - t->at;
    if (is_cut && !is_last) {
        loss = TB_LOSS_SYNTAX;
        (void)tb_json_fail(&t->reader, TB_ERR_SYNTAX,
                           "the next line begins inside a value");
    }
    go_on_with_error(t, at, is_cut);
    lose(t, event, loss);
    skip_broken(t, at, is_cut);
    return TB_OK;
}

/* ---- first pass ------------------------------------------------------- */

/* The fields of an event that decide where it goes. */
struct head {
    bool is_call;
    struct tb_span session; /* empty pointer: none */
    bool has_time;
    struct time time;
};

/* Doubles as integers that compare alike: those below zero count backwards. */
static int64_t order_of_double(double value)
{
    int64_t bits;
    value += 0.0; // no negative zero
    memcpy(&bits, &value, sizeof(bits));
    return bits < 0 ? INT64_MIN - bits : bits;
}

// As Python compares numbers: integers exactly, however large.
static struct time time_of_number(const struct tb_json_number *number)
{
    struct time time = {.kind = TIME_NUMBER};
    double value = number->value;
    if (tb_span_equal(number->text, TB_SPAN("Infinity")))
        value = INFINITY;
    else if (tb_span_equal(number->text, TB_SPAN("-Infinity")))
        value = -INFINITY;
    else if (isnan(value))
        return (struct time){.kind = TIME_UNKNOWN};
    time.value = order_of_double(value);
    // 2^63 itself does not fit; below it rounding is off by 512 at the most.
    if (number->is_integer && fabs(value) < 0x1p63)
        time.rest = (int16_t)(number->integer - (int64_t)value);
    return time;
}

static tb_status read_python_time(struct telemetry *t, struct head *head)
{
    tb_json_type type;
    struct tb_span text;
    struct tb_json_number number;
    uint32_t name;
    TB_TRY(tb_json_peek(&t->reader, &type));
    head->has_time = true;
    switch (type) {
    case TB_JSON_STRING:
        TB_TRY(tb_json_read_string(&t->reader, &t->scratch, &text));
        TB_TRY(tb_name_table_add(&t->times, text, &name));
        head->time = (struct time){.kind = TIME_TEXT, .value = name};
        return TB_OK;
    case TB_JSON_NUMBER:
        TB_TRY(tb_json_read_number(&t->reader, &number));
        head->time = time_of_number(&number);
        return TB_OK;
    case TB_JSON_NULL:
        head->time = (struct time){.kind = TIME_NULL};
        return tb_json_skip(&t->reader);
    default:
        head->has_time = false;
        return tb_json_skip(&t->reader);
    }
}

static tb_status read_time(struct telemetry *t, struct head *head)
{
    if (t->options.is_compat)
        return read_python_time(t, head);
    bool is_known;
    TB_TRY(tb_timestamp_read(&t->reader, &t->scratch, &head->time.value,
                             &is_known));
    head->time.kind = is_known ? TIME_NUMBER : TIME_UNKNOWN;
    return TB_OK;
}

// A string as it is, a number as Python prints it.
static tb_status read_session(struct telemetry *t, struct head *head)
{
    tb_json_type type;
    struct tb_span raw;
    TB_TRY(tb_json_peek(&t->reader, &type));
    if (type != TB_JSON_NUMBER)
        return tb_field_string(&t->reader, &t->scratch, &head->session);
    TB_TRY(tb_json_read_raw(&t->reader, &raw));
    tb_buffer_clear(&t->id);
    TB_TRY(tb_python_repr(raw, &t->id, &t->reader.error));
    return tb_arena_copy(&t->scratch, tb_buffer_span(&t->id), &head->session);
}

static tb_status read_head(struct telemetry *t, struct head *head)
{
    struct tb_json_reader *reader = &t->reader;
    uint32_t depth = tb_json_depth(reader);
    struct tb_span raw;
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            return TB_OK;
        if (tb_span_equal(key, TB_SPAN("event_type"))) {
            TB_TRY(tb_json_read_raw(reader, &raw));
            head->is_call = tb_span_equal(raw, TB_SPAN("\"llm_call\""));
            if (!head->is_call)
                return tb_json_leave_to(reader, depth);
        } else if (tb_span_equal(key, TB_SPAN("session_id"))) {
            TB_TRY(read_session(t, head));
        } else if (tb_span_equal(key, TB_SPAN("timestamp"))) {
            TB_TRY(read_time(t, head));
        } else {
            TB_TRY(tb_json_skip(reader));
        }
    }
}

static tb_status find_session(struct telemetry *t, const struct head *head,
                              uint64_t line, uint32_t *number)
{
    struct tb_span name = head->session;
    uint32_t known = t->names.count;
    if (!name.ptr) {
        tb_buffer_clear(&t->id);
        TB_TRY(tb_buffer_append(&t->id, TB_SPAN("line_")));
        TB_TRY(tb_buffer_append_u64(&t->id, line));
        name = tb_buffer_span(&t->id);
    }
    TB_TRY(tb_name_table_add(&t->names, name, number));
    struct session *sessions = tb_array_grow(t->sessions, &t->sessions_capacity,
                                             t->names.count, sizeof(*sessions));
    if (!sessions)
        return TB_ERR_MEMORY;
    t->sessions = sessions;
    if (*number == known)
        sessions[known] = (struct session){.latest = {.value = INT64_MIN}};
    return TB_OK;
}

/* Keeps a call for the second pass. A time that is not known is that of the
 * call before it in its session. */
static tb_status keep(struct telemetry *t, const struct head *head,
                      struct entry entry, const char **refusal)
{
    TB_TRY(find_session(t, head, entry.line, &entry.session));
    struct time *latest = &t->sessions[entry.session].latest;
    bool is_other_kind = latest->kind != TIME_UNKNOWN &&
                         head->time.kind != TIME_UNKNOWN &&
                         latest->kind != head->time.kind;
    if (is_other_kind) {
        *refusal = "'timestamp' is of another kind than the session's first";
        return TB_OK;
    }
    if (head->time.kind != TIME_UNKNOWN)
        *latest = head->time;
    entry.time = latest->value;
    entry.rest = latest->rest;
    struct entry *entries = tb_array_grow(t->entries, &t->entries_capacity,
                                          t->entry_count + 1, sizeof(*entries));
    if (!entries)
        return TB_ERR_MEMORY;
    t->entries = entries;
    entries[t->entry_count++] = entry;
    return TB_OK;
}

// What Python would stop at.
static const char *refuse(const struct telemetry *t, const struct head *head)
{
    if (!t->options.is_compat)
        return NULL;
    if (!head->session.ptr)
        return "'session_id' is neither a string nor a number";
    return head->has_time ? NULL : "'timestamp' cannot be compared";
}

// Reads the event before which the reader stands, which is an object.
static tb_status read_call(struct telemetry *t, const char **refusal)
{
    struct head head = {0};
    struct entry entry = {.offset = tb_json_offset(&t->reader),
                          .line = tb_json_line(&t->reader)};
    tb_arena_reset(&t->scratch);
    TB_TRY(read_head(t, &head));
    if (!head.is_call)
        return TB_OK;
    uint64_t length = tb_json_offset(&t->reader) - entry.offset;
    if (length > UINT32_MAX)
        return tb_json_fail(&t->reader, TB_ERR_LIMIT, "event is too long");
    struct tb_span json = {t->reader.at - length, (size_t)length};
    entry.length = (uint32_t)length;
    entry.hash = (uint32_t)tb_hash64(json, 0);
    *refusal = refuse(t, &head);
    return *refusal ? TB_OK : keep(t, &head, entry, refusal);
}

static tb_status read_event(struct telemetry *t, tb_json_type type,
                            struct tb_trace_event *event, bool *is_event)
{
    const char *refusal =
        "an event is no object; a profiler trace is for 'tracebake nat'";
    uint64_t offset = tb_json_offset(&t->reader);
    uint64_t line = tb_json_line(&t->reader);
    t->counts.record_count++;
    if (type == TB_JSON_OBJECT) {
        refusal = NULL;
        TB_TRY(read_call(t, &refusal));
    } else {
        TB_TRY(tb_json_skip(&t->reader));
    }
    if (!refusal)
        return TB_OK;
    // The place is that of the event.
    *is_event = true;
    (void)tb_json_fail(&t->reader, TB_ERR_TYPE, "%s", refusal);
    t->reader.error.offset = offset;
    t->reader.error.line = line;
    lose(t, event, TB_LOSS_TYPE);
    return TB_OK;
}

// Reads the next event of the chunk, or leaves the chunk.
static tb_status read_chunk(struct telemetry *t, struct tb_trace_event *event,
                            bool *is_event)
{
    tb_json_type type;
    tb_status status = tb_json_peek(&t->reader, &type);
    if (status == TB_OK && type == TB_JSON_END) {
        t->has_chunk = false;
        return TB_OK;
    }
    uint64_t offset = tb_json_offset(&t->reader);
    if (status == TB_OK)
        status = read_event(t, type, event, is_event);
    if (status != TB_OK) {
        *is_event = true;
        return lose_broken(t, event, status, offset);
    }
    uint64_t behind = tb_json_offset(&t->reader);
    go_on(t, (size_t)(behind - t->window_offset) - t->at);
    return TB_OK;
}

/* ---- order ------------------------------------------------------------ */

struct ranked {
    struct tb_span name;
    uint32_t number;
};

static int compare_names(const void *a, const void *b)
{
    return tb_span_compare(((const struct ranked *)a)->name,
                           ((const struct ranked *)b)->name);
}

/* Sorts the names of a table. Returns the ranks by number, and in `*by_rank`
 * (may be NULL) the numbers by rank; both are the caller's. */
static tb_status rank_names(const struct tb_name_table *names, uint32_t **ranks,
                            uint32_t **by_rank)
{
    size_t count = names->count;
    struct ranked *sorted = tb_memory_zeroed(count + 1, sizeof(*sorted));
    *ranks = tb_memory_zeroed(count + 1, sizeof(**ranks));
    if (by_rank)
        *by_rank = tb_memory_zeroed(count + 1, sizeof(**by_rank));
    if (!sorted || !*ranks || (by_rank && !*by_rank)) {
        tb_memory_free(sorted);
        return TB_ERR_MEMORY;
    }
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = (struct ranked){tb_name_table_name(names, i), i};
    qsort(sorted, count, sizeof(*sorted), compare_names);
    for (uint32_t i = 0; i < count; i++) {
        (*ranks)[sorted[i].number] = i;
        if (by_rank)
            (*by_rank)[i] = sorted[i].number;
    }
    tb_memory_free(sorted);
    return TB_OK;
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->session != y->session)
        return x->session < y->session ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->rest != y->rest)
        return x->rest < y->rest ? -1 : 1;
    // File order: the order is total, so any sort is a stable one.
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static tb_status rank_times(struct telemetry *t)
{
    uint32_t *ranks = NULL;
    tb_status status = rank_names(&t->times, &ranks, NULL);
    for (size_t i = 0; i < t->entry_count && status == TB_OK; i++) {
        struct entry *entry = &t->entries[i];
        if (t->sessions[entry->session].latest.kind == TIME_TEXT &&
            entry->time >= 0)
            entry->time = ranks[entry->time];
    }
    tb_memory_free(ranks);
    return status;
}

static tb_status sort_entries(struct telemetry *t)
{
    uint32_t *ranks = NULL;
    if (t->times.count > 0)
        TB_TRY(rank_times(t));
    tb_status status = rank_names(&t->names, &ranks, &t->by_rank);
    for (size_t i = 0; i < t->entry_count && status == TB_OK; i++)
        t->entries[i].session = ranks[t->entries[i].session];
    tb_memory_free(ranks);
    if (status == TB_OK && t->entry_count > 1)
        qsort(t->entries, t->entry_count, sizeof(*t->entries), compare_entries);
    tb_buffer_release(&t->window);
    return status;
}

/* ---- second pass ------------------------------------------------------ */

static struct tb_span session_name(const struct telemetry *t)
{
    return tb_name_table_name(&t->names, t->by_rank[t->rank]);
}

static tb_status give_record(struct telemetry *t, struct tb_trace_event *event,
                             struct tb_error *error)
{
    const struct entry *entry = &t->entries[t->next];
    tb_buffer_clear(&t->record);
    tb_status status = tb_buffer_reserve(&t->record, entry->length);
    if (status != TB_OK)
        return tb_fail(error, status, "no memory for a record");
    TB_TRY(tb_input_read_at(t->input, entry->offset, t->record.ptr,
                            entry->length, error));
    t->record.len = entry->length;
    // What was put in order by one content must not be read as another.
    if ((uint32_t)tb_hash64(tb_buffer_span(&t->record), 0) != entry->hash)
        return tb_fail(error, TB_ERR_IO,
                       "the file was changed while it was read, at byte %llu",
                       (unsigned long long)entry->offset);
    t->next++;
    *event = (struct tb_trace_event){.kind = TB_TRACE_RECORD,
                                     .json = tb_buffer_span(&t->record),
                                     .offset = entry->offset,
                                     .line = entry->line};
    return TB_OK;
}

static tb_status give(struct telemetry *t, struct tb_trace_event *event,
                      struct tb_error *error)
{
    bool is_over = t->next == t->entry_count;
    bool goes_on = !is_over && t->entries[t->next].session == t->rank;
    if (t->has_begun && !goes_on) {
        t->has_begun = false;
        event->kind = TB_TRACE_SESSION_END;
        event->name = session_name(t);
        return TB_OK;
    }
    if (is_over) {
        t->state = ENDED;
        return TB_OK;
    }
    if (t->has_begun)
        return give_record(t, event, error);
    t->has_begun = true;
    t->rank = t->entries[t->next].session;
    t->counts.session_count++;
    event->kind = TB_TRACE_SESSION;
    event->name = session_name(t);
    return TB_OK;
}

/* ---- both ------------------------------------------------------------- */

/* The input broke: compressed data that is cut off or damaged. What was read
 * so far stays. */
static tb_status end_input(struct telemetry *t, struct tb_trace_event *event,
                           tb_status status, struct tb_error *error)
{
    tb_loss loss;
    if (!tb_dialect_is_loss(status, &loss)) {
        tb_error_set_path(error, tb_input_path(t->input));
        return status;
    }
    tb_dialect_make_loss(event, loss, error, t->input);
    t->is_at_end = true;
    return TB_OK;
}

// The earliest call of all, for who wants times from the beginning on.
static void note_first_time(struct telemetry *t)
{
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < t->entry_count; i++)
        if (t->entries[i].time > 0 && t->entries[i].time < first)
            first = t->entries[i].time;
    if (!t->options.is_compat && first < INT64_MAX)
        t->counts.first_s = tb_timestamp_seconds(first);
}

static tb_status read_on(struct telemetry *t, struct tb_trace_event *event,
                         bool *is_event, struct tb_error *error)
{
    tb_status status;
    if (t->has_chunk) {
        status = read_chunk(t, event, is_event);
        return status == TB_OK ? TB_OK
                               : tb_fail(error, status, "out of memory");
    }
    status = next_chunk(t, error);
    if (status != TB_OK) {
        *is_event = true;
        return end_input(t, event, status, error);
    }
    if (t->has_chunk)
        return TB_OK;
    t->state = GIVING;
    status = sort_entries(t);
    note_first_time(t);
    return status == TB_OK ? TB_OK : tb_fail(error, status, "out of memory");
}

static tb_status telemetry_next(void *state, struct tb_trace_event *event,
                                struct tb_error *error)
{
    struct telemetry *t = state;
    struct tb_error detail = {0};
    tb_status status = TB_OK;
    bool is_event = false;
    while (status == TB_OK && !is_event) {
        if (t->state == READING) {
            status = read_on(t, event, &is_event, &detail);
            continue;
        }
        is_event = true; // the end, when there is no other
        if (t->state == GIVING)
            status = give(t, event, &detail);
    }
    if (status != TB_OK && error)
        *error = detail;
    return status;
}

const struct tb_dialect tb_dialect_telemetry = {
    .open = telemetry_open,
    .next = telemetry_next,
    .counts = telemetry_counts,
    .close = telemetry_close,
    .parse = tb_telemetry_record_parse,
    .peek_model = tb_telemetry_record_peek_model,
};
