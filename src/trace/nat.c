/* The NAT profiler trace: a list of requests, each a session with its steps.
 *
 *     [{"request_number": 0, "intermediate_steps": [{"payload": {..}}, ..]}]
 *
 * One pass. A step is looked into as far as its event type and, when it is not
 * wanted, left unread: most of the bytes are in such steps. The
 * bytes of one that is wanted stay in the reader's window and go out as they
 * are, so nothing is copied either way.
 *
 * Also taken: one request instead of a list, and several values after each
 * other. A request whose steps stand before its number is held back as a whole,
 * since its session cannot begin without a name. Where a file is broken, the
 * requests behind that place are looked for (nat_salvage.h).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dialect.h"
#include "json_reader.h"
#include "memory.h"
#include "name_table.h"
#include "nat_salvage.h"
#include "nat_step.h"
#include "python_repr.h"
#include "record_fields.h"

typedef enum nat_state {
    AT_TOP,        /* before a list of requests, or a request */
    IN_LIST,       /* before the next request */
    IN_REQUEST,    /* between its keys */
    BEFORE_STEPS,  /* the session has begun; the steps come next */
    IN_STEPS,      /* between steps */
    IN_HELD_STEPS, /* between steps that are read from memory */
    AT_END,
} nat_state;

enum { NAME_MAX_LEN = 1 << 20, REST_LEN = 256 << 10 /* bytes */ };

struct nat {
    struct tb_input *input;
    struct tb_trace_options options;
    struct tb_json_reader stream;
    nat_state state;
    bool is_in_list;
    bool has_value;         /* the file is not empty */
    uint64_t request_index; /* of the next request in the file */
    struct tb_arena scratch;
    /* behind a broken place */
    struct tb_nat_salvage salvage;
    bool is_salvaging;   /* the stream is over one request that it found */
    uint64_t bytes_read; /* of the file, then */
    /* the request being read */
    uint64_t request_offset, request_line;
    bool is_in_request; /* it has not ended */
    uint32_t depth;     /* of the stream before it */
    bool has_number, has_steps, has_begun;
    uint64_t step_count; /* LLM_START and LLM_END given out */
    struct tb_buffer name;
    /* steps that came before the number */
    struct tb_buffer held;
    struct tb_json_reader held_reader;
    /* names that were there before */
    struct tb_name_table names;
    uint64_t *name_counts; /* by number */
    size_t name_counts_capacity;
    /* a loss that goes out behind the drop of its session */
    bool has_pending;
    struct tb_trace_event pending;
    struct tb_trace_counts counts;
};

static tb_status read_input(void *context, uint8_t *bytes, size_t size,
                            size_t *len, struct tb_error *error)
{
    struct tb_input *input = context;
    return tb_input_read(input, bytes, size, len, error);
}

static void nat_close(void *state)
{
    struct nat *nat = state;
    if (!nat)
        return;
    tb_json_reader_release(&nat->stream);
    tb_arena_release(&nat->scratch);
    tb_buffer_release(&nat->name);
    tb_buffer_release(&nat->held);
    tb_name_table_release(&nat->names);
    tb_nat_salvage_release(&nat->salvage);
    tb_memory_free(nat->name_counts);
    tb_memory_free(nat);
}

static tb_status nat_open(const struct tb_trace_options *options,
                          struct tb_input *input, void **state,
                          struct tb_error *error)
{
    struct nat *nat = tb_memory_zeroed(1, sizeof(*nat));
    if (!nat)
        return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    nat->input = input;
    nat->options = *options;
    nat->counts.first_s = NAN;
    nat->name = TB_BUFFER(NAME_MAX_LEN);
    nat->held = TB_BUFFER(TB_JSON_MAX_VALUE_LEN);
    tb_json_reader_init_stream(&nat->stream, read_input, input);
    *state = nat;
    return TB_OK;
}

static struct tb_trace_counts nat_counts(const void *state)
{
    const struct nat *nat = state;
    struct tb_trace_counts counts = nat->counts;
    counts.bytes_read =
        nat->is_salvaging ? nat->bytes_read : tb_json_offset(&nat->stream);
    return counts;
}

