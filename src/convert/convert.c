/* The whole flow on one page:
 *
 *     input -> trace reader -> batches -> workers -> sessions -> rows -> output
 *
 * The calling thread reads, and takes finished batches back in order; workers
 * parse and encode (pipeline.h). Sessions, numbers of blocks, rows and figures
 * are made on the calling thread alone.
 */
#include "convert.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "input_name.h"
#include "memory.h"
#include "pipeline.h"
#include "pool.h"
#include "row_maker.h"
#include "row_terms.h"
#include "run_model.h"
#include "run_output.h"

enum {
    BATCH_LEN = 1 << 20, /* bytes of records after which one is full */
    BATCH_SESSION_LEN = 256 << 10, /* ... when a session ends there */
    MODEL_SESSIONS = 5,            /* sessions in which a model is looked for */
    WAITING_MAX_LEN = 256 << 20,   /* bytes of records kept while looking */
};

struct run {
    const struct tb_convert_options *options;
    struct tb_stats *stats;
    uint32_t block_size;
    struct timespec started;
    struct tb_run_output output;
    /* reading */
    struct tb_trace_counts counts; /* of inputs that are done */
    struct tb_meta_input *inputs;  /* for the meta file */
    char (*fingerprints)[33];
    size_t input_number;
    struct tb_input *input;           /* the current one */
    uint64_t bytes_done, bytes_total; /* of inputs before the current one */
    struct tb_batch *batch;           /* being filled */
    uint64_t session_number, record_number;
    struct tb_buffer prefixed_name; /* of the current session */
    /* from messages to tokens */
    struct tb_tokenizer_choice choice;
    struct tb_run_model model;
    bool is_without_tokenizer; /* it could not be had: no fault of an input */
    struct tb_pipeline *pipeline;
    /* ids that are no numbers by first appearance */
    bool has_secret;
    struct tb_keyed_hash secret;
    char secret_name[33];
    struct tb_buffer terms;
    struct tb_content_ids content;
    /* making rows */
    struct tb_row_maker *maker;
    struct tb_run_report *report; /* NULL: no page is wanted */
    struct tb_session session;
    struct tb_prompt_store prompts;
    struct tb_buffer session_name;
    const char *session_path; /* the trace it is from */
    bool has_lost_session;    /* a loss that follows tells why */
};

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) +
           (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

/* ---- batches to rows
 * ----------------------------------------------------------- */

static tb_status begin_session(struct run *run,
                               const struct tb_batch_event *event)
{
    tb_session_reset(&run->session);
    tb_prompt_store_reset(&run->prompts);
    tb_buffer_clear(&run->session_name);
    run->session_path = event->path;
    return tb_buffer_append(&run->session_name, event->name);
}

/* A record of telemetry is a call. A step of NAT is half of one, whose other
 * half is counted as a call when it finds no partner. */
static void note_unreadable(struct run *run, const struct tb_batch_event *event)
{
    struct tb_stats *stats = run->stats;
    if (run->options->dialect == TB_DIALECT_NAT) {
        stats->lost_record_count++;
        tb_stats_add_message(stats, event->error);
        return;
    }
    stats->call_count++;
    tb_stats_add_skip(stats, TB_SKIP_UNREADABLE, event->error);
}

// Its call has a row all the same, with an output length that is not known.
static void note_uncounted_answer(struct run *run,
                                  const struct tb_batch_event *event)
{
    struct tb_error note = {0};
    if (!event->answer_fault)
        return;
    tb_fail(&note, TB_ERR_VALUE,
            "output length not known, since the answer cannot be encoded: %s",
            event->answer_fault);
    note.line = event->line;
    note.offset = event->offset;
    tb_error_set_path(&note, event->path);
    run->stats->uncounted_answer_count++;
    tb_stats_add_message(run->stats, &note);
}

static tb_status add_record(struct run *run, struct tb_batch_event *event)
{
    run->stats->lone_surrogate_count += event->part.call.lone_surrogate_count;
    run->stats->bad_utf8_count += event->part.call.bad_utf8_count;
    run->stats->image_count += event->part.call.image_count;
    if (event->status != TB_OK) {
        note_unreadable(run, event);
        return TB_OK;
    }
    if (event->part.kind == TB_PART_NONE)
        return TB_OK;
    note_uncounted_answer(run, event);
    if (event->part.kind != TB_PART_TOKEN)
        TB_TRY(tb_prompt_store_add(&run->prompts, event->number, &event->prompt,
                                   event->answer_count));
    return tb_session_add(&run->session, &event->part);
}

static tb_status end_session(struct run *run, struct tb_error *error)
{
    bool is_compat = run->options->is_compat;
    tb_call_order order = TB_ORDER_START;
    if (run->options->dialect == TB_DIALECT_TELEMETRY)
        order = TB_ORDER_FILE; // the reader has put them in order
    else if (is_compat)
        order = TB_ORDER_END;
    TB_TRY(tb_session_finish(&run->session, order, is_compat));
    return tb_row_maker_add(run->maker, tb_buffer_span(&run->session_name),
                            run->session_path, &run->session, &run->prompts,
                            error);
}

static void note_loss(struct run *run, const struct tb_batch_event *event)
{
    bool is_told = run->has_lost_session;
    run->stats->lost_record_count += !is_told;
    if (is_told)
        run->has_lost_session = false;
    if (event->error)
        tb_stats_add_message(run->stats, event->error);
}

static tb_status take_event(struct run *run, struct tb_batch_event *event,
                            struct tb_error *error)
{
    switch (event->kind) {
    case TB_TRACE_SESSION:
        return begin_session(run, event);
    case TB_TRACE_RECORD:
        return add_record(run, event);
    case TB_TRACE_SESSION_END:
        return end_session(run, error);
    case TB_TRACE_SESSION_DROP:
        run->stats->cut_session_count++;
        run->has_lost_session = true;
        return TB_OK;
    case TB_TRACE_LOSS:
        note_loss(run, event);
        return TB_OK;
    case TB_TRACE_END:
    default:
        return TB_OK;
    }
}

static tb_status take_batch(void *context, struct tb_batch *batch,
                            struct tb_error *error)
{
    struct run *run = context;
    run->stats->token_count += batch->token_count;
    run->stats->reused_token_count += batch->reused_count;
    for (size_t i = 0; i < batch->event_count; i++) {
        tb_status status = take_event(run, &batch->events[i], error);
        if (status == TB_ERR_MEMORY)
            tb_fail(error, status, "out of memory");
        TB_TRY(status);
    }
    return TB_OK;
}

/* ---- the tokenizer
 * ---------------------------------------------------------------- */

// Nor may the output replace the tokenizer that was found, or its template.
static tb_status spare_model(const struct run *run, struct tb_error *error)
{
    static const char *const beside[] = {
        "tokenizer_config.json", "chat_template.jinja", "chat_template.json"};
    const char *origin = tb_tokenizer_origin(run->model.tokenizer);
    const char *slash = strrchr(origin, '/');
    int folder_len = slash ? (int)(slash - origin) + 1 : 0;
    TB_TRY(tb_run_output_spare(&run->output, origin, error));
    for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
        char path[4096];
        (void)snprintf(path, sizeof(path), "%.*s%s", folder_len, origin,
                       beside[i]);
        TB_TRY(tb_run_output_spare(&run->output, path, error));
    }
    return TB_OK;
}

