#include "row_maker.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "memory.h"
#include "row_blocks.h"
#include "row_time.h"
#include "turn_chain.h"

enum { FLUSH_LEN = 256 << 10 }; /* bytes of rows that are written at once */

struct tb_row_maker {
    struct tb_row_options options;
    struct tb_output *output;
    struct tb_stats *stats;
    struct tb_row_groups groups;
    struct tb_row_numbering numbering;
    struct tb_row_numbering whole; /* of the same prompts as a whole, for the
                                      figures, when rows are increments */
    struct tb_turn_chains chains;  /* of the current session */
    struct tb_buffer bytes;        /* rows to be written */
    struct tb_buffer name;         /* session id of the current row */
    struct tb_row_time time;
    struct tb_call_log calls;
};

/* The session whose rows are being made. */
struct current {
    struct tb_span name;
    const char *path;
    const struct tb_session *session;
    const struct tb_prompt_store *prompts;
    uint32_t row_count;
    double latest_end_s; /* of all calls before; NAN: not known */
};

tb_status tb_row_maker_new(const struct tb_row_options *options,
                           struct tb_output *output, struct tb_stats *stats,
                           struct tb_row_maker **maker)
{
    struct tb_row_maker *made = tb_memory_zeroed(1, sizeof(*made));
    if (!made)
        return TB_ERR_MEMORY;
    made->options = *options;
    made->output = output;
    made->stats = stats;
    made->bytes = TB_BUFFER(SIZE_MAX / 2);
    made->name = TB_BUFFER(SIZE_MAX / 2);
    made->time = (struct tb_row_time){
        .form = options->form,
        .stats = stats,
        .origin_s = NAN,
        .is_absolute = options->content != NULL,
    };
    made->calls = tb_call_log_on(options->calls);
    made->chains.is_verbatim = options->form.rows == TB_ROWS_MESSAGES;
    made->groups.is_by_session = options->content != NULL;
    tb_status status =
        tb_row_numbering_init(&made->numbering, options->block_size);
    made->numbering.content = options->content;
    if (status == TB_OK)
        status = tb_row_numbering_init(&made->whole, options->block_size);
    if (status != TB_OK) {
        tb_row_maker_free(made);
        return status;
    }
    *maker = made;
    return TB_OK;
}

void tb_row_maker_set_origin(struct tb_row_maker *maker, double origin_s)
{
    if (isnan(maker->time.origin_s))
        maker->time.origin_s = origin_s;
}

bool tb_row_maker_has_timestamps(const struct tb_row_maker *maker,
                                 uint64_t *first_ms)
{
    return tb_row_time_first(&maker->time, first_ms);
}

void tb_row_maker_free(struct tb_row_maker *maker)
{
    if (!maker)
        return;
    tb_row_groups_release(&maker->groups);
    tb_row_numbering_release(&maker->numbering);
    tb_row_numbering_release(&maker->whole);
    tb_turn_chains_release(&maker->chains);
    tb_buffer_release(&maker->bytes);
    tb_buffer_release(&maker->name);
    tb_call_log_release(&maker->calls);
    tb_memory_free(maker);
}

/* ---- calls without a row
 * ------------------------------------------------------ */

// Does the server say that it counted what no model can take?
static bool is_absurd(const struct tb_usage *usage)
{
    const uint64_t most = UINT64_C(1) << 28;
    return (usage->has_prompt && usage->prompt > most) ||
           (usage->has_completion && usage->completion > most);
}