/* ---- losses ----------------------------------------------------------- */

static void lose(struct nat *nat, struct tb_trace_event *event, tb_loss loss,
                 const struct tb_json_reader *reader)
{
    tb_dialect_make_loss(event, loss, &reader->error, nat->input);
}

// A value of the wrong type is stepped over; its place goes into the event.
static tb_status lose_value(struct nat *nat, struct tb_trace_event *event,
                            struct tb_json_reader *reader, const char *message)
{
    (void)tb_json_fail(reader, TB_ERR_TYPE, "%s", message);
    lose(nat, event, TB_LOSS_TYPE, reader);
    return tb_json_skip(reader);
}

// Forgets the session that has begun, and says why behind it.
static void drop_session(struct nat *nat, struct tb_trace_event *event)
{
    nat->has_pending = true;
    nat->pending = *event;
    event->kind = TB_TRACE_SESSION_DROP;
    event->name = tb_buffer_span(&nat->name);
    nat->has_begun = false;
}

/* ---- a broken file ---------------------------------------------------- */

// To the end, so that size and fingerprint are of the whole file.
static tb_status read_rest(struct nat *nat, struct tb_error *error)
{
    nat->bytes_read = nat->stream.end_offset;
    tb_buffer_clear(&nat->held);
    TB_TRY(tb_buffer_reserve(&nat->held, REST_LEN));
    for (size_t len = 1; len > 0; nat->bytes_read += len)
        TB_TRY(tb_input_read(nat->input, nat->held.ptr, REST_LEN, &len, error));
    return TB_OK;
}

// The next request that was found, or the end.
static tb_status salvage_next(struct nat *nat, struct tb_error *error)
{
    struct tb_span request;
    uint64_t offset, line;
    TB_TRY(tb_nat_salvage_next(&nat->salvage, &request, &offset, &line, error));
    nat->state = request.ptr ? AT_TOP : AT_END;
    nat->is_in_list = false;
    tb_json_reader_release(&nat->stream);
    if (request.ptr)
        tb_json_reader_init_span(&nat->stream, request, offset, line);
    return TB_OK;
}

static void tell_more(struct tb_error *error, const char *format,
                      uint64_t bytes)
{
    size_t used = strlen(error->message);
    (void)snprintf(error->message + used, sizeof(error->message) - used, format,
                   (unsigned long long)bytes);
}

// Where it was noticed says nothing about where it is: the request is told.
static void tell_request(struct nat *nat, struct tb_trace_event *event)
{
    struct tb_error *error = &event->error;
    event->offset = error->offset = nat->request_offset;
    event->line = error->line = nat->request_line;
    error->json_path[strcspn(error->json_path, ".")] = '\0';
    (void)snprintf(error->message, sizeof(error->message),
                   "quotes or brackets of this request do not match");
}

/* Looks for requests behind the broken place. A file that is merely cut off
 * has none; then its end is the place to tell. */
static tb_status salvage_first(struct nat *nat, struct tb_trace_event *event,
                               bool *found, struct tb_error *error)
{
    bool is_inside = nat->is_in_request;
    // Behind the first byte of the request that is broken, or at the place.
    uint64_t from = is_inside ? nat->request_offset + 1 : event->offset, next;
    TB_TRY(tb_nat_salvage_begin(&nat->salvage, tb_input_path(nat->input), from,
                                is_inside ? nat->request_line : event->line,
                                found, &next, error));
    if (!*found)
        return TB_OK;
    if (is_inside && (event->loss == TB_LOSS_CUT || next < event->offset))
        tell_request(nat, event);
    event->loss = TB_LOSS_SYNTAX;
    tell_more(&event->error, "; reading goes on %llu bytes further",
              next - event->offset);
    nat->is_salvaging = true;
    return TB_OK;
}

// Compressed data that is damaged has no more to give, but costs no run.
static tb_status only_failure(tb_status status)
{
    tb_loss loss;
    return tb_dialect_is_loss(status, &loss) ? TB_OK : status;
}

