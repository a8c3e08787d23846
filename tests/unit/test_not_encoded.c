/* convert: texts that the tokenizer has no ids for cost themselves, and nothing
 * of what comes behind them.
 *
 * The tokenizer knows three words and has no token for others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "batch.h"
#include "convert.h"
#include "memory.h"

static char folder[64];

static const char *path_of(const char *name)
{
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];
    (void)snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, struct tb_span content)
{
    FILE *file = fopen(path_of(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(content.ptr, 1, content.len, file), content.len);
    assert_int_equal(fclose(file), 0);
}

// And takes it away.
static struct tb_buffer take_file(const char *name)
{
    struct tb_buffer content = TB_BUFFER(1 << 26);
    FILE *file = fopen(path_of(name), "rb");
    assert_non_null(file);
    for (size_t len = 1; len > 0; content.len += len) {
        assert_int_equal(tb_buffer_reserve(&content, 1 << 16), TB_OK);
        len = fread(content.ptr + content.len, 1, 1 << 16, file);
    }
    (void)fclose(file);
    assert_int_equal(unlink(path_of(name)), 0);
    return content;
}

static int set_up(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof(folder), "/tmp/tb_not_encoded_XXXXXX");
    assert_non_null(mkdtemp(folder));
    write_file("tokenizer.json",
               TB_SPAN("{\"added_tokens\":[],\"normalizer\":null,"
                       "\"pre_tokenizer\":{\"type\":\"ByteLevel\","
                       "\"add_prefix_space\":false,\"trim_offsets\":true,"
                       "\"use_regex\":true},\"model\":{\"type\":\"WordLevel\","
                       "\"unk_token\":\"?\",\"vocab\":{\"so\":0,"
                       "\"\\u0120one\":1,\"\\u0120two\":2}}}"));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tb_memory_fail_after(-1);
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    for (const struct dirent *entry; (entry = readdir(listing));)
        if (entry->d_name[0] != '.')
            (void)unlink(path_of(entry->d_name));
    (void)closedir(listing);
    return rmdir(folder);
}

/* ---- traces -----------------------------------------------------------------
 */

/* Sessions whose prompts grow from turn to turn. */
struct shape {
    tb_dialect_id dialect;
    unsigned session_count, turn_count;
    unsigned step; /* words that a turn adds */
    bool has_lost; /* are there those that cannot be encoded? */
    bool has_odd_answers;
};

// Of which prompts and answers there are no ids.
static bool is_lost(unsigned turn)
{
    return turn % 4 == 2;
}
static bool is_odd(unsigned turn)
{
    return turn % 4 == 1;
}

static void append(struct tb_buffer *json, struct tb_span text)
{
    assert_int_equal(tb_buffer_append(json, text), TB_OK);
}

// A text that all later ones of its session begin with, but for a lost one.
static void append_text(struct tb_buffer *json, const struct shape *shape,
                        unsigned session, unsigned turn)
{
    uint64_t seed = session;
    append(json, TB_SPAN("so"));
    for (unsigned i = 0; i < shape->step * (turn + 1); i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        append(json, seed >> 63 ? TB_SPAN(" one") : TB_SPAN(" two"));
    }
    if (is_lost(turn))
        append(json, TB_SPAN(" three"));
}

static const char *answer_of(const struct shape *shape, unsigned turn)
{
    return shape->has_odd_answers && is_odd(turn) ? "three" : "so one";
}

static void append_telemetry(struct tb_buffer *json, const struct shape *shape,
                             unsigned session, unsigned turn)
{
    assert_int_equal(
        tb_buffer_printf(json,
                         "{\"event_type\":\"llm_call\",\"session_id\":\"%u\","
                         "\"timestamp\":%u,\"request_payload\":{\"messages\":"
                         "[{\"role\":\"user\",\"content\":\"",
                         session + 100, 1760000000 + turn),
        TB_OK);
    append_text(json, shape, session, turn);
    assert_int_equal(
        tb_buffer_printf(json,
                         "\"}]},\"response_payload\":{\"choices\":[{\"message\""
                         ":{\"content\":\"%s\"}}],\"usage\":{}}}\n",
                         answer_of(shape, turn)),
        TB_OK);
}

