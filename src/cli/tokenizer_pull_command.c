/* tracebake tokenizer pull: from the hub into the Hugging Face cache, and
 * compiled, so that the next start needs neither. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "fetch.h"
#include "message.h"
#include "tokenizer.h"

enum { TEXT_MAX = 1 << 16 };

struct arguments {
    struct tb_text_list names;
    bool is_quiet, is_help;
};

static const struct tb_option options[] = {
    {"Options", "quiet", TB_OPTION_FLAG, NULL, NULL,
     "No progress, no summary; only errors.",
     offsetof(struct arguments, is_quiet), 0, 0},
    {NULL, "help", TB_OPTION_FLAG, NULL, NULL, "Show this page.",
     offsetof(struct arguments, is_help), 0, 0},
};

static const struct tb_option_table table = {
    .command = "tokenizer pull",
    .purpose = "fetch a tokenizer from the Hugging Face hub",
    .usage = "tokenizer pull NAME[@REVISION]",
    .description =
        "Asks the hub for NAME at REVISION (a branch, a tag or a commit; "
        "'main' when none is given), fetches what of its tokenizer and chat "
        "template is not in the Hugging Face cache yet, and compiles it. "
        "--tokenizer NAME does the same, but only when nothing is in the "
        "cache: pull is for a machine that will have no network, and for a "
        "branch that has moved.\n\n"
        "Gated and private models need a token: HF_TOKEN, or the file that "
        "'hf auth login' writes.\n",
    .examples = "  tracebake tokenizer pull Qwen/Qwen3-8B\n"
                "  HF_TOKEN=... tracebake tokenizer pull "
                "meta-llama/Llama-3.1-8B-Instruct\n",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .operands = offsetof(struct arguments, names),
    .operands_max = 1,
};

static tb_status fetch(const struct arguments *arguments,
                       struct tb_hub_place *place,
                       struct tb_hub_fetched *fetched, struct tb_error *error)
{
    struct tb_hub_name name;
    const char *text = arguments->names.items[0];
    if (tb_tokenizer_is_builtin(text) || !tb_hub_name_parse(text, &name))
        return tb_fail(error, TB_ERR_USAGE,
                       "'%.200s' is no name on the hub, which is org/model or "
                       "org/model@revision",
                       text);
    struct tb_progress progress = tb_progress_start(arguments->is_quiet);
    struct tb_hub_access access = tb_fetch_access(&progress);
    tb_status status = tb_hub_fetch(&name, tb_tokenizer_files(), &access, place,
                                    fetched, error);
    tb_progress_clear(&progress);
    return status;
}

// A file that cannot be used is told of now, not at the first conversion.
static tb_status compile(const struct tb_hub_place *place,
                         struct tb_error *error)
{
    struct tb_tokenizer *tokenizer;
    TB_TRY(tb_tokenizer_open(place->path, &tokenizer, error));
    tb_tokenizer_free(tokenizer);
    return TB_OK;
}

static int tell(const struct tb_hub_place *place,
                const struct tb_hub_fetched *fetched)
{
    struct tb_buffer text = TB_BUFFER(TEXT_MAX);
    tb_status status = tb_buffer_printf(
        &text, "%s at %s: %u fetched, %.1f MB; %u there already\n%s\n",
        place->repo, place->commit, fetched->file_count,
        (double)fetched->bytes / 1e6, fetched->kept_count, place->path);
    int result = tb_message_document(&text, status);
    tb_buffer_release(&text);
    return result;
}

static int pull(const void *typed)
{
    const struct arguments *arguments = typed;
    struct tb_hub_place place;
    struct tb_hub_fetched fetched = {0};
    struct tb_error error = {0};
    tb_status status = fetch(arguments, &place, &fetched, &error);
    if (status == TB_ERR_USAGE)
        return tb_message_usage(&error, table.command);
    if (status == TB_OK)
        status = compile(&place, &error);
    if (status == TB_OK)
        return arguments->is_quiet ? TB_EXIT_DONE : tell(&place, &fetched);
    tb_message_error(&error);
    return TB_EXIT_FAILED;
}

static tb_status check(const void *typed, struct tb_error *error)
{
    const struct arguments *arguments = typed;
    if (arguments->names.count == 0)
        return tb_fail(error, TB_ERR_USAGE,
                       "no name given: tokenizer pull org/model");
    return TB_OK;
}

int tb_command_tokenizer_pull(int argc, char *const *argv)
{
    struct arguments arguments = {0};
    return tb_command_run(&table, argc, argv, &arguments, check, pull);
}