/* The stream broke: what is whole stays. Behind it requests are looked for,
 * but not as Python would read it, and not in what cannot be read again. */
static tb_status salvage(struct nat *nat, struct tb_trace_event *event,
                         struct tb_error *error)
{
    bool found = false;
    if (nat->is_salvaging)
        return salvage_next(nat, error);
    bool is_end = event->loss == TB_LOSS_CUT && !nat->is_in_request;
    if (is_end || nat->options.is_compat)
        return TB_OK;
    tb_status status = read_rest(nat, error);
    if (status == TB_OK && tb_input_can_reopen(nat->input))
        status = salvage_first(nat, event, &found, error);
    TB_TRY(only_failure(status));
    if (found)
        return salvage_next(nat, error);
    if (event->loss == TB_LOSS_SYNTAX && event->error.line > 0)
        tell_more(&event->error, "; the %llu bytes behind it are lost",
                  nat->bytes_read - event->offset);
    return TB_OK;
}

/* A failure that has nothing to do with the content is handed on. */
static tb_status end_broken(struct nat *nat, struct tb_trace_event *event,
                            tb_status status, struct tb_error *error)
{
    tb_loss loss;
    if (nat->stream.error.status != status)
        (void)tb_json_fail(&nat->stream, status, "cannot read the trace");
    if (!tb_dialect_is_loss(status, &loss)) {
        if (error)
            *error = nat->stream.error;
        tb_error_set_path(error, tb_input_path(nat->input));
        return status;
    }
    lose(nat, event, loss, &nat->stream);
    nat->state = AT_END; // unless there is more behind
    status = salvage(nat, event, error);
    nat->is_in_request = false;
    if (nat->has_begun)
        drop_session(nat, event);
    return status;
}

/* ---- names ------------------------------------------------------------ */

// `conv_` and the request's number as Python prints it.
static tb_status read_number(struct nat *nat)
{
    tb_json_type type;
    struct tb_span text;
    tb_buffer_clear(&nat->name);
    TB_TRY(tb_buffer_append(&nat->name, TB_SPAN("conv_")));
    nat->has_number = true;
    TB_TRY(tb_json_peek(&nat->stream, &type));
    if (type == TB_JSON_STRING) {
        tb_arena_reset(&nat->scratch);
        TB_TRY(tb_json_read_string(&nat->stream, &nat->scratch, &text));
        return tb_buffer_append(&nat->name, text);
    }
    TB_TRY(tb_json_read_raw(&nat->stream, &text));
    return tb_python_repr(text, &nat->name, &nat->stream.error);
}

// A name that was there before gets #2, #3 and so on.
static tb_status make_unique(struct nat *nat)
{
    uint32_t known = nat->names.count, number;
    TB_TRY(tb_name_table_add(&nat->names, tb_buffer_span(&nat->name), &number));
    uint64_t *counts =
        tb_array_grow(nat->name_counts, &nat->name_counts_capacity,
                      nat->names.count, sizeof(*counts));
    if (!counts)
        return TB_ERR_MEMORY;
    nat->name_counts = counts;
    if (number == known)
        counts[number] = 0;
    if (++counts[number] == 1)
        return TB_OK;
    TB_TRY(tb_buffer_append_byte(&nat->name, '#'));
    return tb_buffer_append_u64(&nat->name, counts[number]);
}

static tb_status begin_session(struct nat *nat, struct tb_trace_event *event)
{
    if (!nat->has_number) {
        tb_buffer_clear(&nat->name);
        TB_TRY(tb_buffer_append(&nat->name, TB_SPAN("conv_0")));
    }
    if (!nat->options.is_compat)
        TB_TRY(make_unique(nat));
    nat->has_begun = true;
    nat->step_count = 0;
    nat->counts.session_count++;
    event->kind = TB_TRACE_SESSION;
    event->name = tb_buffer_span(&nat->name);
    return TB_OK;
}

static void end_session(struct nat *nat, struct tb_trace_event *event)
{
    nat->has_begun = false;
    nat->counts.empty_session_count += nat->step_count == 0;
    event->kind = TB_TRACE_SESSION_END;
    event->name = tb_buffer_span(&nat->name);
}