static tb_status start_workers(struct run *run, struct tb_error *error)
{
    tb_status status = tb_run_model_open(&run->model, run->options,
                                         &run->choice, run->stats, error);
    if (status == TB_OK)
        status = spare_model(run, error);
    run->is_without_tokenizer = status != TB_OK;
    TB_TRY(status);
    tb_content_ids_init(&run->content,
                        tb_tokenizer_fingerprint(run->model.tokenizer),
                        run->block_size, run->has_secret ? &run->secret : NULL);
    return tb_pipeline_start(run->pipeline, run->model.tokenizer, error);
}

static tb_status choose_tokenizer(struct run *run,
                                  const struct tb_trace_event *event,
                                  struct tb_error *error)
{
    if (tb_pipeline_is_started(run->pipeline))
        return TB_OK;
    if (!run->choice.name && event->kind == TB_TRACE_RECORD)
        tb_tokenizer_choice_look(&run->choice, event->json);
    // The session that begins here is not counted yet.
    bool is_over = (event->kind == TB_TRACE_SESSION &&
                    run->session_number >= MODEL_SESSIONS) ||
                   tb_pipeline_waiting_len(run->pipeline) > WAITING_MAX_LEN;
    if (!run->choice.name && is_over)
        tb_tokenizer_choice_default(&run->choice);
    return run->choice.name ? start_workers(run, error) : TB_OK;
}

/* ---- reading
 * ------------------------------------------------------------------------ */

