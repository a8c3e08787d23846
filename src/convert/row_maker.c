#include "row_maker.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "memory.h"
#include "mooncake_row.h"
#include "row_blocks.h"
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
    double origin_s;               /* timestamp 0; NAN: not known yet */
};

/* The session whose rows are being made. */
struct current {
    struct tb_span name;
    const char *path;
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
    made->origin_s = NAN;
    tb_status status =
        tb_row_numbering_init(&made->numbering, options->block_size);
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
    if (isnan(maker->origin_s))
        maker->origin_s = origin_s;
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
        return prompt->lone_surrogate_count ? TB_SKIP_SURROGATE : TB_SKIP_COUNT;
    }
    if (prompt->kind == TB_PROMPT_REFUSED)
        return TB_SKIP_REFUSED;
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
        return TB_SKIP_NO_END;
    case TB_CALL_NO_START:
        return TB_SKIP_NO_START;
    case TB_CALL_DUPLICATE_END:
        return TB_SKIP_DUPLICATE_END;
    case TB_CALL_ANSWERED:
    default:
        return why_unusable(
            maker, &session_call->call,
            &prompts->prompts[session_call->call.prompt_number]);
    }
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

// What the template said, behind what we say.
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
    int len = (int)(current->name.len < 80 ? current->name.len : 80);
    tb_fail(&note, TB_ERR_VALUE, "no row for a call of session '%.*s': %s", len,
            (const char *)current->name.ptr, tb_skip_text(skip));
    if (skip == TB_SKIP_REFUSED)
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
    row->priority = call->priority;
    row->is_priority_null = call->is_priority_null && maker->options.is_compat;
    if (!call->has_priority ||
        (!maker->options.is_compat && call->priority.len == 0))
        row->priority = TB_SPAN("MEDIUM");
}

// Seconds of the trace as whole milliseconds of the replay, never negative.
static uint64_t replay_ms(const struct tb_row_form *form, double seconds)
{
    double ms = seconds * 1000;
    if (form->speedup > 0)
        ms /= form->speedup;
    if (!(ms > 0))
        return 0;
    return ms < 1e15 ? (uint64_t)llround(ms) : UINT64_C(1000000000000000);
}

/* The gap to the end of the turn before, which for a first turn there is
 * none. */
static void set_delay(const struct tb_row_maker *maker,
                      const struct tb_call *call, bool is_first,
                      double end_before_s, struct tb_mooncake_row *row)
{
    const struct tb_row_form *form = &maker->options.form;
    if (form->delay == TB_DELAY_NONE || is_first)
        return;
    row->has_delay = true;
    row->delay_ms = form->delay_ms;
    if (form->delay == TB_DELAY_FIXED)
        return;
    double gap_s = call->start_s - end_before_s;
    double most_s = (double)form->max_delay_ms / 1000;
    maker->stats->unknown_gap_count += isnan(gap_s) ? 1 : 0;
    row->delay_ms = replay_ms(form, gap_s > most_s ? most_s : gap_s);
}

