/* rows: what is made of rows, on files in a folder of the test. Tables of rows
 * first; then each allocation fails once in each kind of run, which then has a
 * status and leaves no file behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "line_partition.h"
#include "memory.h"
#include "meta_change.h"
#include "row_merge.h"
#include "row_reblock.h"
#include "row_share.h"
#include "session_sample.h"
#include "text_census.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static char folder[256];

/* ---- files ------------------------------------------------------------ */

// Sixteen of them live at a time.
static const char *path_of(const char *name)
{
    static char paths[16][512];
    static unsigned next;
    char *path = paths[next++ % 16];
    (void)snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
    return path;
}

static void put(const char *name, const char *content)
{
    FILE *file = fopen(path_of(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, strlen(content), file),
                     strlen(content));
    assert_int_equal(fclose(file), 0);
}

/* Puts a file when the `left`-th row is asked for: what is read twice becomes
 * something else meanwhile. */
static struct {
    unsigned left;
    const char *name, *content;
} meanwhile;

static bool change_file(void *context)
{
    (void)context;
    if (meanwhile.left > 0 && --meanwhile.left == 0)
        put(meanwhile.name, meanwhile.content);
    return false;
}

static const struct tb_row_stop no_stop = {.is_stopping = change_file};

// The file's content, until the next call.
static const char *get(const char *name)
{
    static char content[1 << 16];
    FILE *file = fopen(path_of(name), "rb");
    assert_non_null(file);
    size_t len = fread(content, 1, sizeof(content) - 1, file);
    assert_int_equal(fclose(file), 0);
    content[len] = '\0';
    return content;
}

static void expect_file(const char *name, const char *content)
{
    assert_string_equal(get(name), content);
}

static void remove_files(const char *within, const char *but_for)
{
    char path[600];
    DIR *listing = opendir(within);
    assert_non_null(listing);
    for (const struct dirent *entry; (entry = readdir(listing));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (but_for && strncmp(entry->d_name, but_for, strlen(but_for)) == 0)
            continue;
        (void)snprintf(path, sizeof(path), "%s/%s", within, entry->d_name);
        if (unlink(path) != 0) {
            remove_files(path, NULL);
            assert_int_equal(rmdir(path), 0);
        }
    }
    (void)closedir(listing);
}

// Files in `within`, hidden ones too, but inputs and the folder of parts.
static unsigned count_made(const char *within)
{
    unsigned count = 0;
    DIR *listing = opendir(within);
    for (const struct dirent *entry; listing && (entry = readdir(listing));)
        count += strcmp(entry->d_name, ".") != 0 &&
                 strcmp(entry->d_name, "..") != 0 &&
                 strcmp(entry->d_name, "out") != 0 &&
                 strncmp(entry->d_name, "in", 2) != 0;
    if (listing)
        (void)closedir(listing);
    return count;
}

static unsigned made_count(void)
{
    return count_made(folder) + count_made(path_of("out"));
}

