#include "replay_check.h"

#include <math.h>

#include "memory.h"

/* ---- who belongs to whom ---------------------------------------------- */

static void take_extra(struct tb_replay_check *check,
                       const struct tb_replay_request *request)
{
    if (check->extra_count < TB_REPLAY_NAMED)
        check->extra[check->extra_count] = request;
    check->extra_count++;
}

/* A session that is played again is more load than was recorded: only its
 * first play is compared. */
static void join(struct tb_replay_check *check)
{
    const struct tb_request_table *requests = check->requests;
    uint32_t session = TB_NAME_NONE, play = 0;
    for (size_t i = 0; i < requests->count; i++) {
        const struct tb_replay_request *request = &requests->items[i];
        if (request->session != session)
            play = request->play;
        session = request->session;
        size_t at = tb_call_table_find(
            check->calls, tb_name_table_name(&requests->sessions, session),
            request->turn);
        if (at == SIZE_MAX)
            take_extra(check, request);
        else if (request->play != play || check->pairs[at].request)
            check->repeated_count++;
        else
            check->pairs[at].request = request;
    }
}

/* Increments add up to no more than the prompt; whole prompts to more than it
 * as soon as there are two. Between the two lies what a template adds. */
static bool are_rows_whole(const struct tb_call_table *calls)
{
    for (size_t i = 1; i < calls->count; i++) {
        const struct tb_replay_call *call = &calls->items[i];
        const struct tb_replay_call *before = call - 1;
        if (call->session == before->session &&
            call->text_tokens > call->prompt_tokens &&
            call->text_tokens - call->prompt_tokens > before->input_length / 2)
            return true;
    }
    return false;
}

/* ---- a pair ----------------------------------------------------------- */

static uint64_t distance(uint64_t first, uint64_t second)
{
    return first > second ? first - second : second - first;
}

static tb_match match(uint64_t recorded, uint64_t replayed, uint64_t tolerance)
{
    uint64_t off = distance(recorded, replayed);
    if (off == 0)
        return TB_MATCH_EXACT;
    return off <= tolerance ? TB_MATCH_WITHIN : TB_MATCH_OFF;
}

static tb_status add(struct tb_replay_figure *figure, tb_match found,
                     uint64_t recorded, uint64_t replayed)
{
    figure->matches[found]++;
    if (found == TB_MATCH_NONE)
        return TB_OK;
    TB_TRY(tb_series_add(&figure->recorded, recorded));
    return tb_series_add(&figure->replayed, replayed);
}

static bool find_prompts(const struct tb_replay_check *check,
                         struct tb_replay_pair *pair)
{
    const struct tb_replay_call *call = pair->call;
    const struct tb_replay_request *request = pair->request;
    pair->is_server_count = request->has_prompt;
    if (request->has_prompt) {
        pair->recorded_prompt = call->prompt_tokens;
        pair->replayed_prompt = request->prompt_tokens;
        return true;
    }
    if (!request->has_text || check->options.rows == TB_REPLAY_ROWS_MESSAGES)
        return false;
    // aiperf joins the texts of a conversation: a token each time.
    pair->recorded_prompt =
        check->is_whole ? call->input_length : call->text_tokens + call->turn;
    pair->replayed_prompt = request->text_tokens;
    return true;
}

/* Texts that are tokenized together may come out a token shorter than each
 * alone, which no row can know. */
static uint64_t prompt_tolerance(const struct tb_replay_check *check,
                                 const struct tb_replay_pair *pair)
{
    if (check->options.has_tolerance)
        return check->options.tolerance;
    return pair->is_server_count ? pair->call->turn > 0 : pair->call->turn;
}

static tb_status compare_tokens(struct tb_replay_check *check,
                                struct tb_replay_pair *pair)
{
    const struct tb_replay_call *call = pair->call;
    const struct tb_replay_request *request = pair->request;
    uint64_t tolerance =
        check->options.has_tolerance ? check->options.tolerance : 0;
    if (find_prompts(check, pair)) {
        pair->prompt = match(pair->recorded_prompt, pair->replayed_prompt,
                             prompt_tolerance(check, pair));
        check->server_counted_count += pair->is_server_count;
    }
    if (request->has_output)
        pair->output =
            match(call->output_length, request->output_tokens, tolerance);
    TB_TRY(add(&check->prompt, pair->prompt, pair->recorded_prompt,
               pair->replayed_prompt));
    return add(&check->output, pair->output, call->output_length,
               request->output_tokens);
}

