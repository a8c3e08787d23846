/* tracebake tokenizer clear: gives back the room of compiled forms. */
#include <stdio.h>

#include "command.h"
#include "compiled_cache.h"
#include "message.h"
#include "path.h"
#include "tokenizer.h"

enum { TEXT_MAX = 1 << 12 };

struct arguments {
    struct tb_text_list names;
    bool is_help;
};

static const struct tb_option options[] = {
    {"Options", "help", TB_OPTION_FLAG, NULL, NULL, "Show this page.",
     offsetof(struct arguments, is_help), 0, 0},
};

static const struct tb_option_table table = {
    .command = "tokenizer clear",
    .purpose = "remove compiled forms of tokenizers",
    .usage = "tokenizer clear [NAME]",
    .description =
        "Removes the compiled form of NAME, or all of them, and says how much "
        "room that gave. The next start with such a tokenizer reads its file "
        "and compiles it again. What is in the Hugging Face cache stays: 'hf "
        "cache' and 'rm' are for that.\n",
    .examples = "  tracebake tokenizer clear\n",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .operands = offsetof(struct arguments, names),
    .operands_max = 1,
};

static int tell(const struct tb_compiled_sum *removed)
{
    struct tb_buffer text = TB_BUFFER(TEXT_MAX);
    tb_status status = tb_buffer_printf(
        &text, "%llu compiled form%s removed, %llu bytes free\n",
        (unsigned long long)removed->count, removed->count == 1 ? "" : "s",
        (unsigned long long)removed->bytes);
    int result = tb_message_document(&text, status);
    tb_buffer_release(&text);
    return result;
}

static int clear(const void *typed)
{
    const struct arguments *arguments = typed;
    struct tb_compiled_sum removed = {0};
    struct tb_error error = {0};
    char path[TB_PATH_SIZE];
    bool is_one = arguments->names.count > 0;
    tb_status status = TB_OK;
    if (is_one) // what is not here has no compiled form to be fetched for
        status = tb_tokenizer_locate(arguments->names.items[0], NULL, path,
                                     sizeof(path), &error);
    if (status == TB_OK)
        status =
            tb_compiled_cache_clear(is_one ? path : NULL, &removed, &error);
    if (status == TB_OK || removed.count > 0) {
        int result = tell(&removed);
        if (status == TB_OK)
            return result;
    }
    tb_message_error(&error);
    return TB_EXIT_FAILED;
}

int tb_command_tokenizer_clear(int argc, char *const *argv)
{
    struct arguments arguments = {0};
    return tb_command_run(&table, argc, argv, &arguments, NULL, clear);
}
