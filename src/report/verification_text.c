#include <inttypes.h>
#include <stdio.h>

#include "c_locale.h"
#include "share.h"
#include "text_page.h"
#include "verification.h"

bool tb_verification_is_good(const struct tb_verification *verification)
{
    return verification->check->is_equal && verification->causes->count == 0;
}

/* ---- figures ---------------------------------------------------------- */

static void put_head(struct tb_page *page,
                     const struct tb_verification *verification)
{
    const struct tb_replay_check *check = verification->check;
    tb_page_put(page, "%s in %s", tb_counted(check->calls->count, "call").text,
                tb_counted(check->calls->sessions.count, "session").text);
    if (check->calls->skipped_count > 0)
        tb_page_put(page, " (%s without a row)",
                    tb_counted(check->calls->skipped_count, "more call").text);
    tb_page_put(page, ", %s\n",
                tb_counted(check->requests->count, "request").text);
}

static void put_series(struct tb_page *page, const char *name, const char *side,
                       struct tb_series *series)
{
    static const double fractions[] = {0.5, 0.9, 1};
    tb_page_put(page, "%-15s%-9s%11s%11s", name, side,
                tb_grouped(series->count).text,
                tb_grouped_real(tb_series_mean(series)).text);
    for (size_t i = 0; i < sizeof(fractions) / sizeof(fractions[0]); i++)
        tb_page_put(
            page, "%11s",
            tb_grouped(tb_series_percentile(series, fractions[i])).text);
    tb_page_put(page, "\n");
}

static void put_figure(struct tb_page *page, const char *name,
                       struct tb_replay_figure *figure)
{
    if (figure->recorded.count == 0)
        return;
    put_series(page, name, "recorded", &figure->recorded);
    put_series(page, "", "replayed", &figure->replayed);
}

static void put_table(struct tb_page *page, struct tb_replay_check *check)
{
    if (check->answered_count == 0)
        return;
    tb_page_put(page, "\n%24s%11s%11s%11s%11s%11s\n", "", "count", "mean",
                "p50", "p90", "max");
    put_figure(page, "prompt tokens", &check->prompt);
    put_figure(page, "output tokens", &check->output);
    put_figure(page, "gap, ms", &check->gap);
    put_figure(page, "start, ms", &check->start);
    tb_page_put(page, "\n");
}

static void put_matches(struct tb_page *page, const char *label,
                        const struct tb_replay_figure *figure, const char *more)
{
    const uint64_t *matches = figure->matches;
    char unknown[48] = "";
    if (matches[TB_MATCH_NONE] > 0)
        (void)snprintf(unknown, sizeof(unknown), ", %s not counted",
                       tb_grouped(matches[TB_MATCH_NONE]).text);
    tb_page_entry(page, label, "%s exact, %s within the tolerance, %s off%s%s",
                  tb_grouped(matches[TB_MATCH_EXACT]).text,
                  tb_grouped(matches[TB_MATCH_WITHIN]).text,
                  tb_grouped(matches[TB_MATCH_OFF]).text, unknown, more);
}

static void put_lag(struct tb_page *page, const char *label, const char *what,
                    const struct tb_replay_check *check,
                    const struct tb_replay_figure *figure,
                    struct tb_replay_lag *lag)
{
    char judged[96] = "", early[64] = "", ms[32];
    if (figure->recorded.count == 0)
        return;
    tb_real_to_text(ms, sizeof(ms), 1, 'f', lag->early_ms);
    if (lag->early_ms > 0)
        (void)snprintf(early, sizeof(early), ", early by %s ms at most", ms);
    if (check->options.has_late)
        (void)snprintf(judged, sizeof(judged), "; %s off by more than %s ms",
                       tb_grouped(figure->matches[TB_MATCH_OFF]).text,
                       tb_grouped(check->options.late_ms).text);
    tb_page_entry(page, label,
                  "%s came late by %.1f ms in the median and %.1f ms at "
                  "most%s%s",
                  what, (double)tb_series_percentile(&lag->late_us, 0.5) / 1000,
                  (double)tb_series_percentile(&lag->late_us, 1) / 1000, early,
                  judged);
}