static void set_timestamp(struct tb_row_maker *maker,
                          const struct tb_call *call, bool is_first,
                          struct tb_mooncake_row *row)
{
    tb_timestamps timestamps = maker->options.form.timestamps;
    if (timestamps == TB_TIMESTAMPS_NONE ||
        (timestamps == TB_TIMESTAMPS_SESSION && !is_first))
        return;
    if (isnan(maker->origin_s))
        maker->origin_s = call->start_s;
    maker->stats->early_count += call->start_s < maker->origin_s;
    row->has_timestamp = true;
    row->timestamp_ms =
        replay_ms(&maker->options.form, call->start_s - maker->origin_s);
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

/* The row as a whole prompt. Its place in the session is that of its start. */
static tb_status make_whole(struct tb_row_maker *maker, struct current *current,
                            const struct tb_call *call,
                            const struct tb_row_tokens *tokens,
                            struct tb_mooncake_row *row,
                            struct tb_stats_row *figures)
{
    const struct tb_row_blocks *blocks;
    bool is_first = current->row_count == 0;
    struct tb_row_tokens sent =
        tokens->total > 0 ? sent_tokens(maker, tokens, 0, 0) : *tokens;
    TB_TRY(tb_row_numbering_add(&maker->numbering, &sent, &blocks));
    row->session_id = current->name;
    row->input_length = sent.total;
    row->hash_ids = blocks->ids;
    row->hash_id_count = (size_t)blocks->count;
    figures->new_tokens = blocks->new_tokens;
    set_delay(maker, call, is_first, current->latest_end_s, row);
    set_timestamp(maker, call, is_first, row);
    return TB_OK;
}

// The session id of a conversation: NAME, NAME.2, NAME.3, ...
static tb_status name_chain(struct tb_row_maker *maker,
                            const struct current *current, uint32_t number,
                            struct tb_span *name)
{
    tb_buffer_clear(&maker->name);
    TB_TRY(tb_buffer_append(&maker->name, current->name));
    if (number > 0)
        TB_TRY(tb_buffer_printf(&maker->name, ".%u", number + 1));
    *name = tb_buffer_span(&maker->name);
    return TB_OK;
}

/* What continues a turn is behind its end, whose chain of blocks goes on with
 * an answer that nobody has the tokens of: its length stands for it. */
static struct tb_hash128 parent_of(const struct tb_turn_chain *chain)
{
    tb_token answer = (tb_token)chain->output_length;
    return tb_block_hash(chain->last_block, &answer, 1);
}

/* The row as what the turn adds to the conversation that it continues; the
 * first of a conversation is whole. */
static tb_status make_delta(struct tb_row_maker *maker, struct current *current,
                            const struct tb_call *call,
                            const struct tb_row_tokens *tokens,
                            struct tb_mooncake_row *row,
                            struct tb_stats_row *figures)
{
    struct tb_turn_chain *chain = tb_turn_chains_find(
        &maker->chains, tokens, maker->options.endpoint, call->start_s);
    const struct tb_row_blocks *blocks, *whole;
    struct tb_row_tokens sent;
    uint64_t from = 0;
    if (chain) {
        from = chain->tokens.total + chain->output_length;
        sent = sent_tokens(maker, tokens, from, chain->turn_count);
        TB_TRY(tb_row_numbering_add_part(&maker->numbering, &sent, from,
                                         parent_of(chain), &blocks));
    } else {
        sent = sent_tokens(maker, tokens, from, 0);
        chain = tb_turn_chains_add(&maker->chains);
        if (!chain)
            return TB_ERR_MEMORY;
        TB_TRY(tb_row_numbering_add(&maker->numbering, &sent, &blocks));
    }
    bool is_first = chain->turn_count == 0;
    maker->stats->branch_count += is_first && chain->number > 0;
    TB_TRY(name_chain(maker, current, chain->number, &row->session_id));
    if (chain->number > 0)
        row->parent_session_id = current->name;
    row->input_length = sent.total - from;
    row->hash_ids = blocks->ids;
    row->hash_id_count = (size_t)blocks->count;
    TB_TRY(tb_row_numbering_add(&maker->whole, tokens, &whole));
    figures->before_tokens = tokens->total - row->input_length;
    figures->new_tokens = whole->new_tokens;
    set_delay(maker, call, is_first, chain->end_s, row);
    set_timestamp(maker, call, is_first, row);
    chain->turn_count++;
    chain->tokens = *tokens;
    chain->output_length = row->output_length;
    chain->end_s = call->end_s;
    chain->last_block = blocks->last;
    return TB_OK;
}

static tb_status make_row(struct tb_row_maker *maker, struct current *current,
                          const struct tb_call *call, struct tb_error *error)
{
    struct tb_row_tokens tokens;
    bool does_usage_lead =
        maker->options.does_usage_lead && !maker->options.is_compat;
    TB_TRY(tb_row_tokens_init(&tokens, &maker->groups, call, current->prompts,
                              does_usage_lead));
    struct tb_stats_row figures = {
        .agent = call->agent,
        .has_usage = call->usage.has_prompt && call->usage.prompt > 0,
        .usage_tokens = call->usage.prompt,
        .counted_tokens = tokens.text_count,
        .has_cached = call->usage.has_cached,
        .cached_tokens = call->usage.cached,
    };
    struct tb_mooncake_row row = {.has_exact_output =
                                      maker->options.form.has_exact_output};
    set_output_length(maker, call,
                      current->prompts->answer_counts[call->answer_number],
                      &row, &figures);
    set_telemetry_fields(maker, call, &row);
    TB_TRY(maker->options.form.rows == TB_ROWS_DELTA
               ? make_delta(maker, current, call, &tokens, &row, &figures)
               : make_whole(maker, current, call, &tokens, &row, &figures));
    if (maker->options.is_compat && maker->options.dialect == TB_DIALECT_NAT)
        row.input_length = call->usage.prompt;
    const struct tb_prompt *prompt =
        &current->prompts->prompts[call->prompt_number];
    maker->stats->rendered_count += prompt->kind == TB_PROMPT_RENDERED;
    if (prompt->kind == TB_PROMPT_REFUSED_JOINED)
        note_refusal(maker, call, current, prompt->refusal);
    maker->stats->unused_tools_count += prompt->has_unused_tools;
    figures.session_id = row.session_id;
    figures.input_length = row.input_length;
    figures.output_length = row.output_length;
    figures.block_count = row.hash_id_count;
    figures.priority = row.priority;
    TB_TRY(write_row(maker, &row, error));
    current->row_count++;
    return tb_stats_add_row(maker->stats, &figures);
}

static tb_status add_call(struct tb_row_maker *maker, struct current *current,
                          const struct tb_session_call *session_call,
                          struct tb_error *error)
{
    const struct tb_call *call = &session_call->call;
    maker->stats->call_count++;
    tb_skip skip = why_skipped(maker, session_call, current->prompts);
    if (skip != TB_SKIP_COUNT) {
        note_skip(maker, skip, call, current);
        return TB_OK;
    }
    maker->stats->overlap_count += call->start_s < current->latest_end_s;
    tb_status status = make_row(maker, current, call, error);
    if (isnan(current->latest_end_s) || call->end_s > current->latest_end_s)
        current->latest_end_s = call->end_s;
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
    struct current current = {
        .name = name, .path = path, .prompts = prompts, .latest_end_s = NAN};
    tb_row_numbering_forget(&maker->numbering);
    tb_row_numbering_forget(&maker->whole);
    tb_turn_chains_reset(&maker->chains);
    for (size_t i = 0; i < session->call_count; i++)
        TB_TRY(add_call(maker, &current, &session->calls[i], error));
    return TB_OK;
}

tb_status tb_row_maker_flush(struct tb_row_maker *maker, struct tb_error *error)
{
    if (!maker->output)
        return TB_OK;
    tb_status status =
        tb_output_write(maker->output, tb_buffer_span(&maker->bytes), error);
    tb_buffer_clear(&maker->bytes);
    return status;
}