/* ---- steps ------------------------------------------------------------ */

static bool is_llm_event(struct tb_span event_type, bool has_tokens)
{
    return tb_span_equal(event_type, TB_SPAN("\"LLM_START\"")) ||
           tb_span_equal(event_type, TB_SPAN("\"LLM_END\"")) ||
           (has_tokens &&
            tb_span_equal(event_type, TB_SPAN("\"LLM_NEW_TOKEN\"")));
}

// Goes into the payload as far as its event type.
static tb_status look_at_payload(struct tb_json_reader *reader, bool has_tokens,
                                 bool *is_wanted)
{
    bool entered;
    TB_TRY(tb_field_enter_object(reader, &entered));
    while (entered) {
        struct tb_span key, event_type;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            break;
        if (tb_span_equal(key, TB_SPAN("event_type"))) {
            TB_TRY(tb_json_read_raw(reader, &event_type));
            *is_wanted = is_llm_event(event_type, has_tokens);
            break;
        }
        TB_TRY(tb_json_skip(reader));
    }
    return TB_OK;
}

static tb_status look_at_step(struct tb_json_reader *reader, bool has_tokens,
                              bool *is_wanted)
{
    *is_wanted = false;
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            return TB_OK;
        if (tb_span_equal(key, TB_SPAN("payload")))
            return look_at_payload(reader, has_tokens, is_wanted);
        TB_TRY(tb_json_skip(reader));
    }
}

// Reads a step that is an object: an event if it is wanted, nothing if not.
static tb_status read_step(struct nat *nat, struct tb_json_reader *reader,
                           struct tb_trace_event *event, bool *is_event)
{
    uint32_t depth = tb_json_depth(reader);
    TB_TRY(tb_json_mark(reader));
    uint64_t offset = tb_json_offset(reader);
    TB_TRY(look_at_step(reader, nat->options.has_tokens, is_event));
    if (!*is_event)
        tb_json_unmark(reader); // the rest need not stay in the window
    TB_TRY(tb_json_leave_to(reader, depth));
    if (!*is_event)
        return TB_OK;
    event->kind = TB_TRACE_RECORD;
    event->json = tb_json_marked(reader);
    event->offset = offset;
    event->line = tb_json_line(reader) - tb_span_count(event->json, '\n');
    tb_json_unmark(reader);
    nat->step_count++;
    return TB_OK;
}

/* A step that is no JSON costs itself, as long as its brackets and quotes are
 * in order: then the next step is found. */
static tb_status leave_broken_step(struct nat *nat,
                                   struct tb_json_reader *reader,
                                   uint32_t depth, struct tb_trace_event *event)
{
    struct tb_trace_event loss;
    lose(nat, &loss, TB_LOSS_SYNTAX, reader);
    tb_json_unmark(reader);
    struct tb_error first = reader->error;
    if (tb_json_leave_to(reader, depth) != TB_OK) {
        reader->error = first; // the place that a person should look at
        return TB_ERR_SYNTAX;
    }
    *event = loss;
    return TB_OK;
}

// The next event among the steps; none when the list has ended.
static tb_status next_step(struct nat *nat, struct tb_json_reader *reader,
                           struct tb_trace_event *event, bool *is_event)
{
    for (*is_event = false; !*is_event;) {
        bool found;
        tb_json_type type;
        TB_TRY(tb_json_next_item(reader, &found));
        if (!found)
            return TB_OK;
        nat->counts.record_count++;
        TB_TRY(tb_json_peek(reader, &type));
        if (type != TB_JSON_OBJECT) {
            *is_event = true;
            return lose_value(nat, event, reader, "a step is no object");
        }
        uint32_t depth = tb_json_depth(reader);
        tb_status status = read_step(nat, reader, event, is_event);
        if (status == TB_ERR_SYNTAX && tb_json_depth(reader) > depth) {
            *is_event = true;
            status = leave_broken_step(nat, reader, depth, event);
        }
        TB_TRY(status);
    }
    return TB_OK;
}

