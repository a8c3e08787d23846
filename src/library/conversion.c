/* tracebake.h over the layers below: conversions. */
#include <limits.h>
#include <string.h>

#include "caller_options.h"
#include "convert_request.h"
#include "memory.h"
#include "summary.h"

/* Bytes of a summary: as many as there are agents. */
#define SUMMARY_MAX ((size_t)1 << 26)

struct tb_conversion {
    struct tb_stats stats;
    struct tb_buffer summary; /* zero-terminated, or empty */
};

static bool on_progress(void *context, const struct tb_convert_progress *state)
{
    const struct tb_conversion_options *options = context;
    const struct tb_conversion_progress progress = {
        .path = state->path,
        .bytes_done = state->bytes_done,
        .bytes_total = state->bytes_total,
        .row_count = state->row_count,
        .seconds = state->seconds,
    };
    return options->on_progress(options->context, &progress);
}

static bool find_dialect(const char *command, tb_dialect_id *dialect)
{
    static const tb_dialect_id dialects[] = {TB_DIALECT_NAT,
                                             TB_DIALECT_TELEMETRY};
    for (size_t i = 0; i < sizeof(dialects) / sizeof(dialects[0]); i++) {
        *dialect = dialects[i];
        if (command &&
            strcmp(tb_convert_option_table(*dialect)->command, command) == 0)
            return true;
    }
    return false;
}

static tb_status convert(struct tb_conversion_options *options,
                         struct tb_convert_request *request,
                         struct tb_conversion *conversion,
                         struct tb_error *error)
{
    struct tb_fetch_watch watch = {options->on_fetch, options->context};
    struct tb_hub_access access = tb_fetch_watch_access(&watch);
    request->options.version = tb_version();
    if (options->may_fetch)
        request->options.hub = &access;
    if (options->on_progress)
        request->options.on_progress = on_progress;
    request->options.context = options;
    tb_status status = tb_convert(&request->options, &conversion->stats, error);
    if (tb_summary_json(&conversion->stats, &conversion->summary) == TB_OK &&
        tb_buffer_append_byte(&conversion->summary, 0) == TB_OK)
        return status;
    tb_buffer_release(&conversion->summary);
    // The rows are there; that nothing can be told of them is the failure.
    return status == TB_OK ? tb_fail(error, TB_ERR_MEMORY,
                                     "no memory for the summary (the rows are "
                                     "written)")
                           : status;
}

static tb_status read_and_convert(struct tb_conversion_options *options,
                                  tb_dialect_id dialect,
                                  struct tb_conversion *conversion,
                                  struct tb_error *error)
{
    struct tb_convert_request request;
    // Words are read and not written to.
    char *const *words = (char *const *)(uintptr_t)options->arguments;
    tb_convert_request_init(&request, dialect);
    tb_status status = tb_convert_request_read(
        &request, (int)options->argument_count, words, error);
    if (status == TB_OK && request.arguments.is_help)
        status = tb_fail(error, TB_ERR_USAGE, "--help is the program's");
    if (status == TB_OK && request.arguments.max_memory > 0)
        status = tb_fail(error, TB_ERR_USAGE,
                         "--max-memory is the program's, since it holds for a "
                         "whole process");
    if (status == TB_OK)
        status = convert(options, &request, conversion, error);
    tb_convert_request_release(&request);
    return status;
}

static tb_status run(const struct tb_conversion_options *given,
                     struct tb_conversion *conversion, struct tb_error *error)
{
    struct tb_conversion_options options = {0};
    tb_dialect_id dialect;
    TB_TRY(tb_caller_options_copy(
        &options, sizeof(options),
        offsetof(struct tb_conversion_options, context) + sizeof(void *), given,
        error));
    if (!find_dialect(options.command, &dialect))
        return tb_fail(error, TB_ERR_USAGE,
                       "'%.60s' is no command that converts: nat, telemetry",
                       options.command ? options.command : "");
    if (options.argument_count > INT_MAX)
        return tb_fail(error, TB_ERR_LIMIT, "too many arguments");
    return read_and_convert(&options, dialect, conversion, error);
}

tb_status tb_conversion_run(const struct tb_conversion_options *options,
                            struct tb_conversion **conversion,
                            struct tb_error *error)
{
    struct tb_error detail = {.status = TB_OK};
    *conversion = tb_memory_zeroed(1, sizeof(**conversion));
    if (!*conversion)
        return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    (*conversion)->summary = TB_BUFFER(SUMMARY_MAX);
    tb_status status = run(options, *conversion, &detail);
    return tb_caller_fail(error, status, &detail);
}

const char *tb_conversion_summary(const struct tb_conversion *conversion)
{
    return conversion->summary.len ? (const char *)conversion->summary.ptr : "";
}

void tb_conversion_free(struct tb_conversion *conversion)
{
    if (!conversion)
        return;
    tb_stats_release(&conversion->stats);
    tb_buffer_release(&conversion->summary);
    tb_memory_free(conversion);
}
