/* convert: whole conversions of small traces, as a library does them.
 *
 * The tokenizer is made here: one token for each byte, so that a text's length
 * is its count. Rows are read back and held to what every row must keep. */
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

#include "convert.h"
#include "input_name.h"
#include "json_reader.h"
#include "memory.h"
#include "row_tokens.h"
#include "tokenizer_model.h"
#include "utf8.h"

enum { BLOCK = 4, ROWS_MAX = 512, IDS_MAX = 64, PATH_MAX_LEN = 512 };

static char folder[PATH_MAX_LEN / 2];

/* A path in the folder of the test; eight of them live at a time. */
static const char *path_of(const char *name)
{
    static char paths[8][PATH_MAX_LEN];
    static unsigned next;
    char *path = paths[next++ % 8];
    (void)snprintf(path, PATH_MAX_LEN, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, struct tb_span content)
{
    FILE *file = fopen(path_of(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(content.ptr, 1, content.len, file), content.len);
    assert_int_equal(fclose(file), 0);
}

static struct tb_buffer read_file(const char *name)
{
    struct tb_buffer content = TB_BUFFER(1 << 26);
    FILE *file = fopen(path_of(name), "rb");
    assert_non_null(file);
    size_t len = 1;
    while (len > 0) {
        assert_int_equal(tb_buffer_reserve(&content, 1 << 16), TB_OK);
        len = fread(content.ptr + content.len, 1, 1 << 16, file);
        content.len += len;
    }
    (void)fclose(file);
    return content;
}

/* ---- a folder with a tokenizer for each test --------------------------------
 */

static void write_tokenizer(void)
{
    struct tb_buffer json = TB_BUFFER(1 << 20);
    const char *separator = "";
    assert_int_equal(
        tb_buffer_printf(&json,
                         "{\"added_tokens\":[],\"normalizer\":null,"
                         "\"pre_tokenizer\":{\"type\":\"ByteLevel\","
                         "\"add_prefix_space\":false,\"trim_offsets\":true,"
                         "\"use_regex\":true},\"model\":{\"type\":\"BPE\","
                         "\"merges\":[],\"vocab\":{"),
        TB_OK);
    for (uint32_t code = 0; code < 0x144; code++) {
        int byte = tb_byte_of_code_point(code);
        if (byte < 0)
            continue;
        assert_int_equal(tb_buffer_printf(&json, "%s\"\\u%04x\":%d", separator,
                                          (unsigned)code, byte),
                         TB_OK);
        separator = ",";
    }
    assert_int_equal(tb_buffer_printf(&json, "}}}"), TB_OK);
    write_file("tokenizer.json", tb_buffer_span(&json));
    tb_buffer_release(&json);
}

static int set_up(void **state)
{
    (void)state;
    const char *temporary = getenv("TMPDIR");
    (void)snprintf(folder, sizeof(folder), "%.200s/tb_convert_XXXXXX",
                   temporary ? temporary : "/tmp");
    assert_non_null(mkdtemp(folder));
    write_tokenizer();
    return 0;
}

/* Is there a file besides those that are named, separated by spaces? */
static bool has_other_files(const char *names)
{
    bool found = false;
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    for (const struct dirent *entry; (entry = readdir(listing));)
        if (entry->d_name[0] != '.' && !strstr(names, entry->d_name))
            found = true;
        else if (entry->d_name[0] == '.' && entry->d_name[1] != '\0' &&
                 strcmp(entry->d_name, "..") != 0)
            found = true; // a temporary file that is hidden
    (void)closedir(listing);
    return found;
}

static int tear_down(void **state)
{
    (void)state;
    tb_memory_fail_after(-1);
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    for (const struct dirent *entry; (entry = readdir(listing));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            (void)unlink(path_of(entry->d_name));
    (void)closedir(listing);
    return rmdir(folder);
}

/* ---- traces -----------------------------------------------------------------
 */

struct call {
    unsigned request;
    const char *agent;
    const char *text;
    unsigned prompt, completion; /* what the server counted */
};

static void append(struct tb_buffer *json, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    assert_int_equal(tb_buffer_append(json, tb_span_of(text)), TB_OK);
}

static void append_call(struct tb_buffer *json, const struct call *call,
                        unsigned number)
{
    append(json,
           "{\"payload\":{\"event_type\":\"LLM_START\",\"UUID\":\"u%u\","
           "\"event_timestamp\":%u,\"name\":\"m\",\"metadata\":{"
           "\"chat_inputs\":[{\"role\":\"user\",\"content\":\"",
           number, 1000 + 2 * number);
    assert_int_equal(tb_buffer_append(json, tb_span_of(call->text)), TB_OK);
    append(json, "\"}]}},\"function_ancestry\":{\"function_name\":\"%s\"}},",
           call->agent);
    append(json,
           "{\"payload\":{\"event_type\":\"LLM_END\",\"UUID\":\"u%u\","
           "\"event_timestamp\":%u,\"usage_info\":{\"token_usage\":{"
           "\"prompt_tokens\":%u,\"completion_tokens\":%u}}}}",
           number, 1001 + 2 * number, call->prompt, call->completion);
}

static void write_trace(const char *name, const struct call *calls,
                        size_t count)
{
    struct tb_buffer json = TB_BUFFER(1 << 26);
    append(&json, "[");
    for (size_t i = 0; i < count; i++) {
        bool begins = i == 0 || calls[i].request != calls[i - 1].request;
        if (begins)
            append(&json, "%s{\"request_number\":%u,\"intermediate_steps\":[",
                   i ? "]}," : "", calls[i].request);
        else
            append(&json, ",");
        append_call(&json, &calls[i], (unsigned)i);
    }
    append(&json, "]}]");
    write_file(name, tb_buffer_span(&json));
    tb_buffer_release(&json);
}

/* ---- conversions and their rows ---------------------------------------------
 */

struct row {
    char session[32];
    uint64_t input, output, delay;
    uint64_t ids[IDS_MAX];
    size_t id_count;
};

struct rows {
    struct row items[ROWS_MAX];
    size_t count;
};

struct run {
    struct tb_convert_options options;
    const char *inputs[2];
    char output[PATH_MAX_LEN], tokenizer[PATH_MAX_LEN], input[PATH_MAX_LEN];
    struct tb_stats stats;
    struct tb_error error;
};

static struct run *new_run(struct run *run)
{
    *run = (struct run){0};
    (void)snprintf(run->input, PATH_MAX_LEN, "%s", path_of("trace.json"));
    (void)snprintf(run->output, PATH_MAX_LEN, "%s", path_of("rows.jsonl"));
    (void)snprintf(run->tokenizer, PATH_MAX_LEN, "%s",
                   path_of("tokenizer.json"));
    run->inputs[0] = run->input;
    run->options = (struct tb_convert_options){
        .dialect = TB_DIALECT_NAT,
        .inputs = run->inputs,
        .input_count = 1,
        .output = run->output,
        .tokenizer = run->tokenizer,
        .block_size = BLOCK,
        .max_requests = UINT64_MAX,
        .threads = 1,
        .version = "0",
    };
    return run;
}

static tb_status convert(struct run *run)
{
    return tb_convert(&run->options, &run->stats, &run->error);
}

static void read_ids(struct tb_json_reader *json, struct row *row)
{
    bool found;
    assert_int_equal(tb_json_enter_array(json), TB_OK);
    for (;;) {
        struct tb_json_number number;
        assert_int_equal(tb_json_next_item(json, &found), TB_OK);
        if (!found)
            return;
        assert_int_equal(tb_json_read_number(json, &number), TB_OK);
        assert_true(row->id_count < IDS_MAX);
        row->ids[row->id_count++] = (uint64_t)number.integer;
    }
}

static void read_row(struct tb_json_reader *json, struct tb_arena *arena,
                     struct row *row)
{
    *row = (struct row){0};
    assert_int_equal(tb_json_enter_object(json), TB_OK);
    for (;;) {
        struct tb_span key, text;
        struct tb_json_number number = {0};
        assert_int_equal(tb_json_next_key(json, &key), TB_OK);
        if (!key.ptr)
            return;
        char name = (char)key.ptr[0];
        if (name == 's') {
            assert_int_equal(tb_json_read_string(json, arena, &text), TB_OK);
            (void)snprintf(row->session, sizeof(row->session), "%.*s",
                           (int)text.len, (const char *)text.ptr);
        } else if (name == 'h') {
            read_ids(json, row);
        } else {
            assert_int_equal(tb_json_read_number(json, &number), TB_OK);
            *(name == 'i'   ? &row->input
              : name == 'o' ? &row->output
                            : &row->delay) = (uint64_t)number.integer;
        }
    }
}

/* What must hold of all rows: as many ids as the length asks for, numbered by
 * first appearance, and one id stands for one number of tokens. */
static void check_rows(const struct rows *rows)
{
    static uint64_t sizes[ROWS_MAX * IDS_MAX];
    uint64_t known = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->items[i];
        assert_int_equal(row->id_count, (row->input + BLOCK - 1) / BLOCK);
        assert_true(row->output >= 1);
        for (size_t k = 0; k < row->id_count; k++) {
            uint64_t left = row->input - k * BLOCK;
            uint64_t size = left < BLOCK ? left : BLOCK;
            assert_true(row->ids[k] <= known);
            if (row->ids[k] == known)
                sizes[known++] = size;
            assert_int_equal(sizes[row->ids[k]], size);
        }
    }
}

static void read_raw_rows(struct rows *rows)
{
    struct tb_buffer content = read_file("rows.jsonl");
    struct tb_json_reader json;
    struct tb_arena arena = {0};
    tb_json_type type;
    tb_json_reader_init_span(&json, tb_buffer_span(&content), 0, 1);
    for (rows->count = 0;; rows->count++) {
        assert_int_equal(tb_json_peek(&json, &type), TB_OK);
        if (type == TB_JSON_END)
            break;
        assert_true(rows->count < ROWS_MAX);
        read_row(&json, &arena, &rows->items[rows->count]);
    }
    tb_json_reader_release(&json);
    tb_arena_release(&arena);
    tb_buffer_release(&content);
}

static void read_rows(struct rows *rows)
{
    read_raw_rows(rows);
    check_rows(rows);
}

// Numbers ids by first appearance, whatever they were.
static void renumber(struct rows *rows)
{
    static uint64_t known[ROWS_MAX * IDS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++)
        for (size_t k = 0; k < rows->items[i].id_count; k++) {
            uint64_t *id = &rows->items[i].ids[k];
            size_t number = 0;
            while (number < count && known[number] != *id)
                number++;
            if (number == count)
                known[count++] = *id;
            *id = number;
        }
}

static void convert_calls(const struct call *calls, size_t count,
                          struct rows *rows)
{
    struct run run;
    write_trace("trace.json", calls, count);
    if (convert(new_run(&run)) != TB_OK)
        fail_msg("%s", run.error.message);
    assert_int_equal(run.stats.row_count, count);
    tb_stats_release(&run.stats);
    read_rows(rows);
    assert_int_equal(rows->count, count);
}

static void check_ids(const struct row *row, const char *wanted)
{
    char text[IDS_MAX * 8] = "";
    size_t len = 0;
    for (size_t i = 0; i < row->id_count; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%llu",
                                i ? " " : "", (unsigned long long)row->ids[i]);
    assert_string_equal(text, wanted);
}

#define COUNT_OF(items) (sizeof(items) / sizeof((items)[0]))

/* ---- lengths and placeholders -----------------------------------------------
 */

static void test_as_many_ids_as_the_length_asks_for(void **state)
{
    (void)state;
    struct call calls[40];
    static struct rows rows;
    for (unsigned i = 0; i < COUNT_OF(calls); i++)
        calls[i] = (struct call){i, "a", "ten tokens", i, 1}; // 0: not known
    convert_calls(calls, COUNT_OF(calls), &rows);
    assert_int_equal(rows.items[0].input, 10);
    for (unsigned i = 1; i < COUNT_OF(calls); i++)
        assert_int_equal(rows.items[i].input, i);
}

static void test_our_count_leads_when_asked(void **state)
{
    (void)state;
    const struct call calls[] = {{0, "a", "ten tokens", 3, 1},
                                 {0, "a", "ten tokens and more", 99, 1}};
    static struct rows rows;
    struct run run;
    write_trace("trace.json", calls, COUNT_OF(calls));
    new_run(&run)->options.lengths = TB_LENGTHS_TOKENS;
    assert_int_equal(convert(&run), TB_OK);
    assert_int_equal(run.stats.adjusted_count, 2);
    assert_int_equal(run.stats.usage_led_count, 0);
    tb_stats_release(&run.stats);
    read_rows(&rows);
    check_ids(&rows.items[0], "0 1 2");
    check_ids(&rows.items[1], "0 1 3 4 5");
}

static void test_surplus_in_front_is_shared_by_equal_agents_only(void **state)
{
    (void)state;
    const struct call calls[] = {
        {0, "a", "abcdefgh", 16, 1},     // 8 in front
        {0, "a", "abcdefghIJKL", 20, 1}, // the same 8
        {1, "a", "other text", 18, 1},   // the same 8, in another session
        {1, "b", "abcdefgh", 16, 1},     // 8 of its own
        {2, "b", "other text", 18, 1},   {2, "c", "abcdefgh", 8, 1}, // none
    };
    static struct rows rows;
    convert_calls(calls, COUNT_OF(calls), &rows);
    check_ids(&rows.items[0], "0 1 2 3");
    check_ids(&rows.items[1], "0 1 2 3 4");
    check_ids(&rows.items[2], "0 1 5 6 7");
    check_ids(&rows.items[3], "8 9 10 11");
    check_ids(&rows.items[4], "8 9 12 13 14");
    check_ids(&rows.items[5], "15 16");
}

static void test_surplus_at_the_end_is_shared_with_nobody(void **state)
{
    (void)state;
    const struct call calls[] = {
        {0, "a", "abcdefgh", 12, 1}, // 4 in front
        {0, "a", "abcdefgh", 20, 1}, // 8 more than that
        {0, "a", "abcdefgh", 20, 1},
        {0, "a", "abcdefgh", 12, 1},
    };
    static struct rows rows;
    convert_calls(calls, COUNT_OF(calls), &rows);
    check_ids(&rows.items[0], "0 1 2");
    check_ids(&rows.items[1], "0 1 2 3 4");
    check_ids(&rows.items[2], "0 1 2 5 6");
    check_ids(&rows.items[3], "0 1 2");
}

static void test_what_is_too_much_is_cut_from_the_end(void **state)
{
    (void)state;
    const struct call calls[] = {
        {0, "a", "abcdefghijklmnop", 16, 1},
        {0, "a", "abcdefghijklmnop", 10, 1},
        {0, "a", "abcdefghijXXXXXX", 10, 1},
        {0, "a", "abcdefghijklmnop", 8, 1},
    };
    static struct rows rows;
    convert_calls(calls, COUNT_OF(calls), &rows);
    check_ids(&rows.items[0], "0 1 2 3");
    check_ids(&rows.items[1], "0 1 4");
    check_ids(&rows.items[2], "0 1 4");
    check_ids(&rows.items[3], "0 1");
}

static void test_without_a_count_the_front_stays(void **state)
{
    (void)state;
    const struct call calls[] = {{0, "a", "abcdefgh", 12, 1},
                                 {0, "a", "abcdefgh", 0, 1}};
    static struct rows rows;
    convert_calls(calls, COUNT_OF(calls), &rows);
    check_ids(&rows.items[0], "0 1 2");
    check_ids(&rows.items[1], "0 1 2");
    assert_int_equal(rows.items[1].input, 12);
}

/* ---- ids that are the same in every run -------------------------------------
 */

// Of the requests from `first` on.
static void convert_by_content(unsigned first, const char *salt,
                               struct rows *rows)
{
    struct run run;
    new_run(&run)->options.ids = TB_IDS_CONTENT;
    run.options.salt_file = salt;
    run.options.skip_requests = first;
    if (convert(&run) != TB_OK)
        fail_msg("%s", run.error.message);
    tb_stats_release(&run.stats);
    read_raw_rows(rows);
}

static void check_same_ids(const struct row *a, const struct row *b)
{
    assert_int_equal(a->id_count, b->id_count);
    assert_memory_equal(a->ids, b->ids, a->id_count * sizeof(*a->ids));
}

static void test_content_ids_do_not_depend_on_other_sessions(void **state)
{
    (void)state;
    const struct call calls[] = {
        {0, "a", "abcdefgh", 19, 1},
        {1, "a", "abcdefgh", 27, 1},
        {1, "a", "abcdefghijkl", 40, 1},
        {1, "b", "abcdefghijkl", 12, 1},
    };
    static struct rows all, apart;
    write_trace("trace.json", calls, COUNT_OF(calls));
    convert_by_content(0, NULL, &all);
    convert_by_content(1, NULL, &apart);
    assert_int_equal(apart.count, 3);
    for (size_t i = 0; i < apart.count; i++)
        check_same_ids(&apart.items[i], &all.items[i + 1]);
    for (size_t i = 0; i < all.count; i++)
        for (size_t k = 0; k < all.items[i].id_count; k++)
            assert_true(all.items[i].ids[k] <= INT64_MAX);
}

static void test_surplus_by_session_goes_in_front_in_steps(void **state)
{
    (void)state;
    assert_int_equal(TB_FRONT_STEP, 2 * BLOCK);
    const struct call calls[] = {
        {0, "a", "abcdefgh", 16, 1},     // 8 in front
        {0, "a", "abcdefghIJKL", 24, 1}, // the same 8, and 4 at the end
        {1, "a", "abcdefgh", 23, 1},     // 8 of 15, and 7 at the end
        {2, "a", "abcdefgh", 24, 1},     // 16
        {3, "b", "abcdefgh", 15, 1},     // none of 7
        {4, "b", "abcdefgh", 15, 1},     // the same, but for the end
    };
    static struct rows rows;
    write_trace("trace.json", calls, COUNT_OF(calls));
    convert_by_content(0, NULL, &rows);
    renumber(&rows);
    check_rows(&rows);
    check_ids(&rows.items[0], "0 1 2 3");
    check_ids(&rows.items[1], "0 1 2 3 4 5");
    check_ids(&rows.items[2], "0 1 2 3 6 7");
    check_ids(&rows.items[3], "0 1 8 9 10 11");
    check_ids(&rows.items[4], "12 13 14 15");
    check_ids(&rows.items[5], "12 13 16 17");
}

static void
test_other_secrets_make_other_ids_of_the_same_structure(void **state)
{
    (void)state;
    const struct call calls[] = {{0, "a", "abcdefgh", 8, 1},
                                 {0, "a", "abcdefghijkl", 12, 1}};
    char first[PATH_MAX_LEN], second[PATH_MAX_LEN];
    static struct rows plain, one, other;
    (void)snprintf(first, sizeof(first), "%s", path_of("first.salt"));
    (void)snprintf(second, sizeof(second), "%s", path_of("second.salt"));
    write_file("first.salt", TB_SPAN("sixteen letters."));
    write_file("second.salt", TB_SPAN("sixteen letters!"));
    write_trace("trace.json", calls, COUNT_OF(calls));
    convert_by_content(0, NULL, &plain);
    convert_by_content(0, first, &one);
    convert_by_content(0, second, &other);
    assert_int_not_equal(one.items[0].ids[0], plain.items[0].ids[0]);
    assert_int_not_equal(one.items[0].ids[0], other.items[0].ids[0]);
    renumber(&one);
    check_ids(&one.items[0], "0 1");
    check_ids(&one.items[1], "0 1 2");
}

static void test_a_secret_that_can_be_guessed_is_refused(void **state)
{
    (void)state;
    const struct call calls[] = {{0, "a", "abcdefgh", 8, 1}};
    struct run run;
    char salt[PATH_MAX_LEN];
    (void)snprintf(salt, sizeof(salt), "%s", path_of("salt"));
    write_trace("trace.json", calls, COUNT_OF(calls));
    write_file("salt", TB_SPAN("fifteen letters"));
    new_run(&run)->options.ids = TB_IDS_CONTENT;
    run.options.salt_file = salt;
    assert_int_equal(convert(&run), TB_ERR_USAGE);
    assert_string_equal(run.error.path, salt);
    tb_stats_release(&run.stats);
    assert_false(has_other_files("trace.json tokenizer.json salt"));
}

static void test_delay_on_all_rows_but_the_first(void **state)
{
    (void)state;
    const struct call calls[] = {{0, "a", "one", 3, 1},
                                 {0, "a", "one two", 7, 2},
                                 {1, "a", "one", 3, 1}};
    static struct rows rows;
    struct run run;
    write_trace("trace.json", calls, COUNT_OF(calls));
    new_run(&run)->options.form.delay = TB_DELAY_FIXED;
    run.options.form.delay_ms = 500;
    assert_int_equal(convert(&run), TB_OK);
    tb_stats_release(&run.stats);
    read_rows(&rows);
    assert_int_equal(rows.items[0].delay, 0);
    assert_int_equal(rows.items[1].delay, 500);
    assert_int_equal(rows.items[2].delay, 0);
}

/* ---- threads ----------------------------------------------------------------
 */

/* Sessions of growing prompts, several megabytes, so that many batches are
 * under way. */
static void write_large_trace(void)
{
    enum { SESSIONS = 40, TURNS = 5, TEXT_LEN = 8000, STEP = 300 };
    static char texts[SESSIONS * TURNS][TEXT_LEN];
    static struct call calls[SESSIONS * TURNS];
    static const char letters[] = "abcde fghij, klmno. pqrst uvwxyz";
    uint64_t seed = 1;
    for (unsigned i = 0; i < SESSIONS * TURNS; i++) {
        size_t len = TEXT_LEN - 1 - (TURNS - i % TURNS) * STEP;
        for (size_t k = 0; k < len; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            texts[i][k] = letters[(seed >> 33) % (sizeof(letters) - 1)];
        }
        if (i % TURNS)
            memcpy(texts[i], texts[i - 1], strlen(texts[i - 1]));
        calls[i] = (struct call){i / TURNS, i % 2 ? "a" : "b", texts[i],
                                 (unsigned)len + i % 9, 5};
    }
    write_trace("trace.json", calls, COUNT_OF(calls));
}

static struct tb_buffer rows_of_large_trace(unsigned threads, bool is_reusing)
{
    struct run run;
    new_run(&run)->options.threads = threads;
    run.options.has_no_reuse = !is_reusing;
    assert_int_equal(convert(&run), TB_OK);
    assert_int_equal(run.stats.row_count, 200);
    assert_int_equal(run.stats.reused_token_count > 0, is_reusing);
    tb_stats_release(&run.stats);
    return read_file("rows.jsonl");
}

static void test_rows_do_not_depend_on_threads_and_reuse(void **state)
{
    (void)state;
    write_large_trace();
    struct tb_buffer first = rows_of_large_trace(1, false);
    for (unsigned threads = 1; threads <= 8; threads++) {
        for (int is_reusing = 0; is_reusing < 2; is_reusing++) {
            struct tb_buffer rows = rows_of_large_trace(threads, is_reusing);
            assert_true(
                tb_span_equal(tb_buffer_span(&rows), tb_buffer_span(&first)));
            tb_buffer_release(&rows);
        }
    }
    tb_buffer_release(&first);
}

static bool stop_at(void *context, const struct tb_convert_progress *progress)
{
    (void)progress;
    int *left = context;
    return (*left)-- > 0;
}

static void test_an_interrupted_run_leaves_nothing(void **state)
{
    (void)state;
    write_large_trace();
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        for (int calls = 0; calls < 3; calls++) {
            struct run run;
            int left = calls;
            new_run(&run)->options.threads = threads;
            run.options.on_progress = stop_at;
            run.options.context = &left;
            assert_int_equal(convert(&run), TB_ERR_INTERRUPTED);
            tb_stats_release(&run.stats);
            assert_false(has_other_files("trace.json tokenizer.json"));
        }
    }
}

/* ---- when there is no output ------------------------------------------------
 */

static const char surrogate_trace[] =
    "[{\"request_number\":0,\"intermediate_steps\":["
    "{\"payload\":{\"event_type\":\"LLM_START\",\"UUID\":\"u\",\"metadata\":"
    "{\"chat_inputs\":[{\"content\":\"a\\ud83d b\"}]}}},"
    "{\"payload\":{\"event_type\":\"LLM_END\",\"UUID\":\"u\",\"usage_info\":"
    "{\"token_usage\":{\"prompt_tokens\":6,\"completion_tokens\":2}}}}]}]";

static void test_strict_refuses_what_is_lost(void **state)
{
    (void)state;
    struct run run;
    write_file("trace.json", tb_span_of(surrogate_trace));
    new_run(&run)->options.is_strict = true;
    assert_int_equal(convert(&run), TB_ERR_VALUE);
    assert_int_equal(run.stats.lone_surrogate_count, 1);
    tb_stats_release(&run.stats);
    assert_false(has_other_files("trace.json tokenizer.json"));
    assert_int_equal(convert(new_run(&run)), TB_OK);
    tb_stats_release(&run.stats);
    assert_false(has_other_files(
        "trace.json tokenizer.json rows.jsonl rows.jsonl.meta.json"));
}

static void test_no_rows_is_a_failure_but_for_python(void **state)
{
    (void)state;
    struct run run;
    write_file("trace.json",
               TB_SPAN("[{\"request_number\":0,\"intermediate_steps\":["
                       "{\"payload\":{\"event_type\":\"LLM_START\","
                       "\"UUID\":\"u\",\"metadata\":{\"chat_inputs\":"
                       "[{\"content\":\"hello\"}]}}}]}]"));
    assert_int_equal(convert(new_run(&run)), TB_ERR_EMPTY);
    assert_int_equal(run.stats.call_count, 1);
    assert_int_equal(run.stats.skipped[TB_SKIP_NO_END], 1);
    tb_stats_release(&run.stats);
    assert_false(has_other_files("trace.json tokenizer.json"));
    new_run(&run)->options.is_compat = true;
    assert_int_equal(convert(&run), TB_OK);
    tb_stats_release(&run.stats);
    struct tb_buffer rows = read_file("rows.jsonl");
    assert_int_equal(rows.len, 0);
    tb_buffer_release(&rows);
}

static void test_a_dry_run_writes_nothing(void **state)
{
    (void)state;
    struct run run;
    write_file("trace.json", tb_span_of(surrogate_trace));
    new_run(&run)->options.is_dry_run = true;
    assert_int_equal(convert(&run), TB_OK);
    assert_int_equal(run.stats.row_count, 1);
    tb_stats_release(&run.stats);
    assert_false(has_other_files("trace.json tokenizer.json"));
}

static void test_an_input_is_never_replaced(void **state)
{
    (void)state;
    struct run run;
    write_file("trace.json", tb_span_of(surrogate_trace));
    assert_int_equal(symlink("trace.json", path_of("soft")), 0);
    assert_int_equal(link(path_of("trace.json"), path_of("hard")), 0);
    const char *const outputs[] = {"trace.json", "soft", "hard"};
    for (size_t i = 0; i < COUNT_OF(outputs); i++) {
        new_run(&run)->options.output = path_of(outputs[i]);
        assert_int_equal(convert(&run), TB_ERR_USAGE);
        assert_string_equal(run.error.path, run.input);
        tb_stats_release(&run.stats);
    }
    // The meta file goes beside the rows, and is no better.
    assert_int_equal(symlink("trace.json", path_of("r.meta.json")), 0);
    new_run(&run)->options.output = path_of("r");
    assert_int_equal(convert(&run), TB_ERR_USAGE);
    tb_stats_release(&run.stats);
    new_run(&run)->options.output = path_of("tokenizer.json");
    assert_int_equal(convert(&run), TB_ERR_USAGE);
    tb_stats_release(&run.stats);
    struct tb_buffer trace = read_file("trace.json");
    assert_true(
        tb_span_equal(tb_buffer_span(&trace), tb_span_of(surrogate_trace)));
    tb_buffer_release(&trace);
    assert_false(
        has_other_files("trace.json tokenizer.json soft hard r.meta.json"));
}

static void test_a_path_that_is_too_long_is_not_cut(void **state)
{
    (void)state;
    struct run run;
    static char path[6000];
    memset(path, '/', sizeof(path) - 1);
    (void)memcpy(path + sizeof(path) - 8, "/o/rows", 8);
    write_file("trace.json", tb_span_of(surrogate_trace));
    new_run(&run)->options.output = path;
    assert_int_equal(convert(&run), TB_ERR_USAGE);
    tb_stats_release(&run.stats);
}

static void test_what_is_missing_is_named(void **state)
{
    (void)state;
    struct run run;
    assert_int_equal(convert(new_run(&run)), TB_ERR_NOT_FOUND);
    assert_string_equal(run.error.path, run.input);
    tb_stats_release(&run.stats);
    write_file("trace.json", tb_span_of(surrogate_trace));
    new_run(&run)->options.tokenizer = path_of("no.json");
    assert_int_equal(convert(&run), TB_ERR_NOT_FOUND);
    tb_stats_release(&run.stats);
    assert_false(has_other_files("trace.json tokenizer.json"));
    new_run(&run)->options.output = path_of("no/rows.jsonl");
    assert_int_equal(convert(&run), TB_ERR_IO);
    tb_stats_release(&run.stats);
    run.options.input_count = 0;
    assert_int_equal(convert(&run), TB_ERR_USAGE);
}

static void test_an_old_output_outlives_a_failure(void **state)
{
    (void)state;
    struct run run;
    write_file("trace.json", tb_span_of(surrogate_trace));
    write_file("rows.jsonl", TB_SPAN("old\n"));
    new_run(&run)->options.is_strict = true;
    assert_int_equal(convert(&run), TB_ERR_VALUE);
    tb_stats_release(&run.stats);
    struct tb_buffer rows = read_file("rows.jsonl");
    assert_true(tb_span_equal(tb_buffer_span(&rows), TB_SPAN("old\n")));
    tb_buffer_release(&rows);
}

/* ---- every allocation fails once --------------------------------------------
 */

static void fail_every_allocation(tb_dialect_id dialect, unsigned threads,
                                  bool has_several, long step,
                                  const char *tokenizer)
{
    char calls[sizeof(folder) + 32], page[sizeof(folder) + 32];
    (void)snprintf(calls, sizeof(calls), "%s/calls", folder);
    (void)snprintf(page, sizeof(page), "%s/page", folder);
    tb_status status = TB_ERR_MEMORY;
#ifdef TB_ONLY_THREADS // a slow build, in which nothing else is seen
    if (threads == 1)
        return;
    step *= 4;
#endif
    for (long allowed = 0; status != TB_OK; allowed += step) {
        struct run run;
        new_run(&run)->options.threads = threads;
        run.options.dialect = dialect;
        run.inputs[1] = run.input;
        run.options.input_count = has_several ? 2 : 1;
        run.options.tokenizer = tokenizer ? tokenizer : run.tokenizer;
        run.options.calls = calls;
        run.options.report = page;
        tb_memory_fail_after(allowed);
        status = convert(&run);
        tb_memory_fail_after(-1);
        tb_stats_release(&run.stats);
        if (status == TB_OK)
            break;
        if (status != TB_ERR_MEMORY)
            fail_msg("allocation %ld: %s: %s", allowed, tb_status_name(status),
                     run.error.message);
        if (run.error.status != TB_ERR_MEMORY || !run.error.message[0])
            fail_msg("allocation %ld: no message", allowed);
        if (has_other_files("trace.json tokenizer.json chat_template.jinja"))
            fail_msg("allocation %ld: a file is left", allowed);
        assert_true(allowed < 100000);
    }
    assert_int_equal(unlink(path_of("rows.jsonl")), 0);
    assert_int_equal(unlink(path_of("rows.jsonl.meta.json")), 0);
    assert_int_equal(unlink(calls), 0);
    assert_int_equal(unlink(page), 0);
}

static void test_every_allocation_fails_once(void **state)
{
    (void)state;
    const struct call calls[] = {{0, "a", "one \\u00e9, a b", 14, 1},
                                 {0, "b", "one \\u00e9, a b c d", 30, 2},
                                 {1, "a", "x\\ud83d", 0, 0}};
    write_trace("trace.json", calls, COUNT_OF(calls));
    fail_every_allocation(TB_DIALECT_NAT, 1, false, 1, NULL);
    fail_every_allocation(TB_DIALECT_NAT, 1, true, 1, NULL);
    fail_every_allocation(TB_DIALECT_NAT, 3, false, 1, NULL);
    fail_every_allocation(TB_DIALECT_NAT, 1, false, 7, "builtin");
}

#define TELEMETRY_CALL(session, time)                                          \
    "{\"event_type\":\"llm_call\",\"session_id\":\"" session                   \
    "\",\"timestamp\":" time ",\"request_payload\":{\"messages\":[{\"role\":"  \
    "\"user\",\"content\":\"hello "                                            \
    "\\u00e9\"}],\"tools\":[{\"type\":\"function\""                            \
    ",\"function\":{\"name\":\"f\"}}]},\"response_payload\":{\"choices\":[{"   \
    "\"message\":{\"content\":\"hi\"}}],\"usage\":{\"input_tokens\":9}}}\n"

static void test_every_allocation_fails_once_with_a_template(void **state)
{
    (void)state;
    write_file("trace.json", TB_SPAN(TELEMETRY_CALL("b", "2")
                                         TELEMETRY_CALL("a", "1") "{broken\n"));
    write_file("chat_template.jinja",
               TB_SPAN("{%- for m in messages %}{{ m.role ~ ': ' ~ "
                       "m['content']|trim }}\n{% endfor %}{% for t in tools %}"
                       "{{ t|tojson }}{% endfor %}"));
    fail_every_allocation(TB_DIALECT_TELEMETRY, 1, false, 1, NULL);
    fail_every_allocation(TB_DIALECT_TELEMETRY, 2, true, 3, NULL);
}

static void test_every_allocation_fails_once_in_a_broken_trace(void **state)
{
    (void)state;
    const struct call calls[] = {{0, "a", "one \"", 14, 1},
                                 {1, "b", "two", 30, 2}};
    write_trace("trace.json", calls, COUNT_OF(calls));
    fail_every_allocation(TB_DIALECT_NAT, 1, false, 1, NULL);
}

/* ---- names ------------------------------------------------------------------
 */

static void test_where_rows_go_by_default(void **state)
{
    (void)state;
    static const struct {
        const char *input, *output;
    } cases[] = {
        {"trace.json", "trace_mooncake.jsonl"},
        {"a.b/trace.json.gz", "a.b/trace_mooncake.jsonl"},
        {"trace.jsonl.zst", "trace_mooncake.jsonl"},
        {"trace", "trace_mooncake.jsonl"},
        {"a.b/trace", "a.b/trace_mooncake.jsonl"},
        {"trace.gz", "trace_mooncake.jsonl"},
        {"run.1.json", "run.1_mooncake.jsonl"},
        {".json", ".json_mooncake.jsonl"},
        {"-", "-"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char path[64];
        tb_convert_output_path(cases[i].input, path, sizeof(path));
        assert_string_equal(path, cases[i].output);
    }
    char cut[6];
    tb_convert_output_path("trace.json", cut, sizeof(cut));
    assert_string_equal(cut, "trace");
    assert_true(tb_span_equal(tb_input_name_stem("a/b.json.gz"), TB_SPAN("b")));
    assert_true(tb_span_equal(tb_input_name_stem("-"), TB_SPAN("stdin")));
}

static void test_sessions_of_two_files_stay_apart(void **state)
{
    (void)state;
    static const char *const wanted[][2] = {
        [TB_SESSION_PREFIX_AUTO] = {"trace/conv_0", "more/conv_0"},
        [TB_SESSION_PREFIX_ALWAYS] = {"trace/conv_0", "more/conv_0"},
        [TB_SESSION_PREFIX_NEVER] = {"conv_0", "conv_0"},
    };
    const struct call call = {0, "a", "abcdefgh", 8, 1};
    static struct rows rows;
    write_trace("trace.json", &call, 1);
    write_trace("more.json", &call, 1);
    for (int prefix = 0; prefix <= TB_SESSION_PREFIX_NEVER; prefix++) {
        struct run run;
        new_run(&run)->inputs[1] = path_of("more.json");
        run.options.input_count = 2;
        run.options.session_prefix = (tb_session_prefix)prefix;
        assert_int_equal(convert(&run), TB_OK);
        assert_int_equal(run.stats.input_count, 2);
        tb_stats_release(&run.stats);
        read_rows(&rows);
        for (size_t i = 0; i < 2; i++) {
            assert_string_equal(rows.items[i].session, wanted[prefix][i]);
            check_ids(&rows.items[i], "0 1"); // equal text, equal ids
        }
    }
}

#define TEST(function)                                                         \
    cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_as_many_ids_as_the_length_asks_for),
        TEST(test_our_count_leads_when_asked),
        TEST(test_surplus_in_front_is_shared_by_equal_agents_only),
        TEST(test_surplus_at_the_end_is_shared_with_nobody),
        TEST(test_what_is_too_much_is_cut_from_the_end),
        TEST(test_without_a_count_the_front_stays),
        TEST(test_content_ids_do_not_depend_on_other_sessions),
        TEST(test_surplus_by_session_goes_in_front_in_steps),
        TEST(test_other_secrets_make_other_ids_of_the_same_structure),
        TEST(test_a_secret_that_can_be_guessed_is_refused),
        TEST(test_delay_on_all_rows_but_the_first),
        TEST(test_rows_do_not_depend_on_threads_and_reuse),
        TEST(test_an_interrupted_run_leaves_nothing),
        TEST(test_strict_refuses_what_is_lost),
        TEST(test_no_rows_is_a_failure_but_for_python),
        TEST(test_a_dry_run_writes_nothing),
        TEST(test_an_input_is_never_replaced),
        TEST(test_a_path_that_is_too_long_is_not_cut),
        TEST(test_what_is_missing_is_named),
        TEST(test_an_old_output_outlives_a_failure),
        TEST(test_every_allocation_fails_once),
        TEST(test_every_allocation_fails_once_with_a_template),
        TEST(test_every_allocation_fails_once_in_a_broken_trace),
        TEST(test_where_rows_go_by_default),
        TEST(test_sessions_of_two_files_stay_apart),
    };
    return cmocka_run_group_tests_name("convert", tests, NULL, NULL);
}
