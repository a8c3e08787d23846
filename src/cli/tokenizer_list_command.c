/* tracebake tokenizer list: which tokenizers are on this machine, and how much
 * room they take. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "compiled_cache.h"
#include "hub_cache.h"
#include "hub_settings.h"
#include "json_form.h"
#include "message.h"
#include "tokenizer.h"

enum { TEXT_MAX = 1 << 24, SHORT_COMMIT = 7 };

struct arguments {
    struct tb_text_list operands;
    bool is_json, is_help;
};

static const struct tb_option options[] = {
    {"Options", "json", TB_OPTION_FLAG, NULL, NULL,
     "One JSON object on one line instead of text.",
     offsetof(struct arguments, is_json), 0, 0},
    {NULL, "help", TB_OPTION_FLAG, NULL, NULL, "Show this page.",
     offsetof(struct arguments, is_help), 0, 0},
};

static const struct tb_option_table table = {
    .command = "tokenizer list",
    .purpose = "list the tokenizers on this machine",
    .usage = "tokenizer list [--json]",
    .description =
        "Lists the tokenizers in the Hugging Face cache: each commit of a "
        "model that has one, the branches and tags that lead to it, the size "
        "of the tokenizer's file, and that of its compiled form, from which "
        "the program starts at once. Then all compiled forms together: those "
        "of files elsewhere and of 'builtin' are among them.\n",
    .examples = "  tracebake tokenizer list\n",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .operands = offsetof(struct arguments, operands),
    .operands_max = 0,
};

struct listing {
    struct tb_buffer text;
    struct tb_json_form form; /* with --json */
    bool is_json;
    tb_status status;
    uint64_t count;
};

static void add_json(struct listing *listing, const struct tb_hub_place *place,
                     const char *refs)
{
    struct tb_json_form *form = &listing->form;
    tb_json_form_open(form, NULL, '{');
    tb_json_form_text(form, "model", tb_span_of(place->repo));
    tb_json_form_text(form, "commit", tb_span_of(place->commit));
    tb_json_form_text(form, "revisions", tb_span_of(refs));
    tb_json_form_text(form, "file", tb_span_of(place->path));
    tb_json_form_number(form, "bytes", tb_path_file_len(place->path));
    tb_json_form_number(form, "compiled_bytes",
                        tb_compiled_cache_len(place->path));
    tb_json_form_close(form, '}');
    listing->status = form->status;
}

static void add_line(struct listing *listing, const struct tb_hub_place *place,
                     const char *refs)
{
    const char *file = strrchr(place->path, '/') + 1;
    uint64_t compiled = tb_compiled_cache_len(place->path);
    char form[32] = "not compiled yet";
    if (compiled)
        (void)snprintf(form, sizeof(form), "compiled %.1f MB",
                       (double)compiled / 1e6);
    listing->status = tb_buffer_printf(
        &listing->text, "  %-44s %.*s  %-16s %6.1f MB  %s%s%s\n", place->repo,
        SHORT_COMMIT, place->commit, file,
        (double)tb_path_file_len(place->path) / 1e6, form, *refs ? "  @" : "",
        refs);
}

static bool add(void *context, const struct tb_hub_place *place,
                const char *refs)
{
    struct listing *listing = context;
    listing->count++;
    if (listing->is_json)
        add_json(listing, place, refs);
    else
        add_line(listing, place, refs);
    return listing->status == TB_OK;
}

static tb_status list_json(struct listing *listing, const char *cache,
                           const char *compiled)
{
    struct tb_compiled_sum sum;
    struct tb_json_form *form = &listing->form;
    *form = tb_json_form_on(&listing->text, false);
    tb_json_form_open(form, NULL, '{');
    tb_json_form_text(form, "hub_cache", tb_span_of(cache));
    tb_json_form_open(form, "tokenizers", '[');
    TB_TRY(tb_hub_cache_list(tb_tokenizer_files(), add, listing));
    tb_json_form_close(form, ']');
    TB_TRY(tb_compiled_cache_sum(&sum));
    tb_json_form_text(form, "compiled_cache", tb_span_of(compiled));
    tb_json_form_number(form, "compiled_count", sum.count);
    tb_json_form_number(form, "compiled_bytes", sum.bytes);
    tb_json_form_close(form, '}');
    return form->status;
}

static tb_status list_text(struct listing *listing, const char *cache,
                           const char *compiled)
{
    struct tb_compiled_sum sum;
    struct tb_buffer *text = &listing->text;
    TB_TRY(tb_buffer_printf(text, "Hugging Face cache: %s\n", cache));
    TB_TRY(tb_hub_cache_list(tb_tokenizer_files(), add, listing));
    TB_TRY(listing->status);
    if (listing->count == 0)
        TB_TRY(tb_buffer_printf(text, "  no tokenizers\n"));
    TB_TRY(tb_compiled_cache_sum(&sum));
    return tb_buffer_printf(text,
                            "Compiled forms: %s\n"
                            "  %llu, %.1f MB\n",
                            compiled, (unsigned long long)sum.count,
                            (double)sum.bytes / 1e6);
}

static int list(const void *typed)
{
    const struct arguments *arguments = typed;
    struct listing listing = {.text = TB_BUFFER(TEXT_MAX),
                              .is_json = arguments->is_json};
    char cache[TB_PATH_SIZE] = "", compiled[TB_PATH_SIZE] = "";
    bool is_json = arguments->is_json;
    if (!tb_hub_cache_folder(cache, sizeof(cache)))
        (void)tb_path_format(cache, sizeof(cache), is_json ? "" : "none");
    if (!tb_compiled_cache_folder(compiled, sizeof(compiled)))
        (void)tb_path_format(compiled, sizeof(compiled), is_json ? "" : "none");
    tb_status status = is_json ? list_json(&listing, cache, compiled)
                               : list_text(&listing, cache, compiled);
    int result = tb_message_document(&listing.text, status);
    tb_buffer_release(&listing.text);
    return result;
}

int tb_command_tokenizer_list(int argc, char *const *argv)
{
    struct arguments arguments = {0};
    return tb_command_run(&table, argc, argv, &arguments, NULL, list);
}