static void append_nat(struct tb_buffer *json, const struct shape *shape,
                       unsigned session, unsigned turn)
{
    const char *before = turn > 0 ? "," : session > 0 ? "]},{" : "[{";
    append(json, tb_span_of(before));
    if (turn == 0)
        assert_int_equal(tb_buffer_printf(json,
                                          "\"request_number\":%u,"
                                          "\"intermediate_steps\":[",
                                          session),
                         TB_OK);
    assert_int_equal(
        tb_buffer_printf(json,
                         "{\"payload\":{\"event_type\":\"LLM_START\",\"UUID\":"
                         "\"u%u\",\"event_timestamp\":%u,\"metadata\":{"
                         "\"chat_inputs\":[{\"content\":\"",
                         turn, 1000 + 2 * turn),
        TB_OK);
    append_text(json, shape, session, turn);
    assert_int_equal(
        tb_buffer_printf(json,
                         "\"}]}}},{\"payload\":{\"event_type\":\"LLM_END\","
                         "\"UUID\":\"u%u\",\"event_timestamp\":%u,\"data\":{"
                         "\"output\":\"%s\"}}}",
                         turn, 1001 + 2 * turn, answer_of(shape, turn)),
        TB_OK);
    if (session + 1 == shape->session_count && turn + 1 == shape->turn_count)
        append(json, TB_SPAN("]}]"));
}

static void write_trace(const struct shape *shape)
{
    struct tb_buffer json = TB_BUFFER(1 << 26);
    for (unsigned session = 0; session < shape->session_count; session++)
        for (unsigned turn = 0; turn < shape->turn_count; turn++)
            if (!is_lost(turn) || shape->has_lost)
                (shape->dialect == TB_DIALECT_NAT
                     ? append_nat
                     : append_telemetry)(&json, shape, session, turn);
    write_file("trace", tb_buffer_span(&json));
    tb_buffer_release(&json);
}

/* ---- conversions ------------------------------------------------------------
 */

struct run {
    struct tb_convert_options options;
    char input[512], output[512], tokenizer[512];
    const char *inputs[1];
    struct tb_stats stats;
    struct tb_error error;
};

static struct run *new_run(struct run *run, tb_dialect_id dialect)
{
    *run = (struct run){0};
    (void)snprintf(run->input, sizeof(run->input), "%s", path_of("trace"));
    (void)snprintf(run->output, sizeof(run->output), "%s", path_of("rows"));
    (void)snprintf(run->tokenizer, sizeof(run->tokenizer), "%s",
                   path_of("tokenizer.json"));
    run->inputs[0] = run->input;
    run->options = (struct tb_convert_options){
        .dialect = dialect,
        .inputs = run->inputs,
        .input_count = 1,
        .output = run->output,
        .tokenizer = run->tokenizer,
        .block_size = 16,
        .max_requests = UINT64_MAX,
        .threads = 1,
        .version = "0",
    };
    return run;
}

static struct tb_buffer convert(struct run *run)
{
    if (tb_convert(&run->options, &run->stats, &run->error) != TB_OK)
        fail_msg("%s", run->error.message);
    return take_file("rows");
}

// Each call is counted once, and what is lost under its reason.
static void check_counts(const struct tb_stats *stats,
                         const struct shape *shape)
{
    unsigned lost_count = 0, odd_count = 0;
    for (unsigned turn = 0; turn < shape->turn_count; turn++) {
        lost_count += is_lost(turn) && shape->has_lost;
        odd_count += is_odd(turn) && shape->has_odd_answers;
    }
    lost_count *= shape->session_count;
    odd_count *= shape->session_count;
    assert_int_equal(stats->skipped[TB_SKIP_NOT_ENCODED], lost_count);
    assert_int_equal(tb_stats_skipped(stats), lost_count);
    assert_int_equal(stats->row_count + lost_count, stats->call_count);
    assert_int_equal(stats->uncounted_answer_count, odd_count);
    assert_int_equal(stats->output_unknown_count, odd_count);
    assert_int_equal(stats->message_count, lost_count + odd_count);
    assert_int_equal(stats->lost_record_count, 0);
}