static void put_comparison(struct tb_page *page, struct tb_replay_check *check)
{
    if (check->answered_count > 0) {
        bool is_by_server =
            check->server_counted_count == check->prompt.recorded.count;
        put_matches(page, "prompts", &check->prompt,
                    is_by_server ? ""
                                 : "; counted by aiperf, without a chat "
                                   "template, where the server told no usage");
        put_matches(page, "answers", &check->output, "");
    }
    put_lag(page, "gaps", "turns", check, &check->gap, &check->gap_lag);
    put_lag(page, "starts", "sessions", check, &check->start,
            &check->start_lag);
    if (check->cached_count > 0)
        tb_page_entry(
            page, "prefix cache",
            "of the prompts' tokens the server's cache had %.1f %% "
            "when recorded, %.1f %% when replayed (%s)",
            tb_percent(check->recorded_cached, check->recorded_prompt),
            tb_percent(check->replayed_cached, check->replayed_prompt),
            tb_counted(check->cached_count, "call").text);
}

/* ---- who has no partner ----------------------------------------------- */

static void put_missing(struct tb_page *page,
                        const struct tb_replay_check *check)
{
    uint64_t named = 0;
    bool is_all = check->missing_count == check->calls->count;
    if (check->missing_count > 0)
        tb_page_entry(page, "not sent", "%s without a request",
                      tb_counted(check->missing_count, "call").text);
    for (size_t i = 0;
         !is_all && i < check->calls->count && named < TB_REPLAY_NAMED; i++) {
        const struct tb_replay_call *call = check->pairs[i].call;
        struct tb_span name =
            tb_name_table_name(&check->calls->sessions, call->session);
        if (check->pairs[i].request)
            continue;
        tb_page_entry(page, "", "row %" PRIu64 ": %.*s turn %" PRIu32,
                      call->row, tb_span_shown(name, 200),
                      (const char *)name.ptr, call->turn);
        named++;
    }
    if (named > 0 && named < check->missing_count)
        tb_page_entry(page, "", "and %s more",
                      tb_grouped(check->missing_count - named).text);
}

static void put_extra(struct tb_page *page, const struct tb_replay_check *check)
{
    uint64_t named = check->extra_count < TB_REPLAY_NAMED ? check->extra_count
                                                          : TB_REPLAY_NAMED;
    if (check->extra_count > 0)
        tb_page_entry(page, "not recorded", "%s of no call",
                      tb_counted(check->extra_count, "request").text);
    for (size_t i = 0; i < named; i++) {
        const struct tb_replay_request *request = check->extra[i];
        struct tb_span name =
            tb_name_table_name(&check->requests->sessions, request->session);
        tb_page_entry(page, "", "%.*s turn %" PRIu32, tb_span_shown(name, 200),
                      (const char *)name.ptr, request->turn);
    }
    if (named < check->extra_count)
        tb_page_entry(page, "", "and %s more",
                      tb_grouped(check->extra_count - named).text);
}

static void put_counts(struct tb_page *page,
                       const struct tb_replay_check *check)
{
    put_missing(page, check);
    put_extra(page, check);
    if (check->failed_count > 0)
        tb_page_entry(page, "failed", "%s without an answer",
                      tb_counted(check->failed_count, "request").text);
    if (check->repeated_count > 0)
        tb_page_entry(page, "repeated", "%s of calls that were made before",
                      tb_counted(check->repeated_count, "request").text);
    if (check->requests->warmup_count > 0)
        tb_page_entry(
            page, "warm-up", "%s left out",
            tb_counted(check->requests->warmup_count, "request").text);
}

static void put_losses(struct tb_page *page,
                       const struct tb_line_losses *losses, const char *what)
{
    char text[700];
    if (losses->count == 0)
        return;
    tb_error_format(&losses->first, text, sizeof(text));
    tb_page_entry(page, "unreadable", "%s that should be %s, the first: %s",
                  tb_counted(losses->count, "line").text, what, text);
}

