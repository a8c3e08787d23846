/* Proves: any UTF-8 as a chat template are refused with a message, or render;
 * rendering ends, twice the same; a prompt is valid UTF-8, and a failure leaves
 * none of it behind. */
#include "fuzz.h"

#include "chat_template.h"
#include "utf8.h"

static const struct tb_special_token special[] = {
    {{(const uint8_t *)"bos_token", 9}, {(const uint8_t *)"<s>", 3}},
    {{(const uint8_t *)"eos_token", 9}, {(const uint8_t *)"</s>", 4}}};

static tb_status render(const struct tb_chat_template *chat_template,
                        struct tb_buffer *out)
{
    struct tb_chat_input input = {
        .messages = TB_SPAN(
            "[{\"role\":\"system\",\"content\":\"Be brief.\"},"
            "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":"
            "\"caf\\u00e9 {{x}}\"}]},{\"role\":\"assistant\",\"content\":null,"
            "\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\",\"function\":"
            "{\"name\":\"f\",\"arguments\":{\"x\":[1,2.5,true,null]}}}]},"
            "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"ok\"}]"),
        .tools = TB_SPAN("[{\"type\":\"function\",\"function\":{\"name\":\"f\","
                         "\"parameters\":{\"type\":\"object\"}}}]"),
        .special = special,
        .special_count = 2,
    };
    struct tb_arena arena = {0};
    struct tb_error error = {0};
    tb_status status =
        tb_chat_template_render(chat_template, &input, &arena, out, &error);
    FUZZ_CHECK(status == TB_OK || (error.message[0] && out->len == 0));
    FUZZ_CHECK(tb_utf8_valid_len(tb_buffer_span(out)) == out->len);
    tb_arena_release(&arena);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tb_chat_template *chat_template = NULL;
    struct tb_error error = {0};
    struct tb_buffer source = TB_BUFFER(1 << 26);
    uint64_t replaced = 0;
    FUZZ_CHECK(tb_utf8_repair((struct tb_span){data, size}, &source,
                              &replaced) == TB_OK);
    tb_status status = tb_chat_template_compile(tb_buffer_span(&source),
                                                &chat_template, &error);
    tb_buffer_release(&source);
    FUZZ_CHECK(status == TB_OK || (error.status == status && error.message[0]));
    if (status != TB_OK)
        return 0;
    struct tb_buffer first = TB_BUFFER(1 << 26), second = first;
    FUZZ_CHECK(render(chat_template, &first) == render(chat_template, &second));
    FUZZ_CHECK(tb_span_equal(tb_buffer_span(&first), tb_buffer_span(&second)));
    tb_buffer_release(&first);
    tb_buffer_release(&second);
    tb_chat_template_free(chat_template);
    return 0;
}