// Why an answered call has no row; TB_SKIP_COUNT: it has one.
static tb_skip why_unusable(const struct tb_row_maker *maker,
                            const struct tb_call *call,
                            const struct tb_prompt *prompt)
{
    bool is_counted = call->usage.has_prompt && call->usage.prompt > 0;
    if (!maker->options.is_compat && is_absurd(&call->usage))
        return TB_SKIP_ABSURD;
    if (maker->options.is_compat) {
        bool is_nat = maker->options.dialect == TB_DIALECT_NAT;
        if (is_nat && !is_counted)
            return TB_SKIP_NO_USAGE;
        if (is_nat && prompt->is_empty_text)
            return TB_SKIP_EMPTY_PROMPT;
        if (prompt->lone_surrogate_count)
            return TB_SKIP_SURROGATE;
    }
    if (prompt->kind == TB_PROMPT_REFUSED)
        return TB_SKIP_REFUSED;
    if (prompt->kind == TB_PROMPT_NOT_ENCODED)
        return TB_SKIP_NOT_ENCODED;
    if (maker->options.is_compat)
        return TB_SKIP_COUNT;
    bool has_length = maker->options.does_usage_lead && is_counted;
    bool has_tokens = prompt->shared_count + prompt->own_count > 0;
    return has_length || has_tokens ? TB_SKIP_COUNT : TB_SKIP_EMPTY_PROMPT;
}

static tb_skip why_skipped(const struct tb_row_maker *maker,
                           const struct tb_session_call *session_call,
                           const struct tb_prompt_store *prompts)
{
    switch (session_call->state) {
    case TB_CALL_NO_END:
        if (!maker->options.keeps_failed)
            return TB_SKIP_NO_END;
        break;
    case TB_CALL_NO_START:
        return TB_SKIP_NO_START;
    case TB_CALL_DUPLICATE_END:
        return TB_SKIP_DUPLICATE_END;
    case TB_CALL_ANSWERED:
    default:
        break;
    }
    const struct tb_call *call = &session_call->call;
    return why_unusable(maker, call, &prompts->prompts[call->prompt_number]);
}

// Without ids nothing tells whether two prompts are the same.
static bool has_ids(const struct current *current, const struct tb_call *call)
{
    tb_prompt_kind kind = current->prompts->prompts[call->prompt_number].kind;
    return kind != TB_PROMPT_REFUSED && kind != TB_PROMPT_NOT_ENCODED;
}

/* Was the same prompt sent again by the same agent, after a call that never
 * ended? */
static bool is_tried_again(const struct current *current, size_t index)
{
    const struct tb_session *session = current->session;
    const struct tb_call *call = &session->calls[index].call;
    if (session->calls[index].state != TB_CALL_NO_END ||
        !has_ids(current, call))
        return false;
    for (size_t i = index + 1; i < session->call_count; i++) {
        const struct tb_call *later = &session->calls[i].call;
        bool has_prompt = session->calls[i].state == TB_CALL_ANSWERED ||
                          session->calls[i].state == TB_CALL_NO_END;
        if (has_prompt && has_ids(current, later) &&
            call->tools_hash == later->tools_hash &&
            tb_span_equal(call->agent, later->agent) &&
            tb_prompt_store_is_equal(current->prompts, call->prompt_number,
                                     later->prompt_number))
            return true;
    }
    return false;
}

static void note_call(struct tb_error *note, const struct tb_call *call,
                      const struct current *current)
{
    note->line = call->line;
    note->offset = call->offset;
    tb_error_set_path(note, current->path);
}

// A row all the same, of joined contents.
static void note_refusal(struct tb_row_maker *maker, const struct tb_call *call,
                         const struct current *current, struct tb_span refusal)
{
    struct tb_error note = {0};
    tb_fail(&note, TB_ERR_VALUE,
            "contents joined, since the chat template refuses them: %.*s",
            (int)refusal.len, (const char *)refusal.ptr);
    note_call(&note, call, current);
    maker->stats->refused_count++;
    tb_stats_add_message(maker->stats, &note);
}

// What the template or the tokenizer said, behind what we say.
static void add_refusal(struct tb_error *note, struct tb_span refusal)
{
    size_t used = strlen(note->message);
    (void)snprintf(note->message + used, sizeof(note->message) - used, ": %.*s",
                   (int)refusal.len, (const char *)refusal.ptr);
}