// Says how far it is; false: the caller wants to stop. `input` may be NULL.
static bool show_progress(struct run *run, const struct tb_input *input)
{
    const struct tb_convert_options *options = run->options;
    if (!options->on_progress)
        return true;
    struct tb_convert_progress progress = {
        .path = input ? tb_input_path(input) : options->inputs[0],
        .bytes_done =
            run->bytes_done + (input ? tb_input_bytes_done(input) : 0),
        .bytes_total = run->bytes_total,
        .row_count = run->stats->row_count,
        .seconds = seconds_since(&run->started),
    };
    return options->on_progress(options->context, &progress);
}

static tb_status report_progress(struct run *run, const struct tb_input *input,
                                 struct tb_error *error)
{
    return show_progress(run, input)
               ? TB_OK
               : tb_fail(error, TB_ERR_INTERRUPTED, "interrupted");
}

// A signal came while the input had nothing to read, or a pipe was full.
static bool is_stopping(void *context)
{
    struct run *run = context;
    return !show_progress(run, run->input);
}

// Gives the batch in when it is full, and takes an empty one.
static tb_status turn_over(struct run *run, const struct tb_input *input,
                           const struct tb_trace_event *event,
                           struct tb_error *error)
{
    size_t len = run->batch->bytes.len;
    bool is_full =
        len >= BATCH_LEN ||
        (len >= BATCH_SESSION_LEN && event->kind == TB_TRACE_SESSION_END) ||
        run->batch->event_count >= BATCH_LEN / 64;
    if (!is_full)
        return TB_OK;
    struct tb_batch *batch = run->batch;
    run->batch = NULL;
    TB_TRY(tb_pipeline_put(run->pipeline, batch, error));
    TB_TRY(tb_pipeline_get(run->pipeline, &run->batch));
    return report_progress(run, input, error);
}

static bool has_prefix(const struct tb_convert_options *options)
{
    return options->session_prefix == TB_SESSION_PREFIX_ALWAYS ||
           options->session_prefix == TB_SESSION_PREFIX_PATH ||
           (options->session_prefix == TB_SESSION_PREFIX_AUTO &&
            options->input_count > 1);
}

// What goes in front of the sessions of the input at `path`.
static struct tb_span stem_of(const struct run *run, const char *path)
{
    if (run->options->session_prefix != TB_SESSION_PREFIX_PATH ||
        strcmp(path, "-") == 0)
        return tb_input_name_stem(path);
    return (struct tb_span){(const uint8_t *)path,
                            tb_input_name_stem_len(path)};
}

// How many inputs before the current one have the same stem.
static unsigned earlier_namesakes(const struct run *run, struct tb_span stem)
{
    unsigned count = 0;
    for (size_t i = 0; i < run->input_number; i++)
        count += tb_span_equal(stem_of(run, run->options->inputs[i]), stem);
    return count;
}

/* STEM/NAME, or STEM#2/NAME for the second input with this stem: profilers
 * call all their files the same. */
static tb_status prefix_name(struct run *run, struct tb_trace_event *event)
{
    if (!has_prefix(run->options))
        return TB_OK;
    struct tb_span stem = stem_of(run, run->options->inputs[run->input_number]);
    unsigned namesakes = earlier_namesakes(run, stem);
    tb_buffer_clear(&run->prefixed_name);
    TB_TRY(tb_buffer_append(&run->prefixed_name, stem));
    if (namesakes > 0)
        TB_TRY(tb_buffer_printf(&run->prefixed_name, "#%u", namesakes + 1));
    TB_TRY(tb_buffer_append_byte(&run->prefixed_name, '/'));
    TB_TRY(tb_buffer_append(&run->prefixed_name, event->name));
    event->name = tb_buffer_span(&run->prefixed_name);
    return TB_OK;
}

static tb_status read_event(struct run *run, const struct tb_input *input,
                            struct tb_trace_event *event,
                            struct tb_error *error)
{
    TB_TRY(choose_tokenizer(run, event, error));
    if (event->kind == TB_TRACE_SESSION) {
        run->session_number++;
        run->record_number = 0;
        TB_TRY(prefix_name(run, event));
    }
    tb_status status =
        tb_batch_add(run->batch, event, run->options->inputs[run->input_number],
                     run->session_number, run->record_number);
    if (status != TB_OK)
        return tb_fail(error, status, "cannot hold a record: %s",
                       tb_status_name(status));
    run->record_number += event->kind == TB_TRACE_RECORD;
    return turn_over(run, input, event, error);
}