// What passed only since nobody could look.
static void put_unchecked(struct tb_page *page,
                          const struct tb_verification *verification)
{
    const char *missing = NULL;
    if (!verification->rows->is_known)
        missing = "the rows' meta file was not found (--rows FILE)";
    else if (!verification->run->settings.is_found)
        missing = "the run's settings were not found";
    if (missing && verification->check->requests->count > 0)
        tb_page_entry(page, "not checked", "the block size: %s", missing);
}

static void put_unread(struct tb_page *page,
                       const struct tb_verification *verification)
{
    const struct tb_error *error = &verification->run->settings_error;
    char text[700];
    put_losses(page, &verification->check->calls->losses, "a call");
    put_losses(page, &verification->check->requests->losses, "a request");
    if (error->status == TB_OK)
        return;
    tb_error_format(error, text, sizeof(text));
    tb_page_entry(page, "unreadable", "the run's settings: %s", text);
}

/* ---- the worst, and why ----------------------------------------------- */

static void put_cell(struct tb_page *page, bool is_known, int width,
                     double value)
{
    if (is_known)
        tb_page_put(page, "%*.0f", width, value);
    else
        tb_page_put(page, "%*s", width, "-");
}

static void put_pair(struct tb_page *page, const struct tb_replay_check *check,
                     const struct tb_replay_pair *pair)
{
    const struct tb_replay_call *call = pair->call;
    struct tb_span name =
        tb_name_table_name(&check->calls->sessions, call->session);
    bool has_prompt = pair->prompt != TB_MATCH_NONE;
    bool has_output = pair->output != TB_MATCH_NONE;
    bool has_time = pair->time != TB_MATCH_NONE;
    tb_page_put(page, "%7" PRIu64 "  %-17.*s%5" PRIu32, call->row,
                tb_span_shown(name, 17), (const char *)name.ptr, call->turn);
    put_cell(page, has_prompt, 9, (double)pair->recorded_prompt);
    put_cell(page, has_prompt, 9, (double)pair->replayed_prompt);
    put_cell(page, has_output, 7, (double)call->output_length);
    put_cell(page, has_output, 7, (double)pair->request->output_tokens);
    put_cell(page, has_time, 8, (double)pair->recorded_ms);
    put_cell(page, has_time, 8, pair->replayed_ms);
    tb_page_put(page, "\n");
}

static void put_worst(struct tb_page *page, const struct tb_replay_check *check)
{
    if (check->worst_count == 0)
        return;
    tb_page_put(page, "\n%-31s%18s%14s%16s\n", "worst calls", "prompt tokens",
                "output tokens", "time, ms");
    tb_page_put(page, "%7s  %-17s%5s%9s%9s%7s%7s%8s%8s\n", "row", "session",
                "turn", "was", "is", "was", "is", "was", "is");
    for (size_t i = 0; i < check->worst_count; i++)
        put_pair(page, check, &check->pairs[check->worst[i]]);
}

static void put_causes(struct tb_page *page,
                       const struct tb_replay_causes *causes)
{
    if (causes->count > 0)
        tb_page_put(page, "\n");
    for (size_t i = 0; i < causes->count; i++) {
        const struct tb_replay_cause *cause = &causes->items[i];
        tb_page_entry(page, "cause", "[%s] %s",
                      tb_replay_cause_name(cause->kind), cause->message);
        tb_page_entry(page, "", "to change: %s", cause->change);
    }
}

tb_status tb_verification_text(const struct tb_verification *verification,
                               struct tb_buffer *buffer)
{
    struct tb_page page = {.buffer = buffer};
    struct tb_replay_check *check = verification->check;
    put_head(&page, verification);
    put_table(&page, check);
    put_comparison(&page, check);
    put_counts(&page, check);
    put_unread(&page, verification);
    put_unchecked(&page, verification);
    put_worst(&page, check);
    put_causes(&page, verification->causes);
    tb_page_put(&page, "\n%s\n",
                tb_verification_is_good(verification)
                    ? "the replay is the recorded load"
                    : "the replay is not the recorded load");
    return page.status;
}