static void note_skip(struct tb_row_maker *maker, tb_skip skip,
                      const struct tb_call *call, const struct current *current)
{
    struct tb_error note = {0};
    int len = tb_span_shown(current->name, 80);
    tb_fail(&note, TB_ERR_VALUE, "no row for a call of session '%.*s': %s", len,
            (const char *)current->name.ptr, tb_skip_text(skip));
    if (skip == TB_SKIP_REFUSED || skip == TB_SKIP_NOT_ENCODED)
        add_refusal(&note,
                    current->prompts->prompts[call->prompt_number].refusal);
    note_call(&note, call, current);
    tb_stats_add_skip(maker->stats, skip, &note);
}

/* ---- fields of a row
 * ------------------------------------------------------------ */

static void set_output_length(const struct tb_row_maker *maker,
                              const struct tb_call *call, uint64_t answer_count,
                              struct tb_mooncake_row *row,
                              struct tb_stats_row *figures)
{
    const struct tb_usage *usage = &call->usage;
    row->output_length = usage->has_completion ? usage->completion : 0;
    if (row->output_length > 0 || maker->options.is_compat)
        return;
    figures->is_output_counted = answer_count > 0;
    figures->is_output_unknown = answer_count == 0;
    row->output_length = answer_count > 0 ? answer_count : 1;
}

static void set_telemetry_fields(const struct tb_row_maker *maker,
                                 const struct tb_call *call,
                                 struct tb_mooncake_row *row)
{
    if (maker->options.dialect != TB_DIALECT_TELEMETRY)
        return;
    row->has_agent_type = true;
    row->agent_type = call->agent;
    row->has_priority = true;
    row->is_priority_number = maker->options.form.has_priority_number;
    row->has_labels = maker->options.form.has_labels;
    row->priority = call->priority;
    row->is_priority_null = call->is_priority_null && maker->options.is_compat;
    if (!call->has_priority ||
        (!maker->options.is_compat && call->priority.len == 0))
        row->priority = TB_SPAN("MEDIUM");
}

/* ---- rows
 * ------------------------------------------------------------------------- */

static tb_status write_row(struct tb_row_maker *maker,
                           const struct tb_mooncake_row *row,
                           struct tb_error *error)
{
    if (!maker->output)
        return TB_OK;
    TB_TRY(tb_mooncake_row_write(row, &maker->bytes));
    return maker->bytes.len < FLUSH_LEN ? TB_OK
                                        : tb_row_maker_flush(maker, error);
}

/* The tokens that are sent for a turn: without those at the end that the
 * endpoint's template adds by itself, but at least one. */
static struct tb_row_tokens sent_tokens(const struct tb_row_maker *maker,
                                        const struct tb_row_tokens *tokens,
                                        uint64_t from, uint32_t turn)
{
    struct tb_row_tokens sent = *tokens;
    uint64_t added = tb_endpoint_added(maker->options.endpoint, turn);
    uint64_t len = tokens->total - from;
    sent.total = from + (len > added ? len - added : 1);
    return sent;
}

/* The conversation that the call continues, or a new one. A call that failed
 * has one of its own, so that its next try continues what it did. */
static tb_status find_chain(struct tb_row_maker *maker,
                            const struct tb_row_tokens *tokens,
                            const struct tb_call_entry *entry,
                            struct tb_turn_chain **chain)
{
    *chain = entry->is_failed
                 ? NULL
                 : tb_turn_chains_find(&maker->chains, tokens, entry->call,
                                       maker->options.endpoint);
    if (*chain)
        return TB_OK;
    *chain = tb_turn_chains_add(&maker->chains);
    if (!*chain)
        return TB_ERR_MEMORY;
    (*chain)->invocation = entry->call->invocation;
    (*chain)->is_closed = entry->is_failed;
    return TB_OK;
}

