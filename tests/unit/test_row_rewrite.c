/* convert: rows in another form. Which rows have what is wanted; then each
 * allocation fails once while some are rewritten. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "memory.h"
#include "row_rewrite.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static void test_what_rows_do_not_have_is_refused(void **state)
{
    (void)state;
    const struct tb_meta_reading whole = {.has_prompt = true,
                                          .block_size = 4,
                                          .has_format = true,
                                          .tokenizer = "builtin"};
    struct tb_meta_reading delta = whole, messages = whole, compat = whole,
                           content = whole, sizeless = whole, formless = whole,
                           other = whole;
    delta.is_delta = messages.is_messages = compat.is_compat = true;
    content.has_content_ids = true;
    sizeless.block_size = 0;
    formless.has_format = false;
    (void)snprintf(other.tokenizer, sizeof(other.tokenizer), "llama");
    const struct tb_row_form any = {0}, increments = {.rows = TB_ROWS_DELTA};
    const struct tb_row_form texts = {.rows = TB_ROWS_MESSAGES};
    const struct tb_row_form chat = {.rows = TB_ROWS_DELTA,
                                     .endpoint = TB_ENDPOINT_CHAT};
    const struct {
        const struct tb_meta_reading *meta;
        const struct tb_row_form *form;
        const char *problem; // NULL: none
    } cases[] = {
        {&whole, &any, NULL},
        {&whole, &increments, NULL},
        {&whole, &chat, NULL},
        {&delta, &increments, NULL},
        {&delta, &any, "no whole prompts"},
        {&whole, &texts, "do not have the messages"},
        {&messages, &any, "rows of messages"},
        {&compat, &any, "--compat"},
        {&content, &any, "--ids content"},
        {&sizeless, &any, "no meta file"},
        {&formless, &any, "no meta file"},
        {&other, &chat, "chat template"},
        {&other, &increments, NULL},
        {&(struct tb_meta_reading){0}, &any, "no meta file"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct tb_rewrite_options options = {0};
        struct tb_error error = {0};
        tb_status status = tb_rewrite_options_choose(
            cases[i].meta, cases[i].form, &options, &error);
        const char *problem = cases[i].problem ? cases[i].problem : "";
        if (status != (cases[i].problem ? TB_ERR_USAGE : TB_OK) ||
            !strstr(error.message, problem))
            fail_msg("case %zu: '%s'", i, error.message);
        assert_int_equal(options.block_size, cases[i].problem ? 0 : 4);
    }
}

/* Two conversations that begin alike and go on alike at first. */
static const char *const rows[] = {
    "{\"session_id\": \"a\", \"input_length\": 8, \"output_length\": 4, "
    "\"hash_ids\": [0, 1]}",
    "{\"session_id\": \"a\", \"input_length\": 20, \"output_length\": 1, "
    "\"hash_ids\": [0, 1, 2, 3, 4]}",
    "{\"session_id\": \"b\", \"input_length\": 8, \"output_length\": 4, "
    "\"hash_ids\": [0, 1]}",
    "{\"session_id\": \"b\", \"input_length\": 20, \"output_length\": 1, "
    "\"hash_ids\": [0, 1, 2, 3, 5]}"};

static const char *const wanted =
    "{\"session_id\": \"a\", \"input_length\": 8, \"output_length\": 4, "
    "\"hash_ids\": [0, 1]}\n"
    "{\"session_id\": \"a\", \"input_length\": 8, \"output_length\": 1, "
    "\"hash_ids\": [2, 3]}\n"
    "{\"session_id\": \"b\", \"input_length\": 8, \"output_length\": 4, "
    "\"hash_ids\": [0, 1]}\n"
    "{\"session_id\": \"b\", \"input_length\": 8, \"output_length\": 1, "
    "\"hash_ids\": [2, 4]}\n";

static struct tb_call_line call_of(size_t i)
{
    const char *session = i < 2 ? "a" : "b";
    bool is_first = i % 2 == 0;
    return (struct tb_call_line){
        .has_row = true,
        .row = i + 1,
        .session_id = tb_span_of(session),
        .recorded_session = tb_span_of(session),
        .turn = i % 2,
        .has_continued = true,
        .continued_row = is_first ? 0 : i,
        .input_length = is_first ? 8 : 20,
        .output_length = is_first ? 4 : 1,
        .prompt_tokens = is_first ? 8 : 20,
        .start_s = (double)i,
        .end_s = (double)i + 0.5,
    };
}

static tb_status rewrite_rows(struct tb_buffer *text)
{
    const struct tb_rewrite_options options = {.form = {.rows = TB_ROWS_DELTA},
                                               .block_size = 4};
    struct tb_row_rewrite *rewrite = NULL;
    struct tb_row_input input = {0};
    struct tb_error error = {0};
    tb_status status = tb_row_rewrite_new(&options, &rewrite);
    for (size_t i = 0; i < COUNT_OF(rows) && status == TB_OK; i++) {
        struct tb_call_line call = call_of(i);
        status = tb_row_rewrite_look(rewrite, &call);
        if (status == TB_OK)
            status = tb_mooncake_record_read(&input.record, tb_span_of(rows[i]),
                                             0, 1, &input.arena, &error);
        input.row_count = i + 1;
        // A failure has the place of the row, which has none here.
        if (status == TB_OK)
            status = tb_row_rewrite_add(rewrite, &input, &call, text, NULL);
    }
    tb_row_rewrite_free(rewrite);
    tb_mooncake_record_release(&input.record);
    tb_arena_release(&input.arena);
    return status;
}

static void test_every_allocation_fails_once(void **state)
{
    (void)state;
    tb_status status = TB_ERR_MEMORY;
    for (long allowed = 0; status != TB_OK; allowed++) {
        struct tb_buffer text = TB_BUFFER(1 << 20);
        tb_memory_fail_after(allowed);
        status = rewrite_rows(&text);
        tb_memory_fail_after(-1);
        assert_true(status == TB_OK || status == TB_ERR_MEMORY);
        if (status == TB_OK) {
            assert_int_equal(text.len, strlen(wanted));
            assert_memory_equal(text.ptr, wanted, text.len);
        }
        tb_buffer_release(&text);
        assert_true(allowed < 10000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_rows_do_not_have_is_refused),
        cmocka_unit_test(test_every_allocation_fails_once),
    };
    return cmocka_run_group_tests_name("row_rewrite", tests, NULL, NULL);
}