// Times of a file may be beyond all sense.
static uint64_t rounded(double value)
{
    const double most = 1e18;
    return value <= 0 ? 0 : (uint64_t)round(fmin(value, most));
}

static tb_status compare_times(struct tb_replay_check *check,
                               struct tb_replay_pair *pair,
                               struct tb_replay_figure *figure,
                               struct tb_replay_lag *lag)
{
    double late_ms = pair->replayed_ms - (double)pair->recorded_ms;
    bool is_off = check->options.has_late &&
                  fabs(late_ms) > (double)check->options.late_ms;
    pair->time = is_off ? TB_MATCH_OFF : TB_MATCH_WITHIN;
    lag->early_ms = fmax(lag->early_ms, -late_ms);
    TB_TRY(tb_series_add(&lag->late_us, rounded(late_ms * 1000)));
    return add(figure, pair->time, pair->recorded_ms,
               rounded(pair->replayed_ms));
}

static tb_status compare_gap(struct tb_replay_check *check,
                             struct tb_replay_pair *pair,
                             const struct tb_replay_pair *before)
{
    const struct tb_replay_call *call = pair->call;
    bool is_known = before->request && before->call->session == call->session &&
                    before->call->turn + 1 == call->turn && call->has_delay;
    double gap_ms =
        is_known ? pair->request->start_ms - before->request->end_ms : NAN;
    if (!isfinite(gap_ms))
        return TB_OK;
    pair->recorded_ms = call->delay_ms;
    pair->replayed_ms = gap_ms;
    return compare_times(check, pair, &check->gap, &check->gap_lag);
}

static bool has_start(const struct tb_replay_pair *pair)
{
    return pair->request && !pair->request->is_failed &&
           pair->call->turn == 0 && pair->call->has_timestamp &&
           isfinite(pair->request->start_ms);
}

static tb_status compare_starts(struct tb_replay_check *check)
{
    double zero_ms = INFINITY;
    for (size_t i = 0; i < check->calls->count; i++) {
        const struct tb_replay_pair *pair = &check->pairs[i];
        if (has_start(pair))
            zero_ms = fmin(zero_ms, pair->request->start_ms -
                                        (double)pair->call->timestamp_ms);
    }
    for (size_t i = 0; i < check->calls->count; i++) {
        struct tb_replay_pair *pair = &check->pairs[i];
        if (!has_start(pair))
            continue;
        pair->recorded_ms = pair->call->timestamp_ms;
        pair->replayed_ms = pair->request->start_ms - zero_ms;
        TB_TRY(compare_times(check, pair, &check->start, &check->start_lag));
    }
    return TB_OK;
}

static void compare_cache(struct tb_replay_check *check,
                          const struct tb_replay_pair *pair)
{
    const struct tb_replay_call *call = pair->call;
    const struct tb_replay_request *request = pair->request;
    if (!call->has_cached || !call->has_usage || !request->has_cached ||
        !request->has_prompt)
        return;
    check->cached_count++;
    check->recorded_cached += call->cached_tokens;
    check->recorded_prompt += call->usage_tokens;
    check->replayed_cached += request->cached_tokens;
    check->replayed_prompt += request->prompt_tokens;
}

static tb_status compare(struct tb_replay_check *check, size_t at)
{
    struct tb_replay_pair *pair = &check->pairs[at];
    if (!pair->request) {
        check->missing_count++;
        return TB_OK;
    }
    if (pair->request->is_failed) {
        check->failed_count++;
        return TB_OK;
    }
    check->answered_count++;
    TB_TRY(compare_tokens(check, pair));
    compare_cache(check, pair);
    return at > 0 ? compare_gap(check, pair, pair - 1) : TB_OK;
}

/* ---- the worst -------------------------------------------------------- */

