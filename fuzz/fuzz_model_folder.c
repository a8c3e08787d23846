/* Proves: whatever lies beside a tokenizer, and whatever a person says instead,
 * is refused with a message, or gives chat templates that render and end, and a
 * tokenizer whose ids are below its size; read once more it is the same.
 *
 * The input is tokenizer_config.json, chat_template.jinja, chat_template.json
 * and the JSON of --chat-template-kwargs and --special-tokens, with a zero
 * behind each; what is empty is not there. */
#include "fuzz_files.h"
#include "fuzz_tokenizer.h"

#include <string.h>

#include "chat_template_set.h"
#include "decompress.h"
#include "utf8.h"

enum { TEXT_MAX = 1 << 14 };

static const char *copy_text(char text[TEXT_MAX], struct tb_span span)
{
    if (span.len == 0 || span.len >= TEXT_MAX)
        return NULL;
    memcpy(text, span.ptr, span.len);
    text[span.len] = '\0';
    return text;
}

/* A rank file of all bytes and of "ab". */
static struct tb_span make_ranks(void)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static char text[1 << 12];
    size_t len = 0;
    for (unsigned byte = 0; byte < 256; byte++)
        len +=
            (size_t)snprintf(text + len, sizeof(text) - len, "%c%c== %u\n",
                             digits[byte >> 2], digits[(byte & 3) << 4], byte);
    len += (size_t)snprintf(text + len, sizeof(text) - len, "YWI= 256\n");
    FUZZ_CHECK(len < sizeof(text));
    return (struct tb_span){(const uint8_t *)text, len};
}

// What tokenizer_config.json says of classes and tokens is for such files.
static void check_tokenizer(const char *path)
{
    static struct tb_span ranks;
    struct tb_rank_source source = {.path = path};
    struct tb_tokenizer *tokenizer = NULL;
    struct tb_error error = {0};
    if (ranks.len == 0)
        ranks = make_ranks();
    tb_status status =
        tb_tokenizer_from_ranks(ranks, &source, &tokenizer, &error);
    fuzz_tokenizer(status, &error, tokenizer);
}

static void render(const struct tb_chat_template_set *set, bool has_tools)
{
    const struct tb_chat_template_entry *entry =
        tb_chat_template_set_find(set, has_tools);
    struct tb_chat_input input = tb_chat_template_set_input(set);
    struct tb_arena arena = {0};
    struct tb_error error = {0};
    struct tb_buffer prompt = TB_BUFFER(1 << 26);
    if (!entry)
        return;
    input.messages = TB_SPAN("[{\"role\":\"user\",\"content\":\"a\"}]");
    if (has_tools)
        input.tools = TB_SPAN("[{\"type\":\"function\"}]");
    tb_status status = tb_chat_template_render(entry->compiled, &input, &arena,
                                               &prompt, &error);
    FUZZ_CHECK(status == TB_OK || (error.message[0] && prompt.len == 0));
    FUZZ_CHECK(tb_utf8_valid_len(tb_buffer_span(&prompt)) == prompt.len);
    tb_buffer_release(&prompt);
    tb_arena_release(&arena);
}

/* The set's fingerprint, or what is wrong with it. */
static void check_set(const char *tokenizer_path,
                      const struct tb_chat_template_overrides *overrides,
                      struct tb_span template_file, char text[512])
{
    struct tb_chat_template_set set = {0};
    struct tb_error error = {0};
    tb_status status =
        tb_chat_template_set_read(&set, tokenizer_path, overrides, &error);
    if (status == TB_OK && template_file.len > 0 &&
        tb_compression_of_magic(template_file) == TB_COMPRESSION_NONE)
        FUZZ_CHECK(tb_span_equal(set.file.source, template_file));
    if (status == TB_OK)
        status = tb_chat_template_set_compile(&set, &error);
    FUZZ_CHECK(status == TB_OK || (error.status == status && error.message[0]));
    FUZZ_CHECK(set.special_count <= 2 * TB_CHAT_TEMPLATE_MAX_SPECIAL);
    (void)snprintf(text, 512, "%s", error.message);
    if (status == TB_OK && !tb_chat_template_set_fingerprint(&set, text))
        FUZZ_CHECK(!tb_chat_template_set_find(&set, true));
    if (status == TB_OK) {
        render(&set, false);
        render(&set, true);
    }
    tb_chat_template_set_release(&set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[600], kwargs[TEXT_MAX], special[TEXT_MAX];
    char first[512], second[512];
    struct tb_chat_template_overrides overrides = {0};
    (void)snprintf(path, sizeof(path), "%s", fuzz_path("kimi.tiktoken"));
    (void)fuzz_put("tokenizer_config.json", fuzz_take_file(&data, &size));
    struct tb_span template_file = fuzz_take_file(&data, &size);
    (void)fuzz_put("chat_template.jinja", template_file);
    (void)fuzz_put("chat_template.json", fuzz_take_file(&data, &size));
    overrides.kwargs = copy_text(kwargs, fuzz_take_file(&data, &size));
    overrides.special = copy_text(special, fuzz_take_file(&data, &size));
    check_set(path, &overrides, template_file, first);
    check_set(path, &overrides, template_file, second);
    FUZZ_CHECK(strcmp(first, second) == 0);
    check_tokenizer(path);
    return 0;
}