static tb_status read_trace(struct run *run, struct tb_input *input,
                            struct tb_error *error)
{
    const struct tb_convert_options *options = run->options;
    struct tb_trace_options trace_options = {
        .skip_sessions = options->skip_requests,
        .max_sessions = options->max_requests,
        .is_compat = options->is_compat,
        .has_tokens = options->calls != NULL,
    };
    struct tb_trace_reader *reader;
    TB_TRY(
        tb_trace_open(options->dialect, &trace_options, input, &reader, error));
    tb_status status = report_progress(run, input, error);
    while (status == TB_OK) {
        struct tb_trace_event event = {0};
        status = tb_trace_next(reader, &event, error);
        if (status != TB_OK || event.kind == TB_TRACE_END)
            break;
        tb_row_maker_set_origin(run->maker, tb_trace_counts(reader).first_s);
        status = read_event(run, input, &event, error);
    }
    struct tb_trace_counts counts = tb_trace_counts(reader);
    run->stats->bytes_read += counts.bytes_read;
    run->stats->record_count += counts.record_count;
    run->stats->session_count += counts.session_count;
    run->stats->empty_session_count += counts.empty_session_count;
    tb_trace_close(reader);
    return status;
}

static tb_status read_input(struct run *run, const char *path,
                            struct tb_error *error)
{
    struct tb_input *input;
    TB_TRY(tb_input_open_until(is_stopping, run, path, &input, error));
    run->input = input;
    run->bytes_total = run->bytes_done + tb_input_bytes_total(input);
    if (run->options->input_count > 1)
        run->bytes_total = 0; // the others' sizes are not known yet
    tb_status status = read_trace(run, input, error);
    bool is_of_input = status != TB_ERR_INTERRUPTED &&
                       status != TB_ERR_CLOSED && !run->is_without_tokenizer;
    if (status != TB_OK && is_of_input)
        tb_error_set_path(error, path);
    struct tb_meta_input *meta = &run->inputs[run->input_number];
    tb_input_fingerprint(input, run->fingerprints[run->input_number]);
    meta->path = path;
    meta->fingerprint = run->fingerprints[run->input_number];
    run->input_number++;
    run->bytes_done += tb_input_bytes_done(input);
    run->stats->input_count++;
    run->input = NULL;
    tb_input_close(input);
    return status;
}

static tb_status read_inputs(struct run *run, struct tb_error *error)
{
    for (size_t i = 0; i < run->options->input_count; i++) {
        uint64_t before = run->stats->bytes_read;
        TB_TRY(read_input(run, run->options->inputs[i], error));
        run->inputs[i].size = run->stats->bytes_read - before;
    }
    if (!run->choice.name)
        tb_tokenizer_choice_default(&run->choice);
    if (!tb_pipeline_is_started(run->pipeline))
        TB_TRY(start_workers(run, error));
    struct tb_batch *last = run->batch;
    run->batch = NULL;
    TB_TRY(tb_pipeline_put(run->pipeline, last, error));
    TB_TRY(tb_pipeline_finish(run->pipeline, error));
    return tb_row_maker_flush(run->maker, error);
}

/* ---- before and after
 * ------------------------------------------------------------------ */

static bool does_usage_lead(const struct tb_convert_options *options)
{
    if (options->lengths == TB_LENGTHS_DEFAULT)
        return options->dialect == TB_DIALECT_NAT;
    return options->lengths == TB_LENGTHS_USAGE;
}

static tb_status set_up_rows(struct run *run)
{
    const struct tb_convert_options *options = run->options;
    if (run->output.page)
        TB_TRY(tb_run_report_new(run->block_size,
                                 options->form.rows == TB_ROWS_DELTA,
                                 &run->report));
    struct tb_row_options row_options = {
        .dialect = options->dialect,
        .block_size = run->block_size,
        .is_compat = options->is_compat,
        .does_usage_lead = does_usage_lead(options),
        .keeps_failed = options->keeps_failed,
        .form = options->form,
        .content = options->ids == TB_IDS_CONTENT ? &run->content : NULL,
        .endpoint = &run->model.endpoint,
        .calls = run->output.calls,
        .report = run->report,
    };
    return tb_row_maker_new(&row_options, run->output.rows, run->stats,
                            &run->maker);
}