int64_t tb_replay_prompt_off(const struct tb_replay_pair *pair)
{
    return (int64_t)(pair->replayed_prompt - pair->recorded_prompt);
}

int64_t tb_replay_output_off(const struct tb_replay_pair *pair)
{
    return (int64_t)(pair->request->output_tokens - pair->call->output_length);
}

static uint64_t tokens_off(const struct tb_replay_pair *pair)
{
    uint64_t off = 0;
    if (pair->prompt != TB_MATCH_NONE)
        off += distance(pair->recorded_prompt, pair->replayed_prompt);
    if (pair->output != TB_MATCH_NONE)
        off +=
            distance(pair->call->output_length, pair->request->output_tokens);
    return off;
}

static double time_off(const struct tb_replay_pair *pair)
{
    return pair->time == TB_MATCH_OFF
               ? fabs(pair->replayed_ms - (double)pair->recorded_ms)
               : 0;
}

static bool is_worse(const struct tb_replay_pair *pair,
                     const struct tb_replay_pair *other)
{
    uint64_t off = tokens_off(pair), other_off = tokens_off(other);
    return off != other_off ? off > other_off
                            : time_off(pair) > time_off(other);
}

static void take_worst(struct tb_replay_check *check, size_t candidate)
{
    const struct tb_replay_pair *pairs = check->pairs;
    size_t at = check->worst_count;
    if (at < TB_REPLAY_WORST)
        check->worst_count++;
    else if (is_worse(&pairs[candidate], &pairs[check->worst[at - 1]]))
        at--;
    else
        return;
    for (; at > 0 && is_worse(&pairs[candidate], &pairs[check->worst[at - 1]]);
         at--)
        check->worst[at] = check->worst[at - 1];
    check->worst[at] = candidate;
}

static void find_worst(struct tb_replay_check *check)
{
    for (size_t i = 0; i < check->calls->count; i++) {
        const struct tb_replay_pair *pair = &check->pairs[i];
        if (pair->prompt == TB_MATCH_OFF || pair->output == TB_MATCH_OFF ||
            pair->time == TB_MATCH_OFF)
            take_worst(check, i);
    }
}

/* ---- all -------------------------------------------------------------- */

static bool is_good(const struct tb_replay_figure *figure)
{
    return figure->matches[TB_MATCH_OFF] == 0 &&
           figure->matches[TB_MATCH_NONE] == 0;
}

tb_status tb_replay_check_make(const struct tb_call_table *calls,
                               const struct tb_request_table *requests,
                               const struct tb_replay_options *options,
                               struct tb_replay_check *check)
{
    *check = (struct tb_replay_check){
        .calls = calls, .requests = requests, .options = *options};
    check->pairs = tb_memory_zeroed(calls->count + 1, sizeof(*check->pairs));
    if (!check->pairs)
        return TB_ERR_MEMORY;
    for (size_t i = 0; i < calls->count; i++)
        check->pairs[i].call = &calls->items[i];
    check->is_whole =
        options->rows == TB_REPLAY_ROWS_WHOLE ||
        (options->rows == TB_REPLAY_ROWS_UNKNOWN && are_rows_whole(calls));
    join(check);
    for (size_t i = 0; i < calls->count; i++)
        TB_TRY(compare(check, i));
    TB_TRY(compare_starts(check));
    find_worst(check);
    check->is_equal = check->answered_count == calls->count &&
                      check->extra_count == 0 && check->repeated_count == 0 &&
                      is_good(&check->prompt) && is_good(&check->output) &&
                      is_good(&check->gap) && is_good(&check->start);
    return TB_OK;
}

static void release(struct tb_replay_figure *figure)
{
    tb_series_release(&figure->recorded);
    tb_series_release(&figure->replayed);
}

void tb_replay_check_release(struct tb_replay_check *check)
{
    release(&check->prompt);
    release(&check->output);
    release(&check->gap);
    release(&check->start);
    tb_series_release(&check->gap_lag.late_us);
    tb_series_release(&check->start_lag.late_us);
    tb_memory_free(check->pairs);
    *check = (struct tb_replay_check){0};
}
