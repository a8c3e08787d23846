/* tracebake nat, tracebake telemetry: options to a conversion, and what it did
 * back to the person. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "convert_request.h"
#include "fetch.h"
#include "memory.h"
#include "message.h"
#include "model_choice.h"
#include "progress.h"
#include "stop_signal.h"
#include "summary.h"

enum {
    SUMMARY_MAX = 1 << 26, // bytes
    MESSAGES_SHOWN = 5
};

static bool on_progress(void *context, const struct tb_convert_progress *state)
{
    if (tb_stop_signal())
        return false;
    tb_progress_show(context, state);
    return true;
}

static bool is_standard_output(const char *path)
{
    return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0 ||
           strcmp(path, "/dev/fd/1") == 0;
}

// Do rows, calls or the page go to standard output, so that nothing else may?
static bool is_output_taken(const struct tb_convert_options *options)
{
    char path[4096];
    const char *output = options->output;
    if (options->is_dry_run)
        return false;
    if (!output) {
        tb_convert_output_path(options->inputs[0], path, sizeof(path));
        output = path;
    }
    return is_standard_output(output) ||
           (options->calls && is_standard_output(options->calls)) ||
           (options->report && is_standard_output(options->report));
}

static void print_messages(const struct tb_stats *stats)
{
    uint64_t count = stats->message_count;
    uint64_t shown = count < MESSAGES_SHOWN ? count : MESSAGES_SHOWN;
    for (uint64_t i = 0; i < shown; i++)
        tb_message_error(&stats->messages[i]);
    if (count > shown)
        tb_message_line("and %llu more", (unsigned long long)(count - shown));
}

static tb_status print_summary(const struct tb_convert_arguments *arguments,
                               struct tb_stats *stats, bool is_error)
{
    int kind = arguments->stats;
    if (kind == TB_ARG_UNSET)
        kind = arguments->is_quiet ? TB_ARG_STATS_NONE : TB_ARG_STATS_TEXT;
    if (kind == TB_ARG_STATS_NONE)
        return TB_OK;
    unsigned width = is_error ? 0 : tb_message_picture_width();
    struct tb_buffer text = TB_BUFFER(SUMMARY_MAX);
    tb_status status = kind == TB_ARG_STATS_JSON
                           ? tb_summary_json(stats, &text)
                           : tb_summary_text(stats, width, &text);
    if (status == TB_OK)
        status = tb_message_text(tb_buffer_span(&text), is_error, NULL);
    tb_buffer_release(&text);
    return status;
}

/* The rows are there, so a summary that nobody asked for is no failure. One
 * that was asked for is: whoever reads it would take the half for the whole. */
static tb_status note_unprinted(const struct tb_convert_arguments *arguments,
                                const struct tb_convert_options *options,
                                tb_status printed, struct tb_error *error)
{
    bool is_asked_for = arguments->stats != TB_ARG_UNSET;
    tb_fail_errno(error, printed, "cannot print the summary%s",
                  options->is_dry_run ? "" : " (the rows are written)");
    if (is_asked_for)
        return printed;
    tb_message_error(error);
    return TB_OK;
}

// The figures say why nothing came out, or what --strict refused.
static bool is_explained_by_figures(tb_status status)
{
    return status == TB_ERR_EMPTY || status == TB_ERR_VALUE;
}

static int finish(const struct tb_convert_arguments *arguments,
                  const struct tb_convert_options *options, tb_status status,
                  struct tb_stats *stats, struct tb_error *error)
{
    if (!arguments->is_quiet)
        print_messages(stats);
    if (status == TB_ERR_INTERRUPTED && tb_stop_signal()) {
        tb_message_line("stopped, nothing written");
        return TB_EXIT_SIGNAL + tb_stop_signal();
    }
    if (status == TB_ERR_CLOSED)
        return TB_EXIT_DONE; // whoever read the rows had enough
    bool is_failed = status != TB_OK;
    if (!is_failed || is_explained_by_figures(status)) {
        bool is_error = is_failed || is_output_taken(options);
        tb_status printed = print_summary(arguments, stats, is_error);
        if (printed != TB_OK && printed != TB_ERR_CLOSED && !is_failed)
            status = note_unprinted(arguments, options, printed, error);
    }
    if (status == TB_OK)
        return TB_EXIT_DONE;
    tb_message_error(error);
    return status == TB_ERR_USAGE ? TB_EXIT_USAGE : TB_EXIT_FAILED;
}

static int convert(const struct tb_convert_arguments *arguments,
                   struct tb_convert_options *options)
{
    struct tb_stats stats = {0};
    struct tb_error error = {0};
    struct tb_progress progress = tb_progress_start(arguments->is_quiet);
    struct tb_hub_access hub = tb_fetch_access(&progress);
    options->on_progress = on_progress;
    options->context = &progress;
    options->hub = &hub;
    tb_stop_signal_watch();
    tb_memory_set_limit(arguments->max_memory);
    tb_status status = tb_convert(options, &stats, &error);
    tb_progress_clear(&progress);
    error.status = status;
    int result = finish(arguments, options, status, &stats, &error);
    tb_stats_release(&stats);
    return result;
}

static int run(tb_dialect_id dialect, int argc, char *const *argv)
{
    const struct tb_option_table *table = tb_convert_option_table(dialect);
    struct tb_convert_request request;
    struct tb_error error = {0};
    int result;
    tb_convert_request_init(&request, dialect);
    request.options.version = TB_VERSION;
    tb_status status = tb_convert_request_read(&request, argc, argv, &error);
    if (request.arguments.is_help) {
        result = tb_message_help(table);
    } else if (status == TB_ERR_USAGE) {
        result = tb_message_usage(&error, table->command);
    } else if (status != TB_OK) {
        tb_message_error(&error);
        result = TB_EXIT_FAILED;
    } else {
        result = convert(&request.arguments, &request.options);
    }
    tb_convert_request_release(&request);
    return result;
}

int tb_command_nat(int argc, char *const *argv)
{
    return run(TB_DIALECT_NAT, argc, argv);
}

int tb_command_telemetry(int argc, char *const *argv)
{
    return run(TB_DIALECT_TELEMETRY, argc, argv);
}