/* 800 KB make several batches, for several workers. */
static struct tb_buffer rows_of(const struct shape *shape, tb_rows rows,
                                unsigned threads, bool is_reusing)
{
    struct run run;
    new_run(&run, shape->dialect)->options.threads = threads;
    run.options.form.rows = rows;
    run.options.has_no_reuse = !is_reusing;
    struct tb_buffer written = convert(&run);
    check_counts(&run.stats, shape);
    assert_int_equal(run.stats.reused_token_count > 0, is_reusing);
    tb_stats_release(&run.stats);
    return written;
}

static void check_same_rows(const struct shape *shape, tb_rows rows,
                            struct tb_span wanted)
{
    for (unsigned threads = 1; threads <= 3; threads++)
        for (int is_reusing = 0; is_reusing < 2; is_reusing++) {
            struct tb_buffer written =
                rows_of(shape, rows, threads, is_reusing);
            assert_true(tb_span_equal(tb_buffer_span(&written), wanted));
            tb_buffer_release(&written);
        }
}

/* The rows of the other calls are those that they have without the lost ones,
 * on any number of threads. */
static void test_a_lost_prompt_costs_itself(void **state)
{
    (void)state;
    for (int dialect = 0; dialect < 2; dialect++)
        for (int rows = 0; rows < 2; rows++) {
            struct shape shape = {.dialect = dialect ? TB_DIALECT_TELEMETRY
                                                     : TB_DIALECT_NAT,
                                  .session_count = 20,
                                  .turn_count = 8,
                                  .step = 300,
                                  .has_odd_answers = true};
            tb_rows kind = rows ? TB_ROWS_DELTA : TB_ROWS_WHOLE;
            write_trace(&shape);
            struct tb_buffer wanted = rows_of(&shape, kind, 1, false);
            shape.has_lost = true;
            write_trace(&shape);
            check_same_rows(&shape, kind, tb_buffer_span(&wanted));
            tb_buffer_release(&wanted);
        }
}

static void check_message(const struct tb_error *message, const char *part,
                          uint64_t line)
{
    assert_int_equal(message->line, line);
    assert_string_equal(message->path, path_of("trace"));
    if (!strstr(message->message, part) ||
        !strstr(message->message, tb_encoder_fault(TB_ERR_VALUE)))
        fail_msg("%s", message->message);
}

static void test_losses_are_told_with_their_places(void **state)
{
    (void)state;
    struct shape shape = {TB_DIALECT_TELEMETRY, 1, 3, 100, true, true};
    struct run run;
    write_trace(&shape);
    struct tb_buffer rows = convert(new_run(&run, shape.dialect));
    assert_int_equal(run.stats.message_count, 2);
    check_message(&run.stats.messages[0], "output length not known", 2);
    check_message(&run.stats.messages[1], "no row for a call of session '100'",
                  3);
    tb_buffer_release(&rows);
    tb_stats_release(&run.stats);
}

static void check_strict(const struct shape *shape)
{
    struct run run;
    write_trace(shape);
    new_run(&run, shape->dialect)->options.is_strict = true;
    bool is_whole = !shape->has_lost && !shape->has_odd_answers;
    assert_int_equal(tb_convert(&run.options, &run.stats, &run.error),
                     is_whole ? TB_OK : TB_ERR_VALUE);
    assert_int_equal(unlink(path_of("rows")), is_whole ? 0 : -1);
    tb_stats_release(&run.stats);
}

static void test_strict_allows_neither(void **state)
{
    (void)state;
    for (int dialect = 0; dialect < 2; dialect++)
        for (int losses = 3; losses >= 0; losses--)
            check_strict(&(struct shape){
                .dialect = dialect ? TB_DIALECT_TELEMETRY : TB_DIALECT_NAT,
                .session_count = 1,
                .turn_count = 4,
                .step = 100,
                .has_lost = losses & 1,
                .has_odd_answers = losses & 2});
}

