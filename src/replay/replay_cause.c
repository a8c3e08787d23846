#include "replay_cause.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    // What aiperf 0.13.0 takes when it is not told.
    BLOCK_SIZE_DEFAULT = 512, // tokens
    REQUESTS_DEFAULT = 10
};

static const char *const names[TB_CAUSE_COUNT] = {
    [TB_CAUSE_NO_REQUESTS] = "no-requests",
    [TB_CAUSE_OTHER_ROWS] = "other-rows",
    [TB_CAUSE_BLOCK_SIZE] = "block-size",
    [TB_CAUSE_WHOLE_ROWS] = "whole-rows",
    [TB_CAUSE_TEMPLATE] = "template",
    [TB_CAUSE_TOKENIZER] = "tokenizer",
    [TB_CAUSE_FEW_REQUESTS] = "few-requests",
    [TB_CAUSE_REPEATED] = "repeated",
    [TB_CAUSE_CANCELLED] = "cancelled",
    [TB_CAUSE_FAILED] = "failed",
    [TB_CAUSE_OUTPUT] = "output",
    [TB_CAUSE_NOT_COUNTED] = "not-counted",
    [TB_CAUSE_LATE] = "late",
    [TB_CAUSE_STARTS] = "starts",
};

const char *tb_replay_cause_name(tb_replay_cause_kind kind)
{
    assert(kind < TB_CAUSE_COUNT);
    return names[kind];
}

struct search {
    const struct tb_replay_check *check;
    const struct tb_replay_run *run;
    const struct tb_replayed_rows *rows;
    struct tb_replay_causes *causes;
};