/* ---- requests --------------------------------------------------------- */

// Keeps the steps, which stand before the number.
static tb_status hold_steps(struct nat *nat)
{
    struct tb_span steps;
    TB_TRY(tb_json_mark(&nat->stream));
    uint64_t offset = tb_json_offset(&nat->stream);
    uint64_t line = tb_json_line(&nat->stream);
    tb_json_unmark(&nat->stream);
    TB_TRY(tb_json_read_raw(&nat->stream, &steps));
    tb_buffer_clear(&nat->held);
    TB_TRY(tb_buffer_append(&nat->held, steps));
    tb_json_reader_init_span(&nat->held_reader, tb_buffer_span(&nat->held),
                             offset, line);
    return TB_OK;
}

// The request's object has ended.
static tb_status finish_request(struct nat *nat, struct tb_trace_event *event)
{
    nat->state = nat->is_in_list ? IN_LIST : AT_TOP;
    nat->is_in_request = false;
    if (nat->has_begun) {
        end_session(nat, event);
        return TB_OK;
    }
    if (!nat->has_number && !nat->has_steps) {
        (void)tb_json_fail(&nat->stream, TB_ERR_TYPE,
                           "no 'intermediate_steps' here: is it a profiler "
                           "trace?");
        lose(nat, event, TB_LOSS_TYPE, &nat->stream);
        return TB_OK;
    }
    nat->state = IN_HELD_STEPS;
    return begin_session(nat, event);
}

// Goes through the keys until there is an event.
static tb_status read_request(struct nat *nat, struct tb_trace_event *event,
                              bool *is_event)
{
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(&nat->stream, &key));
        if (!key.ptr) {
            *is_event = true;
            return finish_request(nat, event);
        }
        if (tb_span_equal(key, TB_SPAN("request_number")) && !nat->has_number) {
            TB_TRY(read_number(nat));
        } else if (tb_span_equal(key, TB_SPAN("intermediate_steps")) &&
                   !nat->has_steps) {
            nat->has_steps = true;
            if (!nat->has_number) {
                TB_TRY(hold_steps(nat));
                continue;
            }
            *is_event = true;
            nat->state = BEFORE_STEPS;
            return begin_session(nat, event);
        } else {
            TB_TRY(tb_json_skip(&nat->stream));
        }
    }
}

static tb_status enter_steps(struct nat *nat, struct tb_trace_event *event,
                             bool *is_event)
{
    tb_json_type type;
    TB_TRY(tb_json_peek(&nat->stream, &type));
    if (type == TB_JSON_ARRAY) {
        nat->state = IN_STEPS;
        return tb_json_enter_array(&nat->stream);
    }
    *is_event = true;
    nat->state = IN_REQUEST;
    return lose_value(nat, event, &nat->stream,
                      "'intermediate_steps' is no list");
}

// Between the steps of a request that was held back; it ends with them.
static tb_status read_held(struct nat *nat, struct tb_trace_event *event)
{
    struct tb_json_reader *reader = &nat->held_reader;
    tb_json_type type;
    bool is_event;
    if (!nat->held.len) {
        nat->state = nat->is_in_list ? IN_LIST : AT_TOP;
        end_session(nat, event);
        return TB_OK;
    }
    if (tb_json_depth(reader) == 0) {
        TB_TRY(tb_json_peek(reader, &type));
        if (type != TB_JSON_ARRAY) {
            nat->held.len = 0;
            return lose_value(nat, event, reader,
                              "'intermediate_steps' is no list");
        }
        TB_TRY(tb_json_enter_array(reader));
    }
    TB_TRY(next_step(nat, reader, event, &is_event));
    if (is_event)
        return TB_OK;
    nat->held.len = 0;
    return read_held(nat, event);
}

static tb_status next_held(struct nat *nat, struct tb_trace_event *event)
{
    tb_loss loss;
    tb_status status = read_held(nat, event);
    if (status == TB_OK || !tb_dialect_is_loss(status, &loss))
        return status;
    // The stream goes on behind this request.
    nat->state = nat->is_in_list ? IN_LIST : AT_TOP;
    lose(nat, event, loss, &nat->held_reader);
    drop_session(nat, event);
    return TB_OK;
}