static void end_turn(struct tb_row_maker *maker, struct tb_turn_chain *chain,
                     const struct tb_row_tokens *tokens,
                     const struct tb_call_entry *entry)
{
    chain->turn_count++;
    chain->tokens = *tokens;
    chain->output_length = entry->row.output_length;
    chain->end_s = entry->call->end_s;
    chain->row_number = maker->stats->row_count + 1;
}

/* Whole rows do not say which one goes on which; the calls do, so that rows
 * can become increments without their trace. */
static tb_status note_chain(struct tb_row_maker *maker,
                            const struct tb_row_tokens *tokens,
                            struct tb_call_entry *entry)
{
    struct tb_turn_chain *chain;
    if (!maker->options.calls || maker->options.is_compat)
        return TB_OK;
    TB_TRY(find_chain(maker, tokens, entry, &chain));
    entry->has_continued = true;
    entry->continued_row_number = chain->row_number;
    end_turn(maker, chain, tokens, entry);
    return TB_OK;
}

/* The row as a whole prompt. Its place in the session is that of its start. */
static tb_status make_whole(struct tb_row_maker *maker, struct current *current,
                            const struct tb_row_tokens *tokens,
                            struct tb_call_entry *entry,
                            struct tb_stats_row *figures)
{
    const struct tb_row_blocks *blocks;
    struct tb_mooncake_row *row = &entry->row;
    entry->turn = current->row_count;
    struct tb_row_tokens sent =
        tokens->total > 0 ? sent_tokens(maker, tokens, 0, 0) : *tokens;
    TB_TRY(tb_row_numbering_add(&maker->numbering, &sent, &blocks));
    row->session_id = current->name;
    row->input_length = sent.total;
    row->hash_ids = blocks->ids;
    row->hash_id_count = (size_t)blocks->count;
    figures->new_tokens = blocks->new_tokens;
    tb_row_time_set_delay(&maker->time, entry->call, entry->turn == 0,
                          current->latest_end_s, row);
    return note_chain(maker, tokens, entry);
}

// The session id of a conversation: NAME, NAME.2, NAME.3, ...
static tb_status name_chain(struct tb_row_maker *maker,
                            const struct current *current, uint32_t number,
                            struct tb_mooncake_row *row)
{
    tb_buffer_clear(&maker->name);
    TB_TRY(tb_buffer_append(&maker->name, current->name));
    if (number > 0) {
        TB_TRY(tb_buffer_printf(&maker->name, ".%u", number + 1));
        row->parent_session_id = current->name;
    }
    row->session_id = tb_buffer_span(&maker->name);
    return TB_OK;
}

/* What continues a turn is behind its end, whose chain of blocks goes on with
 * an answer that nobody has the tokens of: its length stands for it, behind an
 * empty block, which no prompt has. Else, in blocks of one token, it would be
 * the token with that number. */
static struct tb_hash128 parent_of(const struct tb_turn_chain *chain)
{
    tb_token answer = (tb_token)chain->output_length;
    struct tb_hash128 end = tb_block_hash(chain->last_block, &answer, 0);
    return tb_block_hash(end, &answer, 1);
}

/* The tokens of a row that holds what its turn adds to the conversation; all
 * of them for the first turn. */
static tb_status make_increment(struct tb_row_maker *maker,
                                struct tb_turn_chain *chain,
                                const struct tb_row_tokens *tokens,
                                struct tb_mooncake_row *row)
{
    const struct tb_row_blocks *blocks;
    bool is_first = chain->turn_count == 0;
    uint64_t from = is_first ? 0 : chain->tokens.total + chain->output_length;
    struct tb_row_tokens sent =
        sent_tokens(maker, tokens, from, chain->turn_count);
    TB_TRY(is_first ? tb_row_numbering_add(&maker->numbering, &sent, &blocks)
                    : tb_row_numbering_add_part(&maker->numbering, &sent, from,
                                                parent_of(chain), &blocks));
    row->input_length = sent.total - from;
    row->hash_ids = blocks->ids;
    row->hash_id_count = (size_t)blocks->count;
    chain->last_block = blocks->last;
    return TB_OK;
}