/* Nobody knows whether two prompts without ids are the same. */
static void test_a_prompt_without_ids_is_not_tried_again(void **state)
{
    (void)state;
#define START(uuid, text)                                                      \
    "{\"payload\":{\"event_type\":\"LLM_START\",\"UUID\":\"" uuid              \
    "\",\"metadata\":{\"chat_inputs\":[{\"content\":\"" text "\"}]}}},"
    static const char trace[] =
        "[{\"request_number\":0,\"intermediate_steps\":[" START("a", "so")
            START("b", "three") START("c", "four") START("d", "so")
                START("e", "so") "{\"payload\":{\"event_type\":\"LLM_END\","
                                 "\"UUID\":\"e\"}}]}]";
#undef START
    struct run run;
    write_file("trace", tb_span_of(trace));
    struct tb_buffer rows = convert(new_run(&run, TB_DIALECT_NAT));
    assert_int_equal(run.stats.skipped[TB_SKIP_NO_END], 4);
    assert_int_equal(run.stats.retried_count, 2);
    tb_buffer_release(&rows);
    tb_stats_release(&run.stats);
}

static void test_every_allocation_fails_once(void **state)
{
    (void)state;
    struct shape shape = {TB_DIALECT_TELEMETRY, 1, 4, 100, true, true};
    tb_status status = TB_ERR_MEMORY;
    write_trace(&shape);
    for (long allowed = 0; status != TB_OK; allowed++) {
        struct run run;
        new_run(&run, shape.dialect);
        tb_memory_fail_after(allowed);
        status = tb_convert(&run.options, &run.stats, &run.error);
        tb_memory_fail_after(-1);
        tb_stats_release(&run.stats);
        assert_true(status == TB_OK || status == TB_ERR_MEMORY);
        assert_int_equal(access(path_of("rows"), F_OK),
                         status == TB_OK ? 0 : -1);
        assert_true(allowed < 100000);
    }
}

static void check_full_buffer(struct tb_buffer text, struct tb_buffer messages)
{
    const struct tb_prompt_rule rule = {.dialect = TB_DIALECT_TELEMETRY,
                                        .has_messages = true};
    struct tb_batch_worker worker = {.dialect = TB_DIALECT_TELEMETRY,
                                     .maker = tb_prompt_maker_make(&rule),
                                     .text = text,
                                     .messages = messages};
    const struct tb_trace_event event = {
        .kind = TB_TRACE_RECORD,
        .json = TB_SPAN("{\"event_type\":\"llm_call\",\"session_id\":\"s\","
                        "\"request_payload\":{\"messages\":[{\"content\":"
                        "\"longer than four bytes\"}]}}"),
        .offset = 700,
        .line = 7};
    struct tb_batch batch;
    tb_batch_init(&batch);
    assert_int_equal(tb_batch_add(&batch, &event, "trace", 0, 0), TB_OK);
    tb_batch_work(&batch, &worker);
    assert_int_equal(batch.status, TB_OK);
    assert_int_equal(batch.events[0].status, TB_ERR_LIMIT);
    const struct tb_error *error = batch.events[0].error;
    assert_int_equal(error->status, TB_ERR_LIMIT);
    assert_int_equal(error->line, 7);
    assert_int_equal(error->offset, 700);
    assert_true(error->message[0] != '\0');
    tb_batch_release(&batch);
    tb_prompt_maker_release(&worker.maker);
    tb_buffer_release(&worker.text);
    tb_buffer_release(&worker.messages);
}

/* What is too long says so where texts are joined, but not in which record;
 * where messages are written, it says nothing. */
static void test_a_record_that_is_too_long_is_named(void **state)
{
    (void)state;
    check_full_buffer(TB_BUFFER(4), TB_BUFFER(4));
    check_full_buffer(TB_BUFFER(400), TB_BUFFER(4));
}

#define TEST(function)                                                         \
    cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_lost_prompt_costs_itself),
        TEST(test_losses_are_told_with_their_places),
        TEST(test_strict_allows_neither),
        TEST(test_a_prompt_without_ids_is_not_tried_again),
        TEST(test_every_allocation_fails_once),
        TEST(test_a_record_that_is_too_long_is_named),
    };
    return cmocka_run_group_tests_name("not_encoded", tests, NULL, NULL);
}