static int set_up(void **state)
{
    (void)state;
    const char *parent = getenv("TMPDIR");
    (void)snprintf(folder, sizeof(folder), "%s/tb_rows_XXXXXX",
                   parent ? parent : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    tb_memory_fail_after(-1);
    remove_files(folder, NULL);
    return rmdir(folder);
}

/* ---- runs ------------------------------------------------------------- */

/* Each reads files that begin with "in" and makes others. */
typedef tb_status run_of(struct tb_error *error);

static tb_status commit(struct tb_row_output *output, struct tb_span old,
                        const struct tb_meta_counts *counts,
                        struct tb_error *error)
{
    struct tb_buffer meta = TB_BUFFER(1 << 20);
    const struct tb_meta_change change = {
        .version = "0", .command = "test", .counts = counts};
    tb_status status = tb_meta_change(&change, old, &meta);
    if (status == TB_OK)
        status = tb_row_output_commit(output, tb_buffer_span(&meta), error);
    tb_buffer_release(&meta);
    return status;
}

/* What a run does with a row the first and, where it is not NULL, the second
 * time; and what of it goes into the meta file. */
struct steps {
    tb_status (*look)(void *of, const struct tb_row_input *input,
                      struct tb_error *error);
    tb_status (*add)(void *of, const struct tb_row_input *input,
                     struct tb_buffer *text, struct tb_error *error);
    void *of;
    const struct tb_meta_counts *counts;
};

static tb_status write_rows(const struct steps *steps,
                            struct tb_row_input *input,
                            struct tb_row_output *output,
                            struct tb_error *error)
{
    struct tb_buffer old = TB_BUFFER(1 << 24);
    if (steps->look) {
        TB_TRY(tb_row_input_keep(input, error));
        do {
            TB_TRY(tb_row_input_next(input, error));
            if (input->line.ptr)
                TB_TRY(steps->look(steps->of, input, error));
        } while (input->line.ptr);
        tb_row_input_rewind(input);
    }
    do {
        TB_TRY(tb_row_input_next(input, error));
        if (input->line.ptr)
            TB_TRY(steps->add(steps->of, input, &output->text, error));
        TB_TRY(tb_row_output_flush(output, true, error));
    } while (input->line.ptr);
    tb_status status = tb_meta_content(input->path, &old, error);
    if (status == TB_OK)
        status = commit(output, tb_buffer_span(&old), steps->counts, error);
    tb_buffer_release(&old);
    return status;
}

static tb_status run_steps(const struct steps *steps, struct tb_error *error)
{
    struct tb_row_input input = {0};
    struct tb_row_output output = {0};
    tb_status status =
        tb_row_input_open(&input, path_of("in.jsonl"), no_stop, error);
    if (status == TB_OK)
        status =
            tb_row_output_open(&output, path_of("out.jsonl"), no_stop, error);
    if (status == TB_OK)
        status = write_rows(steps, &input, &output, error);
    tb_row_input_close(&input);
    tb_row_output_close(&output);
    return status;
}

static struct tb_row_reblock reblock; // of the last run, for its figures

static tb_status add_reblocked(void *of, const struct tb_row_input *input,
                               struct tb_buffer *text, struct tb_error *error)
{
    return tb_row_reblock_add(of, input, text, error);
}

static tb_status run_reblock(struct tb_error *error)
{
    const struct steps steps = {.add = add_reblocked, .of = &reblock};
    reblock = (struct tb_row_reblock){.from = 4, .multiple = 2};
    tb_status status = run_steps(&steps, error);
    struct tb_row_reblock figures = reblock;
    tb_row_reblock_release(&reblock);
    reblock.row_count = figures.row_count;
    reblock.misfit_count = figures.misfit_count;
    return status;
}

static const struct tb_keyed_hash *secret; // of the next runs
static struct tb_row_share share;          // of the last run, for its figures

static tb_status look_shared(void *of, const struct tb_row_input *input,
                             struct tb_error *error)
{
    return tb_row_share_look(of, input, error);
}

static tb_status add_shared(void *of, const struct tb_row_input *input,
                            struct tb_buffer *text, struct tb_error *error)
{
    return tb_row_share_add(of, input, text, error);
}

static tb_status run_share(struct tb_error *error)
{
    const struct steps steps = {look_shared, add_shared, &share, &share.counts};
    share = (struct tb_row_share){.secret = secret};
    tb_status status = run_steps(&steps, error);
    struct tb_row_share figures = share;
    tb_row_share_release(&share);
    share.counts = figures.counts;
    share.nameless_count = figures.nameless_count;
    share.dropped_priority = figures.dropped_priority;
    return status;
}

static tb_status run_share_with_secret(struct tb_error *error)
{
    struct tb_keyed_hash key = tb_keyed_hash_of(TB_SPAN("0123456789abcdef"));
    secret = &key;
    tb_status status = run_share(error);
    secret = NULL;
    return status;
}

static uint32_t sessions_wanted = 1;

static tb_status look_sampled(void *of, const struct tb_row_input *input,
                              struct tb_error *error)
{
    (void)error;
    return tb_session_sample_add(of, &input->record);
}

static tb_status add_sampled(void *of, const struct tb_row_input *input,
                             struct tb_buffer *text, struct tb_error *error)
{
    struct tb_session_sample *sample = of;
    (void)error;
    if (sample->taken_count == 0)
        tb_session_sample_draw(sample, 7,
                               sessions_wanted < sample->count ? sessions_wanted
                                                               : sample->count);
    if (!tb_session_sample_takes(sample, &input->record))
        return TB_OK;
    TB_TRY(tb_buffer_append(text, input->line));
    return tb_buffer_append_byte(text, '\n');
}

static tb_status run_sample(struct tb_error *error)
{
    struct tb_session_sample sample = {0};
    const struct steps steps = {look_sampled, add_sampled, &sample, NULL};
    tb_status status = run_steps(&steps, error);
    tb_session_sample_release(&sample);
    return status;
}

static struct tb_line_partition partition; // of the last run, for its figures
static uint32_t parts_wanted = 2;

static tb_status run_partition(struct tb_error *error)
{
    tb_status status = tb_line_partition_open(
        &partition, path_of("out"), parts_wanted, ".jsonl", no_stop, error);
    if (status == TB_OK)
        status =
            tb_line_partition_spare(&partition, path_of("in.jsonl"), error);
    if (status == TB_OK)
        status = tb_line_partition_add(&partition, path_of("in.jsonl"), error);
    if (status == TB_OK)
        status = tb_line_partition_commit(&partition, error);
    struct tb_line_partition figures = partition;
    tb_line_partition_close(&partition);
    partition.line_count = figures.line_count;
    partition.nameless_count = figures.nameless_count;
    partition.broken_count = figures.broken_count;
    return status;
}

static tb_status write_merged(struct tb_row_merge *merge,
                              struct tb_row_output *output,
                              struct tb_error *error)
{
    struct tb_buffer meta = TB_BUFFER(1 << 20);
    TB_TRY(tb_row_output_open(output, path_of("out.jsonl"), no_stop, error));
    TB_TRY(tb_row_merge_open(merge, error));
    TB_TRY(tb_row_merge_write(merge, output, error));
    const struct tb_meta_merge_result result = {"0", "test", merge->order};
    tb_status status = tb_meta_merge_json(&merge->metas, &result, &meta);
    if (status == TB_OK)
        status = tb_row_output_commit(output, tb_buffer_span(&meta), error);
    tb_buffer_release(&meta);
    return status;
}

static tb_status run_merge(struct tb_error *error)
{
    const char *const paths[] = {path_of("in1.jsonl"), path_of("in2.jsonl"),
                                 path_of("in3.jsonl")};
    struct tb_row_output output = {0};
    // So little memory that blocks are sorted in files.
    struct tb_row_merge merge = {.paths = paths,
                                 .count = 3,
                                 .memory = 512,
                                 .folder = folder,
                                 .stop = no_stop};
    tb_status status = write_merged(&merge, &output, error);
    tb_row_merge_close(&merge);
    tb_row_output_close(&output);
    return status;
}

static tb_status run_census(struct tb_error *error)
{
    struct tb_text_census census = {0};
    tb_status status = tb_text_census_add(
        &census, TB_SPAN("{\"a\":[\"b\",{\"\\u0063\":\"b\"},1],\"a\":\"d\"}"),
        error);
    if (status == TB_OK) {
        assert_int_equal(census.keys.count, 2);
        assert_int_equal(census.texts.count, 2);
    }
    tb_text_census_release(&census);
    return status;
}

/* ---- rows ------------------------------------------------------------- */

static void expect_failure(run_of *run, tb_status status, uint64_t line,
                           const char *message)
{
    struct tb_error error = {0};
    assert_int_equal(run(&error), status);
    if (!strstr(error.message, message))
        fail_msg("'%s' is not in '%s'", message, error.message);
    assert_int_equal(error.status, status);
    assert_int_equal(error.line, line);
    assert_int_equal(made_count(), 0);
}

static void test_reblocked_ids_count_from_zero(void **state)
{
    (void)state;
    struct tb_error error = {0};
    put("in.jsonl",
        "{\"a\": 1, \"hash_ids\": [9, 8, 7],  \"input_length\": 9}\n"
        "\n"
        "{\"input_length\": 3}\n"
        "{\"hash_ids\": [], \"input_length\": 0}\n"
        "{\"hash_ids\": null}\n"
        "{\"hash_ids\": [9, 8], \"input_length\": 99}\n"
        " {\"hash_ids\": [7], \"input_length\": 1} ");
    assert_int_equal(run_reblock(&error), TB_OK);
    expect_file("out.jsonl",
                "{\"a\": 1, \"hash_ids\": [0, 1],  \"input_length\": 9}\n"
                "{\"input_length\": 3}\n"
                "{\"hash_ids\": [], \"input_length\": 0}\n"
                "{\"hash_ids\": null}\n"
                "{\"hash_ids\": [0], \"input_length\": 99}\n"
                "{\"hash_ids\": [1], \"input_length\": 1}\n");
    assert_int_equal(reblock.row_count, 6);
    assert_int_equal(reblock.misfit_count, 1);
}

static void test_a_row_that_cannot_be_reblocked_fails_the_run(void **state)
{
    (void)state;
    const struct {
        const char *rows, *message;
        tb_status status;
        uint64_t line;
    } cases[] = {
        {"{\"hash_ids\": [1]}\n{\"hash_ids\": 1}", "found a number",
         TB_ERR_VALUE, 2},
        {"{\"hash_ids\": [1], \"hash_ids\": [2]}", "twice", TB_ERR_VALUE, 1},
        {"{\"hash_ids\": [1, 0.5]}", "hash_ids[1]", TB_ERR_VALUE, 1},
        {"{\"hash_ids\": [-9223372036854775809]}", "hash_ids[0]", TB_ERR_VALUE,
         1},
        {"{}\n\n{\"hash_ids\": [1", "", TB_ERR_CUT, 3},
        {"{}\n[]", "expected an object", TB_ERR_TYPE, 2},
        {"\n \n", "no rows", TB_ERR_EMPTY, 0},
        {"", "no rows", TB_ERR_EMPTY, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        put("in.jsonl", cases[i].rows);
        expect_failure(run_reblock, cases[i].status, cases[i].line,
                       cases[i].message);
    }
}

static void test_shared_rows_have_no_text_of_others(void **state)
{
    (void)state;
    struct tb_error error = {0};
    put("in.jsonl",
        "{\"session_id\": \"acme\", \"agent_type\": \"desk\", "
        "\"input_length\": "
        "5, \"hash_ids\": [70, 80], \"timestamp\": 1000.25, \"priority\": "
        "\"high\", \"user\": \"me\"}\n"
        "{\"session_id\": 7, \"parent_session_id\": \"acme\", "
        "\"input_length\": "
        "4, \"output_length\": 2, \"hash_ids\": [80], \"timestamp\": 1000, "
        "\"priority\": \"acme\"}\n"
        "{\"hash_ids\": [], \"timestamp\": 1e999, \"delay\": -1, \"priority\": "
        "3, \"extra\": {\"ignore_eos\": true, \"min_tokens\": 2, \"x\": "
        "\"me\"}}\n");
    assert_int_equal(run_share(&error), TB_OK);
    expect_file(
        "out.jsonl",
        "{\"session_id\": \"s1\", \"agent_type\": \"agent1\", "
        "\"input_length\": 5, \"hash_ids\": [0, 1], \"priority\": \"HIGH\", "
        "\"timestamp\": 0.25}\n"
        "{\"session_id\": \"s2\", \"input_length\": 4, \"output_length\": 2, "
        "\"hash_ids\": [1], \"timestamp\": 0, \"parent_session_id\": "
        "\"s1\"}\n"
        "{\"hash_ids\": [], \"priority\": 3, \"extra\": {\"ignore_eos\": true, "
        "\"min_tokens\": 2}}\n");
    assert_int_equal(share.counts.rows, 3);
    assert_int_equal(share.counts.input_tokens, 9);
    assert_int_equal(share.counts.output_tokens, 2);
    assert_int_equal(share.nameless_count, 1);
    assert_int_equal(share.dropped_priority, 1);
}

static void test_a_secret_makes_the_same_of_the_same(void **state)
{
    (void)state;
    struct tb_error error = {0};
    char first[512];
    const char *row = "{\"session_id\": \"a\", \"hash_ids\": [5]}\n";
    put("in.jsonl", row);
    assert_int_equal(run_share_with_secret(&error), TB_OK);
    (void)snprintf(first, sizeof(first), "%s", get("out.jsonl"));
    put("in.jsonl", "{\"session_id\": \"b\", \"hash_ids\": [1, 2]}\n"
                    "{\"session_id\": \"a\", \"hash_ids\": [5]}\n");
    assert_int_equal(run_share_with_secret(&error), TB_OK);
    const char *second = strchr(get("out.jsonl"), '\n');
    assert_non_null(second);
    assert_string_equal(second + 1, first);
    assert_null(strstr(first, "\"a\""));
}

static void test_rows_that_cannot_be_shared(void **state)
{
    (void)state;
    const struct {
        const char *rows, *message;
    } cases[] = {
        {"{\"input_length\": 1}\n{\"messages\": [], \"input_length\": 1}",
         "(messages)"},
        {"{\"input_length\": 1}\n{\"text_input\": \"\", \"input_length\": 1}",
         "(text_input)"},
        {"{\"input_length\": 1}\n{\"tools\": [], \"input_length\": 1}",
         "(tools)"},
        {"{\"input_length\": 1}\n{\"payload\": 1, \"input_length\": 1}",
         "(payload)"},
        {"{\"input_length\": 1}\n{\"session_id\": \"a\"}", "neither"},
        {"{\"input_length\": 1}\n{\"input_length\": 0.5}", "neither"},
        {"{\"input_length\": 1}\n{\"hash_ids\": [\"x\"]}", "hash_ids[0]"},
        {"{\"input_length\": 1}\n{\"input_length\": 99999999999999999999}",
         "neither"},
        {"{\"input_length\": 1}\n{\"input_length\": 1, \"extra\": {\"a\" 1}}",
         "extra: cannot be read"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        put("in.jsonl", cases[i].rows);
        expect_failure(run_share, TB_ERR_VALUE, 2, cases[i].message);
    }
}

static void test_sessions_are_drawn_whole(void **state)
{
    (void)state;
    struct tb_error error = {0};
    // Three sessions: a with its branch, b, and a row of no session.
    static const char rows[] =
        "{\"session_id\": \"a\", \"input_length\": 1}\n"
        "{\"session_id\": \"b\", \"input_length\": 18446744073709551615}\n"
        "{\"session_id\": \"a.2\", \"parent_session_id\": \"a\"}\n"
        "{\"input_length\": 2}\n"
        "{\"session_id\": \"b\", \"input_length\": 18446744073709551615}\n";
    put("in.jsonl", rows);
    for (uint32_t wanted = 1; wanted <= 3; wanted++) {
        sessions_wanted = wanted;
        assert_int_equal(run_sample(&error), TB_OK);
        const char *taken = get("out.jsonl");
        unsigned a = strstr(taken, "\"a\", ") != NULL;
        unsigned b = strstr(taken, "\"b\"") != NULL;
        unsigned none = strstr(taken, "{\"input_length\": 2}") != NULL;
        assert_int_equal(a + b + none, wanted);
        assert_int_equal(strstr(taken, "a.2") != NULL, a);
        assert_int_equal(tb_span_count(tb_span_of(taken), '\n'),
                         2 * a + 2 * b + none);
    }
    expect_file("out.jsonl", rows);
    sessions_wanted = 1;
}

static void test_tokens_bound_a_sample(void **state)
{
    (void)state;
    struct tb_session_sample sample = {0};
    struct tb_mooncake_record record = {0};
    struct tb_arena arena = {0};
    struct tb_error error = {0};
    for (unsigned i = 0; i < 20; i++) {
        char row[64];
        (void)snprintf(row, sizeof(row), "{\"input_length\": %u}", 10 + i);
        tb_arena_reset(&arena);
        assert_int_equal(tb_mooncake_record_read(&record, tb_span_of(row), 0, 1,
                                                 &arena, &error),
                         TB_OK);
        assert_int_equal(tb_session_sample_add(&sample, &record), TB_OK);
    }
    assert_false(tb_session_sample_draw_tokens(&sample, 1, 9));
    assert_int_equal(sample.taken_count, 0);
    for (uint64_t seed = 0; seed < 20; seed++) {
        assert_true(tb_session_sample_draw_tokens(&sample, seed, 100));
        assert_true(sample.taken_tokens <= 100);
        assert_true(sample.taken_count > 0);
    }
    assert_true(tb_session_sample_draw_tokens(&sample, 1, UINT64_MAX));
    assert_int_equal(sample.taken_count, 20);
    tb_session_sample_release(&sample);
    tb_mooncake_record_release(&record);
    tb_arena_release(&arena);
}

/* ---- lines ------------------------------------------------------------ */

static void test_lines_of_one_session_stay_together(void **state)
{
    (void)state;
    struct tb_error error = {0};
    // Lines of a pair are of one session.
    const char *const pairs[][2] = {
        {"{\"session_id\": \"x\"}",
         "{\"n\": 1, \"session\\u005fid\": \"\\u0078\"}"},
        {"{\"session_id\": 5}", "{\"session_id\": 5 }"},
        {"{\"session_id\": 5}", "{\"session_id\": \"5\"}"},
        {"{\"session_id\": 1e2}", "{\"session_id\": 100.0}"},
        {"{\"session_id\": \"y\", \"session_id\": \"x\"}",
         "{\"session_id\": \"x\"}"},
        {"{broken", "{broken"},
    };
    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        char text[256], name[64];
        (void)snprintf(text, sizeof(text), "\xEF\xBB\xBF%s\r\n \t\n\n%s",
                       pairs[i][0], pairs[i][1]);
        put("in.jsonl", text);
        for (parts_wanted = 1; parts_wanted < 8; parts_wanted++) {
            unsigned filled = 0;
            assert_int_equal(run_partition(&error), TB_OK);
            assert_int_equal(partition.line_count, 2);
            (void)snprintf(text, sizeof(text), "%s\r\n%s\n", pairs[i][0],
                           pairs[i][1]);
            for (uint32_t k = 1; k <= parts_wanted; k++) {
                (void)snprintf(name, sizeof(name), "out/part-%u-of-%u.jsonl", k,
                               parts_wanted);
                const char *part = get(name);
                filled += strcmp(part, text) == 0;
                assert_true(*part == '\0' || strcmp(part, text) == 0);
            }
            assert_int_equal(filled, 1);
        }
    }
    parts_wanted = 2;
}

static void test_lines_without_a_session_are_counted(void **state)
{
    (void)state;
    struct tb_error error = {0};
    put("in.jsonl", "{}\n{\"session_id\": null}\n{\"session_id\": [1]}\n"
                    "{\"session_id\": \"\"}\n1\n{} x\n\xFF\n");
    assert_int_equal(run_partition(&error), TB_OK);
    assert_int_equal(partition.line_count, 7);
    assert_int_equal(partition.nameless_count, 3);
    assert_int_equal(partition.broken_count, 3);
}

static void test_a_part_does_not_replace_what_is_read(void **state)
{
    (void)state;
    struct tb_error error = {0};
    put("in.jsonl", "{}\n");
    assert_int_equal(mkdir(path_of("out"), 0700), 0);
    assert_int_equal(
        link(path_of("in.jsonl"), path_of("out/part-2-of-2.jsonl")), 0);
    assert_int_equal(run_partition(&error), TB_ERR_USAGE);
    expect_file("in.jsonl", "{}\n");
}

/* ---- merges ----------------------------------------------------------- */

static void put_part(const char *name, const char *rows, unsigned row_count)
{
    char meta[64], text[256];
    (void)snprintf(meta, sizeof(meta), "%s.meta.json", name);
    (void)snprintf(text, sizeof(text),
                   "{\"meta_format\": 1, \"rows\": {\"prompt\": \"whole\"}, "
                   "\"block_size\": 4, \"ids\": \"content\", \"first_ms\": 7, "
                   "\"format\": \"nat\", \"counts\": {\"rows\": %u}}",
                   row_count);
    put(name, rows);
    put(meta, text);
}

static void put_parts(const char *first)
{
    put_part("in1.jsonl", first, 2);
    put_part("in2.jsonl", "", 0);
    put_part("in3.jsonl",
             "{\"timestamp\": 9, \"session_id\": \"conv_2\", \"hash_ids\": "
             "[10, 11, 13, 15, 16, 17]}\n",
             1);
}

static void test_merged_rows_are_in_order(void **state)
{
    (void)state;
    struct tb_error error = {0};
    put_parts("{\"session_id\": \"conv_9\", \"hash_ids\": [10, 12]}\n"
              "{\"session_id\": \"conv_10\", \"hash_ids\": [10, 11, 14, 12], "
              "\"timestamp\": 3}\n");
    assert_int_equal(run_merge(&error), TB_OK);
    expect_file("out.jsonl",
                "{\"timestamp\": 2, \"session_id\": \"conv_2\", \"hash_ids\": "
                "[0, 1, 2, 3, 4, 5]}\n"
                "{\"session_id\": \"conv_9\", \"hash_ids\": [0, 6]}\n"
                "{\"session_id\": \"conv_10\", \"hash_ids\": [0, 1, 7, 8], "
                "\"timestamp\": 0}\n");
}

static void test_rows_that_cannot_be_merged(void **state)
{
    (void)state;
    const struct {
        const char *rows, *message;
        uint64_t line;
    } cases[] = {
        {"{\"session_id\": \"a\", \"hash_ids\": []}\n{\"hash_ids\": []}",
         "without a session_id", 2},
        {"{\"session_id\": \"a\", \"hash_ids\": []}\n"
         "{\"session_id\": \"conv_2\", \"hash_ids\": []}",
         "is in '", 1},
        {"{\"session_id\": \"a\", \"hash_ids\": []}\n"
         "{\"session_id\": \"b\", \"hash_ids\": []}\n"
         "{\"session_id\": \"a\", \"hash_ids\": []}",
         "goes on behind another one", 3},
        {"{\"session_id\": \"a\", \"hash_ids\": []}", "1 rows, but", 0},
        {"{\"session_id\": \"a\", \"hash_ids\": []}\n{\"session_id\": \"b\"}",
         "not those of a row", 2},
        {"{\"session_id\": \"a\", \"hash_ids\": []}\n"
         "{\"session_id\": \"b\", \"hash_ids\": [1.0]}",
         "not those of a row", 2},
        {"{\"session_id\": \"a\", \"hash_ids\": []}\n"
         "{\"session_id\": \"b\", \"hash_ids\": [9223372036854775808]}",
         "not those of a row", 2},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        put_parts(cases[i].rows);
        expect_failure(run_merge, TB_ERR_VALUE, cases[i].line,
                       cases[i].message);
    }
}

/* ---- files that change while they are read ---------------------------- */

#define ROW(session, id)                                                       \
    "{\"session_id\": \"" session "\", \"input_length\": 4, "                  \
    "\"hash_ids\": [" id "]}\n"

/* Two rows and the end are asked for before the second time. */
static void test_rows_that_change_between_two_readings(void **state)
{
    (void)state;
    static const struct {
        const char *content, *message;
    } cases[] = {
        {ROW("a", "1") ROW("c", "2"), "the file was changed"},
        {ROW("c", "1") ROW("b", "2"), "the file was changed"},
        {ROW("a", "1") ROW("b", "x"), ""},
        {ROW("a", "1"), "the file became shorter"},
        {"", "the file became shorter"},
    };
    run_of *const runs[] = {run_share, run_sample};
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (size_t j = 0; j < COUNT_OF(runs); j++) {
            struct tb_error error = {0};
            put("in.jsonl", ROW("a", "1") ROW("b", "2"));
            meanwhile.left = 4;
            meanwhile.name = "in.jsonl";
            meanwhile.content = cases[i].content;
            assert_int_not_equal(runs[j](&error), TB_OK);
            if (!strstr(error.message, cases[i].message))
                fail_msg("case %zu: %s", i, error.message);
            assert_int_equal(meanwhile.left, 0);
            assert_int_equal(made_count(), 0);
        }
}

static void test_what_is_added_meanwhile_is_not_read(void **state)
{
    (void)state;
    struct tb_error error = {0};
    put("in.jsonl", ROW("a", "1") ROW("b", "2"));
    meanwhile.left = 4;
    meanwhile.name = "in.jsonl";
    meanwhile.content = ROW("a", "1") ROW("b", "2") ROW("a", "3");
    assert_int_equal(run_share(&error), TB_OK);
    assert_int_equal(share.counts.rows, 2);
}

/* Each file is opened for its first row, then all are read twice. */
static void test_merged_rows_that_change_meanwhile(void **state)
{
    (void)state;
    static const struct {
        unsigned at; // the first row, or the second reading
        const char *content;
        tb_status status;
    } cases[] = {
        {4, ROW("conv_0", "1") ROW("conv_9", "2"), TB_ERR_IO},
        {9, ROW("conv_5", "1") ROW("conv_8", "2"), TB_ERR_IO},
        {9, ROW("conv_5", "1") ROW("conv_9", "1"), TB_ERR_IO},
        {9, ROW("conv_5", "1"), TB_ERR_VALUE}, // the meta file says two
        {9, ROW("conv_5", "1") ROW("conv_9", "2") "\n", TB_ERR_IO},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct tb_error error = {0};
        put_parts(ROW("conv_5", "1") ROW("conv_9", "2"));
        meanwhile.left = cases[i].at;
        meanwhile.name = "in1.jsonl";
        meanwhile.content = cases[i].content;
        tb_status status = run_merge(&error);
        if (status != cases[i].status)
            fail_msg("case %zu: %d, %s", i, (int)status, error.message);
        assert_int_equal(meanwhile.left, 0);
        assert_int_equal(made_count(), 0);
    }
}

/* ---- inputs and outputs ----------------------------------------------- */

static bool is_stopping(void *context)
{
    return context == NULL;
}

static void test_a_run_is_stopped_at_a_row(void **state)
{
    (void)state;
    const struct tb_row_stop stop = {.is_stopping = is_stopping};
    struct tb_row_input input = {0};
    struct tb_error error = {0};
    put("in.jsonl", "{}\n");
    assert_int_equal(
        tb_row_input_open(&input, path_of("in.jsonl"), stop, &error), TB_OK);
    assert_int_equal(tb_row_input_next(&input, &error), TB_ERR_INTERRUPTED);
    tb_row_input_close(&input);
    tb_row_input_close(&input);
}

static void test_what_is_read_is_not_replaced(void **state)
{
    (void)state;
    struct tb_error error = {0};
    const char *const outputs[] = {"in.jsonl", "in.jsonl.meta.json", "link",
                                   "./in.jsonl"};
    put("in.jsonl", "{}\n");
    put("in.jsonl.meta.json", "{}");
    assert_int_equal(symlink("in.jsonl", path_of("link")), 0);
    for (size_t i = 0; i < COUNT_OF(outputs); i++) {
        struct tb_row_output output = {0};
        assert_int_equal(
            tb_row_output_open(&output, path_of(outputs[i]), no_stop, &error),
            TB_OK);
        assert_int_equal(
            tb_row_output_spare(&output, path_of("in.jsonl"), &error),
            TB_ERR_USAGE);
        tb_row_output_close(&output);
    }
    expect_file("in.jsonl", "{}\n");
}

static void test_a_path_that_is_too_long_is_refused(void **state)
{
    (void)state;
    struct tb_row_output output = {0};
    struct tb_error error = {0};
    static char path[TB_PATH_SIZE];
    memset(path, 'x', sizeof(path) - 1);
    assert_int_equal(tb_row_output_open(&output, path, no_stop, &error),
                     TB_ERR_USAGE);
    tb_row_output_close(&output);
    assert_int_equal(
        tb_line_partition_open(&partition, path, 2, "", no_stop, &error),
        TB_ERR_USAGE);
    tb_line_partition_close(&partition);
}

/* ---- each allocation fails once --------------------------------------- */

static void fail_each_allocation(run_of *run)
{
    tb_status status = TB_ERR_MEMORY;
    for (long allowed = 0; status != TB_OK; allowed++) {
        struct tb_error error = {0};
        remove_files(folder, "in");
        tb_memory_fail_after(allowed);
        status = run(&error);
        tb_memory_fail_after(-1);
        if (status == TB_OK)
            break;
        if (status != TB_ERR_MEMORY)
            fail_msg("allocation %ld: %s", allowed, error.message);
        // Without one the command says "out of memory" by the status.
        if (error.status != TB_OK && error.status != status)
            fail_msg("allocation %ld: the message is of another failure: %s",
                     allowed, error.message);
        if (made_count() > 0)
            fail_msg("allocation %ld: a file is left", allowed);
        assert_true(allowed < 100000);
    }
}

static void test_every_allocation_fails_once(void **state)
{
    (void)state;
    run_of *const runs[] = {run_reblock, run_share,     run_share_with_secret,
                            run_sample,  run_partition, run_census};
    put("in.jsonl",
        "{\"session_id\": \"a\", \"agent_type\": \"x\", \"input_length\": 9, "
        "\"output_length\": 1, \"hash_ids\": [3, 4, 5], \"timestamp\": 1.5, "
        "\"extra\": {\"ignore_eos\": true, \"min_tokens\": 1}}\n"
        "{\"session_id\": 12, \"input_length\": 9, \"hash_ids\": [3, 4, 6]}\n"
        "{\"session_id\": 12, \"input_length\": 1}\n"
        "{\"input_length\": 9, \"hash_ids\": [3, 4, 6]}\n");
    put("in.jsonl.meta.json",
        "{\"command\": \"x\", \"earlier_commands\": [\"y\"], \"rows\": "
        "{\"prompt\": \"whole\", \"z\": [1]}, \"block_size\": 4}");
    for (size_t i = 0; i < COUNT_OF(runs); i++)
        fail_each_allocation(runs[i]);
}

static void test_every_allocation_of_a_merge_fails_once(void **state)
{
    (void)state;
    put_parts("{\"session_id\": \"a\", \"hash_ids\": [1, 2, 3, 4]}\n"
              "{\"session_id\": \"b\", \"hash_ids\": [1, 5, 6, 7, 8, 9]}\n");
    fail_each_allocation(run_merge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(test_reblocked_ids_count_from_zero),
        TEST(test_a_row_that_cannot_be_reblocked_fails_the_run),
        TEST(test_shared_rows_have_no_text_of_others),
        TEST(test_a_secret_makes_the_same_of_the_same),
        TEST(test_rows_that_cannot_be_shared),
        TEST(test_sessions_are_drawn_whole),
        TEST(test_tokens_bound_a_sample),
        TEST(test_lines_of_one_session_stay_together),
        TEST(test_lines_without_a_session_are_counted),
        TEST(test_a_part_does_not_replace_what_is_read),
        TEST(test_merged_rows_are_in_order),
        TEST(test_rows_that_cannot_be_merged),
        TEST(test_rows_that_change_between_two_readings),
        TEST(test_what_is_added_meanwhile_is_not_read),
        TEST(test_merged_rows_that_change_meanwhile),
        TEST(test_a_run_is_stopped_at_a_row),
        TEST(test_what_is_read_is_not_replaced),
        TEST(test_a_path_that_is_too_long_is_refused),
        TEST(test_every_allocation_fails_once),
        TEST(test_every_allocation_of_a_merge_fails_once),
    };
    return cmocka_run_group_tests_name("rows", tests, NULL, NULL);
}