static void set_messages(const struct current *current,
                         const struct tb_row_tokens *tokens,
                         struct tb_mooncake_row *row)
{
    const struct tb_prompt *prompt = &current->prompts->prompts[tokens->prompt];
    row->messages = prompt->messages;
    row->tools = prompt->tools;
    row->input_length = tokens->total;
}

// The row as a turn of a conversation.
static tb_status make_turn(struct tb_row_maker *maker, struct current *current,
                           const struct tb_row_tokens *tokens,
                           struct tb_call_entry *entry,
                           struct tb_stats_row *figures)
{
    struct tb_mooncake_row *row = &entry->row;
    struct tb_turn_chain *chain;
    const struct tb_row_blocks *whole;
    TB_TRY(find_chain(maker, tokens, entry, &chain));
    TB_TRY(name_chain(maker, current, chain->number, row));
    if (maker->options.form.rows == TB_ROWS_MESSAGES)
        set_messages(current, tokens, row);
    else
        TB_TRY(make_increment(maker, chain, tokens, row));
    TB_TRY(tb_row_numbering_add(&maker->whole, tokens, &whole));
    figures->before_tokens = tokens->total - row->input_length;
    figures->new_tokens = whole->new_tokens;
    entry->turn = chain->turn_count;
    maker->stats->branch_count += chain->number > 0 && entry->turn == 0;
    tb_row_time_set_delay(&maker->time, entry->call, entry->turn == 0,
                          chain->end_s, row);
    end_turn(maker, chain, tokens, entry);
    return TB_OK;
}

// What the figures know of a row before it is made.
static struct tb_stats_row begin_figures(const struct tb_call *call,
                                         const struct tb_row_tokens *tokens)
{
    return (struct tb_stats_row){
        .agent = call->agent,
        .has_usage = call->usage.has_prompt && call->usage.prompt > 0,
        .usage_tokens = call->usage.prompt,
        .counted_tokens = tokens->text_count,
        .has_cached = call->usage.has_cached,
        .cached_tokens = call->usage.cached,
    };
}

static tb_status add_figures(struct tb_row_maker *maker,
                             const struct tb_call_entry *entry,
                             struct tb_stats_row *figures)
{
    const struct tb_mooncake_row *row = &entry->row;
    maker->stats->rendered_count += entry->prompt_kind == TB_PROMPT_RENDERED;
    maker->stats->failed_row_count += entry->is_failed;
    figures->session_id = row->session_id;
    figures->input_length = row->input_length;
    figures->output_length = row->output_length;
    figures->block_count = row->hash_id_count;
    figures->priority = row->priority;
    return tb_stats_add_row(maker->stats, figures);
}