// Before a value that should be a request.
static tb_status enter_request(struct nat *nat, struct tb_trace_event *event,
                               bool *is_event)
{
    tb_json_type type;
    uint64_t index = nat->request_index++;
    nat->request_offset = tb_json_offset(&nat->stream);
    nat->request_line = tb_json_line(&nat->stream);
    nat->is_in_request = true;
    if (index < nat->options.skip_sessions) {
        TB_TRY(tb_json_skip(&nat->stream));
        nat->is_in_request = false;
        return TB_OK;
    }
    if (index - nat->options.skip_sessions >= nat->options.max_sessions) {
        *is_event = true; // the event is the end
        nat->state = AT_END;
        return TB_OK;
    }
    TB_TRY(tb_json_peek(&nat->stream, &type));
    if (type != TB_JSON_OBJECT) {
        *is_event = true;
        nat->is_in_request = false;
        return lose_value(nat, event, &nat->stream, "a request is no object");
    }
    nat->has_number = nat->has_steps = nat->has_begun = false;
    tb_buffer_clear(&nat->held);
    nat->state = IN_REQUEST;
    return tb_json_enter_object(&nat->stream);
}

static tb_status read_list(struct nat *nat, struct tb_trace_event *event,
                           bool *is_event)
{
    bool found;
    TB_TRY(tb_json_next_item(&nat->stream, &found));
    if (found)
        return enter_request(nat, event, is_event);
    nat->is_in_list = false;
    nat->state = AT_TOP;
    return TB_OK;
}

static tb_status read_top(struct nat *nat, struct tb_trace_event *event,
                          bool *is_event)
{
    tb_json_type type;
    TB_TRY(tb_json_peek(&nat->stream, &type));
    nat->has_value |= type != TB_JSON_END;
    if (type == TB_JSON_ARRAY) {
        nat->is_in_list = true;
        nat->state = IN_LIST;
        return tb_json_enter_array(&nat->stream);
    }
    if (type != TB_JSON_END)
        return enter_request(nat, event, is_event);
    if (nat->is_salvaging)
        return salvage_next(nat, &nat->stream.error);
    *is_event = true;
    nat->state = AT_END;
    if (!nat->has_value) {
        (void)tb_json_fail(&nat->stream, TB_ERR_CUT, "the file is empty");
        lose(nat, event, TB_LOSS_CUT, &nat->stream);
    }
    return TB_OK;
}

static tb_status step_on(struct nat *nat, struct tb_trace_event *event,
                         bool *is_event)
{
    switch (nat->state) {
    case AT_TOP:
        return read_top(nat, event, is_event);
    case IN_LIST:
        return read_list(nat, event, is_event);
    case IN_REQUEST:
        return read_request(nat, event, is_event);
    case BEFORE_STEPS:
        return enter_steps(nat, event, is_event);
    case IN_STEPS:
        TB_TRY(next_step(nat, &nat->stream, event, is_event));
        if (!*is_event)
            nat->state = IN_REQUEST;
        return TB_OK;
    case IN_HELD_STEPS:
        *is_event = true;
        return next_held(nat, event);
    default:
        *is_event = true; // the event is the end
        return TB_OK;
    }
}

static tb_status nat_next(void *state, struct tb_trace_event *event,
                          struct tb_error *error)
{
    struct nat *nat = state;
    if (nat->has_pending) {
        *event = nat->pending;
        nat->has_pending = false;
        return TB_OK;
    }
    for (bool is_event = false; !is_event;) {
        tb_status status = step_on(nat, event, &is_event);
        if (status != TB_OK)
            return end_broken(nat, event, status, error);
    }
    return TB_OK;
}

const struct tb_dialect tb_dialect_nat = {
    .open = nat_open,
    .next = nat_next,
    .counts = nat_counts,
    .close = nat_close,
    .parse = tb_nat_step_parse,
    .peek_model = tb_nat_step_peek_model,
};