static tb_status set_up(struct run *run, struct tb_error *error)
{
    const struct tb_convert_options *options = run->options;
    TB_TRY(tb_run_output_open(&run->output, options, is_stopping, run, error));
    if (options->salt_file)
        TB_TRY(tb_keyed_hash_read(options->salt_file, &run->secret, error));
    run->has_secret = options->salt_file != NULL;
    struct tb_pipeline_options pipeline_options = {
        .dialect = options->dialect,
        .is_compat = options->is_compat,
        .rule = &run->model.rule,
        .is_reusing = !options->has_no_reuse,
        .thread_count =
            options->threads ? options->threads : tb_pool_core_count(),
        .on_batch = take_batch,
        .context = run,
    };
    tb_status status = tb_pipeline_new(&pipeline_options, &run->pipeline);
    if (status == TB_OK)
        status = tb_pipeline_get(run->pipeline, &run->batch);
    if (status == TB_OK)
        status = set_up_rows(run);
    run->inputs = tb_memory_zeroed(options->input_count, sizeof(*run->inputs));
    run->fingerprints =
        tb_memory_zeroed(options->input_count, sizeof(*run->fingerprints));
    if (status == TB_OK && (!run->inputs || !run->fingerprints))
        status = TB_ERR_MEMORY;
    return status == TB_OK ? TB_OK : tb_fail(error, status, "out of memory");
}

// The first of the losses, in words.
static const char *what_was_lost(const struct tb_stats *stats)
{
    if (stats->cut_session_count > 0)
        return "the trace ends or is broken inside a session";
    if (stats->lost_record_count > 0)
        return "records could not be read";
    if (tb_stats_skipped(stats) > 0)
        return "calls have no row";
    if (stats->uncounted_answer_count > 0)
        return "answers could not be encoded";
    if (stats->lone_surrogate_count > 0)
        return "half surrogate pairs were replaced";
    if (stats->bad_utf8_count > 0)
        return "broken UTF-8 was replaced";
    return "something was lost";
}

static tb_status check_result(const struct run *run, struct tb_error *error)
{
    const struct tb_stats *stats = run->stats;
    if (stats->row_count + tb_stats_skipped(stats) != stats->call_count)
        return tb_fail(error, TB_ERR_VALUE,
                       "%llu rows and %llu skipped calls are not %llu calls: "
                       "a fault of this program",
                       (unsigned long long)stats->row_count,
                       (unsigned long long)tb_stats_skipped(stats),
                       (unsigned long long)stats->call_count);
    if (run->options->is_strict && tb_stats_has_loss(stats))
        return tb_fail(error, TB_ERR_VALUE,
                       "%s, and --strict does not allow that",
                       what_was_lost(run->stats));
    // A part of a trace may have no calls.
    bool may_be_empty =
        run->options->is_compat || run->options->ids == TB_IDS_CONTENT;
    if (stats->row_count == 0 && !may_be_empty)
        return stats->call_count == 0
                   ? tb_fail(error, TB_ERR_EMPTY,
                             "no rows: there is no model call in the input")
                   : tb_fail(error, TB_ERR_EMPTY,
                             "no rows: %llu calls, none usable",
                             (unsigned long long)stats->call_count);
    return TB_OK;
}

/* What makes rows of several runs one: their ids, and where their timestamps
 * are to begin. */
static tb_status describe_joining(struct run *run, struct tb_meta *meta)
{
    if (run->options->ids != TB_IDS_CONTENT)
        return TB_OK;
    meta->has_content_ids = true;
    TB_TRY(tb_row_terms_json(run->options, &run->model.templates, &run->terms));
    meta->options = tb_buffer_span(&run->terms);
    meta->has_timestamps =
        tb_row_maker_has_timestamps(run->maker, &meta->first_ms);
    if (!run->has_secret)
        return TB_OK;
    tb_keyed_hash_name(&run->secret, run->secret_name);
    meta->secret_name = run->secret_name;
    return TB_OK;
}

static tb_status describe(struct run *run, struct tb_meta *meta)
{
    const struct tb_convert_options *options = run->options;
    *meta = (struct tb_meta){
        .version = options->version,
        .command = options->command,
        .inputs = run->inputs,
        .input_count = options->input_count,
        .does_usage_lead = does_usage_lead(options),
        .has_delay = options->form.delay == TB_DELAY_FIXED,
        .delay_ms = options->form.delay_ms,
    };
    return describe_joining(run, meta);
}