static tb_status make_row(struct tb_row_maker *maker, struct current *current,
                          struct tb_call_entry *entry, struct tb_error *error)
{
    const struct tb_call *call = entry->call;
    const struct tb_prompt *prompt =
        &current->prompts->prompts[call->prompt_number];
    struct tb_row_tokens tokens;
    bool is_compat = maker->options.is_compat;
    TB_TRY(tb_row_tokens_init(&tokens, &maker->groups, call, current->prompts,
                              maker->options.does_usage_lead && !is_compat));
    struct tb_stats_row figures = begin_figures(call, &tokens);
    entry->prompt_kind = prompt->kind;
    entry->prompt_tokens = tokens.total;
    entry->counted_tokens = tokens.text_count;
    set_output_length(maker, call,
                      current->prompts->answer_counts[call->answer_number],
                      &entry->row, &figures);
    set_telemetry_fields(maker, call, &entry->row);
    TB_TRY(maker->options.form.rows == TB_ROWS_WHOLE
               ? make_whole(maker, current, &tokens, entry, &figures)
               : make_turn(maker, current, &tokens, entry, &figures));
    tb_row_time_set_timestamp(&maker->time, call, entry->turn == 0,
                              &entry->row);
    if (is_compat && maker->options.dialect == TB_DIALECT_NAT)
        entry->row.input_length = call->usage.prompt;
    if (prompt->kind == TB_PROMPT_REFUSED_JOINED)
        note_refusal(maker, call, current, prompt->refusal);
    maker->stats->unused_tools_count += prompt->has_unused_tools;
    TB_TRY(write_row(maker, &entry->row, error));
    current->row_count++;
    TB_TRY(add_figures(maker, entry, &figures));
    entry->row_number = maker->stats->row_count;
    return maker->options.report
               ? tb_run_report_add_row(maker->options.report, &entry->row,
                                       entry->row_number)
               : TB_OK;
}

// A call with what is known of it before there is a row.
static struct tb_call_entry begin_entry(const struct tb_row_maker *maker,
                                        const struct current *current,
                                        size_t index)
{
    const struct tb_session_call *session_call =
        &current->session->calls[index];
    return (struct tb_call_entry){
        .call = &session_call->call,
        .path = current->path,
        .session = current->name,
        .is_failed = session_call->state == TB_CALL_NO_END,
        .is_tried_again = is_tried_again(current, index),
        .skip = why_skipped(maker, session_call, current->prompts),
        .has_overlap = session_call->call.start_s < current->latest_end_s,
        .row = {.has_exact_output = maker->options.form.has_exact_output},
    };
}

static tb_status add_call(struct tb_row_maker *maker, struct current *current,
                          size_t index, struct tb_error *error)
{
    struct tb_call_entry entry = begin_entry(maker, current, index);
    const struct tb_call *call = entry.call;
    tb_status status = TB_OK;
    maker->stats->call_count++;
    maker->stats->retried_count += entry.is_tried_again;
    if (entry.skip != TB_SKIP_COUNT) {
        note_skip(maker, entry.skip, call, current);
    } else {
        maker->stats->overlap_count += entry.has_overlap;
        status = make_row(maker, current, &entry, error);
        if (isnan(current->latest_end_s) || call->end_s > current->latest_end_s)
            current->latest_end_s = call->end_s;
    }
    if (status == TB_OK)
        status = tb_call_log_add(&maker->calls, &entry, error);
    if (status == TB_OK && maker->options.report)
        status = tb_run_report_add_call(maker->options.report, &entry);
    if (status != TB_OK && (!error || error->status == TB_OK))
        return tb_fail(error, status, "cannot make a row: %s",
                       tb_status_name(status));
    return status;
}

tb_status tb_row_maker_add(struct tb_row_maker *maker, struct tb_span name,
                           const char *path, const struct tb_session *session,
                           const struct tb_prompt_store *prompts,
                           struct tb_error *error)
{
    struct current current = {.name = name,
                              .path = path,
                              .session = session,
                              .prompts = prompts,
                              .latest_end_s = NAN};
    tb_row_numbering_forget(&maker->numbering);
    tb_row_numbering_forget(&maker->whole);
    tb_turn_chains_reset(&maker->chains);
    tb_row_groups_begin_session(&maker->groups, name);
    for (size_t i = 0; i < session->call_count; i++)
        TB_TRY(add_call(maker, &current, i, error));
    return TB_OK;
}

tb_status tb_row_maker_flush(struct tb_row_maker *maker, struct tb_error *error)
{
    if (!maker->output)
        return TB_OK;
    tb_status status =
        tb_output_write(maker->output, tb_buffer_span(&maker->bytes), error);
    tb_buffer_clear(&maker->bytes);
    return status == TB_OK ? tb_call_log_flush(&maker->calls, error) : status;
}