TB_PRINTF(4, 5)
static void found(struct search *search, tb_replay_cause_kind kind,
                  const char *change, const char *format, ...)
{
    struct tb_replay_causes *causes = search->causes;
    struct tb_replay_cause *cause = &causes->items[causes->count++];
    va_list arguments;
    cause->kind = kind;
    va_start(arguments, format);
    (void)vsnprintf(cause->message, sizeof(cause->message), format, arguments);
    va_end(arguments);
    (void)snprintf(cause->change, sizeof(cause->change), "%s", change);
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* ---- what was replayed ------------------------------------------------ */

static void look_for_end(struct search *search)
{
    const char *fault = search->run->log.fault;
    if (search->run->requests.count > 0)
        return;
    if (fault[0])
        found(search, TB_CAUSE_NO_REQUESTS,
              "run it again without that error; logs/aiperf.log has the rest",
              "the run ended before it sent a request; its log says: %s",
              fault);
    else
        found(search, TB_CAUSE_NO_REQUESTS,
              "look into logs/aiperf.log, and run it again",
              "the run sent no request that is measured");
}

static void look_for_other_rows(struct search *search)
{
    const struct tb_replay_check *check = search->check;
    uint64_t calls = check->calls->count, rows = search->rows->row_count;
    const char *change =
        "give --calls the file that was written together with the rows";
    bool is_joined = check->missing_count < calls;
    if (check->requests->count > 0 && !is_joined)
        found(search, TB_CAUSE_OTHER_ROWS, change,
              "no request of the run is of a session and turn of these calls: "
              "they are not those of the rows that were replayed");
    else if (rows > 0 && rows != calls && check->calls->losses.count == 0)
        found(search, TB_CAUSE_OTHER_ROWS, change,
              "the rows that were replayed are %" PRIu64
              " by their meta file, the calls with a row %" PRIu64
              ": they are not of one conversion",
              rows, calls);
}

// 0: not known.
static uint64_t run_block_size(const struct tb_replay_run *run)
{
    if (run->log.block_size > 0)
        return run->log.block_size;
    if (run->settings.block_size > 0)
        return run->settings.block_size;
    return run->settings.is_found ? BLOCK_SIZE_DEFAULT : 0;
}

static void look_for_block_size(struct search *search)
{
    uint64_t run = run_block_size(search->run);
    uint64_t made = search->rows->block_size;
    bool is_refused = search->run->log.block_size > 0;
    bool has_ids = search->rows->kind != TB_REPLAY_ROWS_MESSAGES;
    char change[128];
    if (!has_ids || run == 0 || run == made || (made == 0 && !is_refused))
        return;
    if (made == 0) {
        found(search, TB_CAUSE_BLOCK_SIZE,
              "run it with --isl-block-size as the rows' meta file has it; "
              "--rows FILE tells it here",
              "the run took blocks of %" PRIu64
              " tokens, which the rows do not fit",
              run);
        return;
    }
    (void)snprintf(change, sizeof(change),
                   "run it with --isl-block-size %" PRIu64, made);
    found(search, TB_CAUSE_BLOCK_SIZE, change,
          "the run took blocks of %" PRIu64
          " tokens, the rows were made with %" PRIu64 "%s",
          run, made,
          is_refused ? ""
                     : ": its prompts do not share what the recorded ones "
                       "shared");
}

// One tokenizer may have two names: that is a reason, not a finding.
static bool is_other_tokenizer(const struct search *search)
{
    const char *run = search->run->settings.tokenizer;
    const char *made = search->rows->tokenizer;
    return run[0] && made && made[0] && strcmp(run, made) != 0;
}

static void look_for_tokenizer(struct search *search)
{
    const char *run = search->run->settings.tokenizer;
    const char *made = search->rows->tokenizer;
    char change[320];
    if (!is_other_tokenizer(search) ||
        search->check->prompt.matches[TB_MATCH_OFF] == 0)
        return;
    (void)snprintf(change, sizeof(change),
                   "run it with --tokenizer %s, or convert with --tokenizer %s",
                   made, run);
    found(search, TB_CAUSE_TOKENIZER, change,
          "the run's tokenizer is %.200s, the rows' %.200s, which may count "
          "otherwise",
          run, made);
}

/* ---- what prompts tell ------------------------------------------------ */

static bool is_off(const struct tb_replay_pair *pair, bool is_longer)
{
    return pair->prompt == TB_MATCH_OFF &&
           (pair->replayed_prompt > pair->recorded_prompt) == is_longer;
}

static void look_for_whole_rows(struct search *search)
{
    const struct tb_replay_check *check = search->check;
    uint64_t longer = 0;
    if (!check->is_whole)
        return;
    for (size_t i = 0; i < check->calls->count; i++)
        longer +=
            check->pairs[i].call->turn > 0 && is_off(&check->pairs[i], true);
    if (longer > 0)
        found(search, TB_CAUSE_WHOLE_ROWS,
              "convert with --for aiperf, which writes what each turn adds",
              "each row is a whole prompt, and aiperf read the rows of a "
              "session as increments: %" PRIu64
              " later turn%s came with all prompts before once more",
              longer, plural(longer));
}

/* Of first turns that the server counted: do all prompts differ by one
 * number, which is not 0? */
struct first_turns {
    uint64_t count;
    int64_t off;
    bool is_constant;
    bool is_text_alone; /* rows are as long as prompts: no room for a template
                         */
    bool is_joined;
    bool has_later; /* there are other turns */
};

static struct first_turns see_first_turns(const struct tb_replay_check *check)
{
    struct first_turns turns = {.is_constant = true, .is_text_alone = true};
    for (size_t i = 0; i < check->calls->count; i++) {
        const struct tb_replay_pair *pair = &check->pairs[i];
        turns.has_later |= pair->call->turn > 0;
        if (pair->call->turn > 0 || pair->prompt == TB_MATCH_NONE ||
            !pair->is_server_count)
            continue;
        int64_t off = tb_replay_prompt_off(pair);
        if (turns.count++ == 0)
            turns.off = off;
        turns.is_constant &= off == turns.off;
        turns.is_text_alone &=
            pair->call->input_length == pair->call->prompt_tokens;
        turns.is_joined |= pair->call->is_joined;
    }
    turns.is_constant &= turns.count > 0 && turns.off != 0;
    return turns;
}

static void found_template(struct search *search,
                           const struct first_turns *turns, const char *change,
                           const char *reason)
{
    uint64_t off =
        turns->off < 0 ? (uint64_t)-turns->off : (uint64_t)turns->off;
    found(search, TB_CAUSE_TEMPLATE, change,
          "each first turn is %" PRIu64 " token%s %s than recorded: %s", off,
          plural(off), turns->off < 0 ? "shorter" : "longer", reason);
}

static void look_for_template(struct search *search)
{
    struct first_turns turns = see_first_turns(search->check);
    const char *endpoint = search->run->settings.endpoint;
    bool is_chat = strcmp(endpoint, "chat") == 0;
    // aiperf's completions take one turn a session.
    bool fits_completions = !turns.has_later;
    bool has_lengths = search->rows->kind != TB_REPLAY_ROWS_MESSAGES;
    if (!turns.is_constant)
        return;
    if (turns.off > 0 && turns.is_text_alone && has_lengths && turns.is_joined)
        found_template(search, &turns,
                       "convert with a tokenizer that has the model's chat "
                       "template beside it",
                       "a chat template is put around rows that were made "
                       "without one");
    else if (turns.off > 0 && turns.is_text_alone && has_lengths)
        found_template(search, &turns,
                       fits_completions
                           ? "convert with --endpoint chat, or run it with "
                             "--endpoint-type completions"
                           : "convert with --endpoint chat",
                       "rows for a completions endpoint hold the chat "
                       "template's tokens, and a chat endpoint adds them once "
                       "more");
    else if (turns.off < 0 && !turns.is_text_alone && endpoint[0] && !is_chat)
        found_template(search, &turns,
                       fits_completions
                           ? "run it with --endpoint-type chat, or convert "
                             "with --endpoint completions"
                           : "run it with --endpoint-type chat",
                       "rows for a chat endpoint leave out the chat "
                       "template's tokens, and this endpoint does not add "
                       "them");
    else if (turns.count > 1 && !is_other_tokenizer(search))
        found_template(search, &turns,
                       "convert with the server's own template: "
                       "--chat-template FILE",
                       "the server's chat template is not the one that the "
                       "rows were made with");
}

/* ---- what was sent, and when ------------------------------------------ */

static void look_for_few_requests(struct search *search)
{
    const struct tb_replay_check *check = search->check;
    uint64_t asked = search->run->settings.request_count;
    uint64_t sent = check->requests->count, calls = check->calls->count;
    char change[128];
    if (asked == 0)
        asked = REQUESTS_DEFAULT;
    if (check->missing_count == 0 || sent >= calls || sent != asked)
        return;
    (void)snprintf(change, sizeof(change),
                   "run it with --num-conversations %" PRIu32,
                   check->calls->sessions.count);
    found(search, TB_CAUSE_FEW_REQUESTS, change,
          "the run was to send %" PRIu64 " request%s of %" PRIu64 "%s", sent,
          plural(sent), calls,
          sent == REQUESTS_DEFAULT
              ? ", as aiperf does unless it is told how many conversations "
                "there are"
              : "");
}

static void look_for_repeated(struct search *search)
{
    uint64_t count = search->check->repeated_count;
    char change[128];
    if (count == 0)
        return;
    (void)snprintf(change, sizeof(change),
                   "run it with --num-conversations %" PRIu32
                   ", and into a new --artifact-dir",
                   search->check->calls->sessions.count);
    found(search, TB_CAUSE_REPEATED, change,
          "%" PRIu64 " request%s played a turn once more that had been played",
          count, plural(count));
}

static void look_for_cancelled(struct search *search)
{
    if (search->run->settings.was_cancelled)
        found(search, TB_CAUSE_CANCELLED, "let it run to its end",
              "the run was cancelled");
}

static void look_for_failed(struct search *search)
{
    uint64_t count = search->run->requests.failed_count;
    const char *fault = search->run->requests.fault;
    // What aiperf 0.13.0 says of a completions endpoint.
    bool is_one_turn = strstr(fault, "only supports one turn") != NULL;
    if (count > 0)
        found(search, TB_CAUSE_FAILED,
              is_one_turn
                  ? "run it with --endpoint-type chat, which takes sessions "
                    "of several turns"
                  : "see why in the server's log; turns behind a failed one "
                    "lack its answer",
              "%" PRIu64 " request%s failed or %s cancelled%s%s", count,
              plural(count), count == 1 ? "was" : "were",
              fault[0] ? "; the first error: " : "", fault);
}

static void look_for_output(struct search *search)
{
    const struct tb_replay_check *check = search->check;
    uint64_t shorter = 0, longer = 0;
    for (size_t i = 0; i < check->calls->count; i++) {
        const struct tb_replay_pair *pair = &check->pairs[i];
        if (pair->output != TB_MATCH_OFF)
            continue;
        bool is_longer = tb_replay_output_off(pair) > 0;
        longer += is_longer;
        shorter += !is_longer;
    }
    if (shorter > 0)
        found(search, TB_CAUSE_OUTPUT,
              "convert with --for aiperf, and replay against a server that "
              "keeps ignore_eos and min_tokens, such as vLLM or SGLang",
              "%" PRIu64 " answer%s shorter than asked for: the server ended "
              "them early, so it does not keep ignore_eos and min_tokens; "
              "turns behind them are shorter, too",
              shorter, shorter == 1 ? " is" : "s are");
    else if (longer > 0)
        found(search, TB_CAUSE_OUTPUT,
              "see how the server takes max_completion_tokens",
              "%" PRIu64 " answer%s longer than asked for", longer,
              longer == 1 ? " is" : "s are");
}

static void look_for_not_counted(struct search *search)
{
    const struct tb_replay_check *check = search->check;
    uint64_t prompts = check->prompt.matches[TB_MATCH_NONE];
    uint64_t outputs = check->output.matches[TB_MATCH_NONE];
    if (prompts > 0 || outputs > 0)
        found(search, TB_CAUSE_NOT_COUNTED,
              "replay against a server that tells usage with each answer",
              "of %" PRIu64 " prompt%s and %" PRIu64
              " answer%s the run does not tell how many tokens they have",
              prompts, plural(prompts), outputs, plural(outputs));
}

// Of turns that are not the first.
static void count_off_gaps(const struct tb_replay_check *check, uint64_t *late,
                           uint64_t *early)
{
    *late = *early = 0;
    for (size_t i = 0; i < check->calls->count; i++) {
        const struct tb_replay_pair *pair = &check->pairs[i];
        if (pair->time != TB_MATCH_OFF || pair->call->turn == 0)
            continue;
        bool is_late = pair->replayed_ms > (double)pair->recorded_ms;
        *late += is_late;
        *early += !is_late;
    }
}

static void look_for_late(struct search *search)
{
    uint64_t late, early;
    count_off_gaps(search->check, &late, &early);
    if (late > 0)
        found(search, TB_CAUSE_LATE,
              "give the load tester a machine with more cores at rest, or "
              "more workers",
              "%" PRIu64 " turn%s came late: the load tester or its machine "
              "was busy%s",
              late, plural(late), early > 0 ? "; others came early" : "");
    else if (early > 0)
        found(search, TB_CAUSE_LATE,
              "run it without options that change delays",
              "%" PRIu64 " turn%s came early: the run did not keep the delays "
              "of the rows",
              early, plural(early));
}

static void look_for_starts(struct search *search)
{
    uint64_t off = search->check->start.matches[TB_MATCH_OFF];
    if (off > 0)
        found(search, TB_CAUSE_STARTS,
              "run it on the rows' own schedule, without --concurrency or "
              "--request-rate, and on a machine at rest",
              "%" PRIu64 " session%s did not begin when recorded, counted from "
              "the first",
              off, plural(off));
}

void tb_replay_causes_find(const struct tb_replay_check *check,
                           const struct tb_replay_run *run,
                           const struct tb_replayed_rows *rows,
                           struct tb_replay_causes *causes)
{
    // In the order of the kinds.
    static void (*const looks[])(struct search *) = {
        look_for_end,          look_for_other_rows, look_for_block_size,
        look_for_whole_rows,   look_for_template,   look_for_tokenizer,
        look_for_few_requests, look_for_repeated,   look_for_cancelled,
        look_for_failed,       look_for_output,     look_for_not_counted,
        look_for_late,         look_for_starts,
    };
    struct search search = {check, run, rows, causes};
    causes->count = 0;
    if (check->is_equal) {
        look_for_block_size(&search);
        return;
    }
    for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++)
        looks[i](&search);
}