static tb_status convert(struct run *run, struct tb_error *error)
{
    TB_TRY(set_up(run, error));
    // A tokenizer that is known is fetched before anything is read.
    if (!run->choice.name && run->options->dialect == TB_DIALECT_TELEMETRY)
        tb_tokenizer_choice_default(&run->choice);
    if (run->choice.name)
        TB_TRY(start_workers(run, error));
    TB_TRY(read_inputs(run, error));
    run->stats->seconds = seconds_since(&run->started);
    TB_TRY(check_result(run, error));
    if (!run->output.rows)
        return TB_OK;
    // Rows that went through a pipe are known by their trace.
    const char *name = strcmp(run->output.path, "-") == 0
                           ? run->options->inputs[0]
                           : run->output.path;
    if (run->report)
        TB_TRY(tb_run_report_write(run->report, name, run->stats,
                                   run->output.page, error));
    struct tb_meta meta;
    if (describe(run, &meta) != TB_OK)
        return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    TB_TRY(tb_run_output_commit(&run->output, &meta, run->stats, error));
    (void)snprintf(run->stats->output_path, sizeof(run->stats->output_path),
                   "%.255s", run->output.path);
    return TB_OK;
}

static void tear_down(struct run *run)
{
    tb_pipeline_free(run->pipeline);
    tb_row_maker_free(run->maker);
    tb_run_report_free(run->report);
    tb_run_output_close(&run->output);
    tb_run_model_release(&run->model);
    tb_tokenizer_choice_release(&run->choice);
    tb_session_release(&run->session);
    tb_prompt_store_release(&run->prompts);
    tb_buffer_release(&run->session_name);
    tb_buffer_release(&run->prefixed_name);
    tb_buffer_release(&run->terms);
    tb_memory_free(run->inputs);
    tb_memory_free(run->fingerprints);
}

/* Not every place that runs out of memory knows what for: the session that was
 * being put together is what memory grows with. */
static void tell_memory(const struct run *run, struct tb_error *error)
{
    struct tb_memory_state memory = tb_memory_state();
    struct tb_span name = tb_buffer_span(&run->session_name);
    char session[128] = "", limit[128] = "";
    if (name.len > 0)
        (void)snprintf(session, sizeof(session),
                       ": session '%.*s' has %zu calls so far",
                       tb_span_shown(name, 60), (const char *)name.ptr,
                       run->session.call_count);
    if (memory.limit > 0 && memory.refused > 0)
        (void)snprintf(
            limit, sizeof(limit),
            ": %zu MB of %zu MB are used, and %zu KB more were asked "
            "for (--max-memory)",
            memory.refused_at >> 20, memory.limit >> 20,
            (memory.refused >> 10) + 1);
    tb_fail(error, TB_ERR_MEMORY, "out of memory%s%s", limit, session);
}

tb_status tb_convert(const struct tb_convert_options *options,
                     struct tb_stats *stats, struct tb_error *error)
{
    if (options->input_count == 0)
        return tb_fail(error, TB_ERR_USAGE, "no input");
    struct run run = {
        .options = options,
        .stats = stats,
        .choice = {.dialect = options->dialect, .name = options->tokenizer},
        .session_name = TB_BUFFER(SIZE_MAX / 2),
        .prefixed_name = TB_BUFFER(SIZE_MAX / 2),
        .terms = TB_BUFFER(SIZE_MAX / 2),
    };
    run.block_size = options->block_size;
    if (run.block_size == 0)
        run.block_size = options->dialect == TB_DIALECT_NAT ? 128 : 64;
    stats->block_size = run.block_size;
    stats->is_compat = options->is_compat;
    stats->rows = options->form.rows;
    stats->consumer = options->consumer;
    stats->is_for_chat = options->form.endpoint == TB_ENDPOINT_CHAT;
    stats->is_telemetry = options->dialect == TB_DIALECT_TELEMETRY;
    clock_gettime(CLOCK_MONOTONIC, &run.started);
    tb_status status = convert(&run, error);
    if (status == TB_ERR_MEMORY)
        tell_memory(&run, error);
    // Whoever reads the rows may have enough of them; rows of a file are lost.
    if (status == TB_ERR_CLOSED && run.output.rows &&
        !tb_output_is_stream(run.output.rows))
        status = tb_fail(error, TB_ERR_IO,
                         "no rows are written, since nobody reads on what goes "
                         "to a pipe beside them");
    tear_down(&run);
    return status;
}
