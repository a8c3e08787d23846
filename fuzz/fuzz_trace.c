#include "fuzz_trace.h"

#include <string.h>

#include "decompress.h"
#include "utf8.h"

/* A record parses, or says why not; its prompt is text. */
static void check_record(tb_dialect_id dialect, tb_join_rule rule,
                         const struct tb_trace_event *event, bool is_compat)
{
    struct tb_arena arena = {0};
    struct tb_part part = {0};
    struct tb_error error = {0};
    struct tb_span model = {0};
    struct tb_buffer text = TB_BUFFER(1 << 28);
    (void)!tb_trace_peek_model(dialect, event->json, &arena, &model);
    const struct tb_trace_parser parser = {dialect, is_compat, NULL};
    tb_status status = tb_trace_parse(&parser, event->json, event->offset,
                                      event->line, &arena, &part, &error);
    FUZZ_CHECK(status == TB_OK || (error.status == status && error.message[0]));
    if (status == TB_OK &&
        (part.kind == TB_PART_START || part.kind == TB_PART_WHOLE) &&
        tb_join_messages(&part.call, rule, is_compat, &text, &error) == TB_OK)
        FUZZ_CHECK(tb_utf8_valid_len(tb_buffer_span(&text)) == text.len);
    FUZZ_CHECK(tb_utf8_valid_len(part.call.answer) == part.call.answer.len);
    tb_buffer_release(&text);
    tb_arena_release(&arena);
}

/* With a memo, filled by this record or an earlier one, it reads the same. */
static void check_memo(const struct tb_trace_parser *plain, tb_join_rule rule,
                       const struct tb_trace_event *event, struct tb_memo *memo)
{
    struct tb_trace_parser parsers[] = {*plain, *plain, *plain};
    struct tb_part parts[3];
    struct tb_buffer texts[3];
    struct tb_arena arena = {0};
    tb_status statuses[3];
    parsers[1].memo = parsers[2].memo = memo;
    tb_memo_begin(memo);
    for (int i = 0; i < 3; i++) {
        texts[i] = TB_BUFFER(1 << 28);
        statuses[i] = tb_trace_parse(&parsers[i], event->json, event->offset,
                                     event->line, &arena, &parts[i], NULL);
        if (statuses[i] == TB_OK)
            (void)!tb_join_messages(&parts[i].call, rule, plain->is_compat,
                                    &texts[i], NULL);
        const struct tb_call *call = &parts[i].call, *first = &parts[0].call;
        FUZZ_CHECK(statuses[i] == statuses[0]);
        FUZZ_CHECK(tb_span_equal(tb_buffer_span(&texts[i]),
                                 tb_buffer_span(&texts[0])));
        FUZZ_CHECK(statuses[i] != TB_OK ||
                   (call->message_count == first->message_count &&
                    call->image_count == first->image_count &&
                    call->bad_utf8_count == first->bad_utf8_count &&
                    call->lone_surrogate_count == first->lone_surrogate_count));
    }
    for (int i = 0; i < 3; i++)
        tb_buffer_release(&texts[i]);
    tb_arena_release(&arena);
}

/* The record is the bytes of the file at its offset, on its line. */
static void check_place(const struct tb_trace_event *event, struct tb_span file)
{
    struct tb_span before = {file.ptr, (size_t)event->offset};
    FUZZ_CHECK(event->offset <= file.len &&
               event->json.len <= file.len - event->offset);
    FUZZ_CHECK(memcmp(file.ptr + event->offset, event->json.ptr,
                      event->json.len) == 0);
    FUZZ_CHECK(event->line == tb_span_count(before, '\n') + 1);
}

void fuzz_trace(tb_dialect_id dialect, tb_join_rule rule, const uint8_t *data,
                size_t size)
{
    uint32_t mode = fuzz_take(&data, &size, 1);
    struct tb_trace_options options = {
        .skip_sessions = mode >> 1 & 1,
        .max_sessions = mode & 4 ? 2 : UINT64_MAX,
        .is_compat = mode & 1,
    };
    struct tb_span file = {data, size};
    if (tb_compression_of_magic(file) != TB_COMPRESSION_NONE)
        return; // fuzz_input.c is about that
    struct tb_input *input;
    struct tb_trace_reader *reader;
    struct tb_error error = {0};
    FUZZ_CHECK(tb_input_open(fuzz_file(data, size), &input, &error) == TB_OK);
    FUZZ_CHECK(tb_trace_open(dialect, &options, input, &reader, &error) ==
               TB_OK);
    struct tb_memo *memo;
    FUZZ_CHECK(tb_memo_new(&memo) == TB_OK);
    struct tb_trace_event event = {.kind = TB_TRACE_LOSS};
    for (bool is_inside = false; event.kind != TB_TRACE_END;) {
        event = (struct tb_trace_event){0};
        FUZZ_CHECK(tb_trace_next(reader, &event, &error) == TB_OK);
        bool begins = event.kind == TB_TRACE_SESSION;
        bool ends = event.kind == TB_TRACE_SESSION_END ||
                    event.kind == TB_TRACE_SESSION_DROP;
        FUZZ_CHECK(!begins || !is_inside);
        FUZZ_CHECK(is_inside || (!ends && event.kind != TB_TRACE_RECORD));
        FUZZ_CHECK(tb_utf8_valid_len(event.name) == event.name.len);
        is_inside = (is_inside || begins) && !ends;
        if (event.kind == TB_TRACE_RECORD) {
            check_place(&event, file);
            check_record(dialect, rule, &event, options.is_compat);
            check_memo(
                &(struct tb_trace_parser){dialect, options.is_compat, NULL},
                rule, &event, memo);
        }
    }
    tb_memo_free(memo);
    tb_trace_close(reader);
    tb_input_close(input);
}
