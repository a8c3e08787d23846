/* tracebake tokenizer show: what a tokenizer consists of, where it is, and
 * whether a chat template lies beside it. */
#include <stdio.h>
#include <string.h>

#include "chat_template_file.h"
#include "command.h"
#include "compiled_cache.h"
#include "describe.h"
#include "fetch.h"
#include "hub_name.h"
#include "json_form.h"
#include "message.h"
#include "path.h"
#include "tokenizer.h"

enum { TEXT_MAX = 1 << 24, LABEL_WIDTH = 15 };

struct arguments {
    struct tb_text_list names;
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
    .command = "tokenizer show",
    .purpose = "say what a tokenizer consists of",
    .usage = "tokenizer show NAME [--json]",
    .description =
        "NAME is what --tokenizer takes: a tokenizer.json, tekken.json, "
        "tokenizer.model or *.tiktoken, a folder with one, "
        "'builtin' (o200k_base), or a model on the Hugging Face hub. Says "
        "where "
        "the file is; its fingerprint, which the meta file of a conversion has "
        "too; the model and how many ids it has; the normalizer; by which "
        "patterns text is cut into words, and whether each runs on a scanner "
        "of this program or on Oniguruma, which is slower; and whether a chat "
        "template lies beside it, without which messages are joined.\n",
    .examples = "  tracebake tokenizer show builtin\n"
                "  tracebake tokenizer show Qwen/Qwen3-8B --json\n",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .operands = offsetof(struct arguments, names),
    .operands_max = 1,
};

struct subject {
    const char *name;
    char path[TB_PATH_SIZE]; /* or the name of the built-in one */
    char commit[64];         /* "": no file of the cache */
    bool is_builtin;
    struct tb_tokenizer *tokenizer;
    struct tb_chat_template_file file;
};

/* ---- looking ---------------------------------------------------------- */

// The commit is a part of the path in the cache.
static void set_commit(struct subject *subject)
{
    static const char before[] = "/snapshots/";
    const char *at = strstr(subject->path, before);
    if (!at)
        return;
    struct tb_span commit = tb_span_of(at + strlen(before));
    commit.len = strcspn((const char *)commit.ptr, "/");
    if (tb_hub_is_commit(commit))
        (void)snprintf(subject->commit, sizeof(subject->commit), "%.*s",
                       (int)commit.len, (const char *)commit.ptr);
}

static tb_status look(struct subject *subject, struct tb_error *error)
{
    TB_TRY(tb_fetch_locate(subject->name, false, subject->path,
                           sizeof(subject->path), error));
    subject->is_builtin = tb_tokenizer_is_builtin(subject->path);
    TB_TRY(tb_tokenizer_open(subject->path, &subject->tokenizer, error));
    if (subject->is_builtin)
        return TB_OK;
    set_commit(subject);
    return tb_chat_template_file_read(subject->path, &subject->file, error);
}

static bool has_template(const struct subject *subject)
{
    return subject->file.source.ptr || subject->file.tool_source.ptr;
}

static bool has_tools(const struct subject *subject)
{
    return subject->file.tool_source.ptr ||
           tb_span_contains(subject->file.source, TB_SPAN("tools"));
}

/* ---- as JSON ---------------------------------------------------------- */

static void put_parts(struct tb_json_form *form, const char *key,
                      const struct tb_tokenizer_parts *parts)
{
    tb_json_form_open(form, key, '[');
    for (size_t i = 0; i < parts->count; i++) {
        const struct tb_tokenizer_part *part = &parts->items[i];
        tb_json_form_open(form, NULL, '{');
        tb_json_form_text(form, "name", tb_span_of(part->name));
        if (part->text.len > 0)
            tb_json_form_text(form, part->engine ? "pattern" : "text",
                              part->text);
        if (part->into.ptr)
            tb_json_form_text(form, "into", part->into);
        if (part->engine)
            tb_json_form_text(form, "engine", tb_span_of(part->engine));
        tb_json_form_close(form, '}');
    }
    tb_json_form_close(form, ']');
}

static tb_status show_json(const struct subject *subject,
                           struct tb_buffer *text)
{
    const struct tb_tokenizer *tokenizer = subject->tokenizer;
    struct tb_tokenizer_parts normalizers = tb_describe_normalizers(tokenizer);
    struct tb_tokenizer_parts cuts = tb_describe_pretokenizers(tokenizer);
    struct tb_json_form form = tb_json_form_on(text, false);
    tb_json_form_open(&form, NULL, '{');
    tb_json_form_text(&form, "name", tb_span_of(subject->name));
    tb_json_form_text(
        &form, "origin",
        tb_span_of(subject->is_builtin ? "built in" : subject->path));
    if (!subject->is_builtin)
        tb_json_form_number(&form, "bytes", tb_path_file_len(subject->path));
    if (subject->commit[0])
        tb_json_form_text(&form, "commit", tb_span_of(subject->commit));
    tb_json_form_text(&form, "fingerprint",
                      tb_span_of(tb_tokenizer_fingerprint(tokenizer)));
    tb_json_form_text(&form, "model", tb_span_of(tb_describe_model(tokenizer)));
    tb_json_form_bool(&form, "is_byte_level",
                      tb_describe_is_byte_level(tokenizer));
    tb_json_form_number(&form, "vocab_size",
                        tb_tokenizer_vocab_size(tokenizer));
    tb_json_form_number(&form, "added_tokens",
                        tb_describe_added_count(tokenizer));
    put_parts(&form, "normalizers", &normalizers);
    put_parts(&form, "pre_tokenizers", &cuts);
    tb_json_form_bool(&form, "has_chat_template", has_template(subject));
    tb_json_form_bool(&form, "chat_template_mentions_tools",
                      has_tools(subject));
    tb_json_form_number(&form, "compiled_bytes",
                        tb_compiled_cache_len(subject->path));
    tb_json_form_close(&form, '}');
    return form.status;
}

/* ---- to read ---------------------------------------------------------- */

static tb_status put_label(struct tb_buffer *text, const char *label)
{
    return tb_buffer_printf(text, "%-*s", LABEL_WIDTH, label);
}

// What would break the line is shown as an escape, in patterns the same.
static tb_status put_escaped(struct tb_buffer *text, struct tb_span shown)
{
    for (size_t i = 0; i < shown.len; i++) {
        uint8_t byte = shown.ptr[i];
        if (byte == '\n' || byte == '\r' || byte == '\t')
            TB_TRY(tb_buffer_printf(text, "\\%c",
                                    byte == '\n'   ? 'n'
                                    : byte == '\r' ? 'r'
                                                   : 't'));
        else
            TB_TRY(tb_buffer_append_byte(text, byte));
    }
    return TB_OK;
}

static tb_status put_quoted(struct tb_buffer *text, struct tb_span shown)
{
    TB_TRY(tb_buffer_append_byte(text, '"'));
    TB_TRY(put_escaped(text, shown));
    return tb_buffer_append_byte(text, '"');
}

static tb_status put_step(struct tb_buffer *text,
                          const struct tb_tokenizer_part *part)
{
    TB_TRY(tb_buffer_printf(text, "%s", part->name));
    if (part->engine)
        TB_TRY(tb_buffer_printf(text, " on %s", part->engine));
    if (part->text.len > 0)
        TB_TRY(tb_buffer_printf(text, ": "));
    if (part->engine)
        TB_TRY(put_escaped(text, part->text));
    else if (part->text.len > 0)
        TB_TRY(put_quoted(text, part->text));
    if (part->into.ptr) {
        TB_TRY(tb_buffer_printf(text, " to "));
        TB_TRY(put_quoted(text, part->into));
    }
    return tb_buffer_append_byte(text, '\n');
}

static tb_status put_steps(struct tb_buffer *text, const char *label,
                           const struct tb_tokenizer_parts *parts)
{
    TB_TRY(put_label(text, label));
    if (parts->count == 0)
        return tb_buffer_printf(text, "none\n");
    for (size_t i = 0; i < parts->count; i++) {
        if (i > 0)
            TB_TRY(put_label(text, ""));
        TB_TRY(put_step(text, &parts->items[i]));
    }
    return TB_OK;
}

static tb_status put_file(const struct subject *subject, struct tb_buffer *text)
{
    if (subject->is_builtin)
        return tb_buffer_printf(text, "%-*sbuilt in: o200k_base\n", LABEL_WIDTH,
                                "file");
    TB_TRY(tb_buffer_printf(text, "%-*s%s, %.1f MB\n", LABEL_WIDTH, "file",
                            subject->path,
                            (double)tb_path_file_len(subject->path) / 1e6));
    if (!subject->commit[0])
        return TB_OK;
    return tb_buffer_printf(text, "%-*s%s\n", LABEL_WIDTH, "commit",
                            subject->commit);
}

static tb_status put_model(const struct tb_tokenizer *tokenizer,
                           struct tb_buffer *text)
{
    size_t added_count = tb_describe_added_count(tokenizer);
    return tb_buffer_printf(text, "%-*s%s%s, %lu ids, %zu added token%s\n",
                            LABEL_WIDTH, "model", tb_describe_model(tokenizer),
                            tb_describe_is_byte_level(tokenizer) ? " on bytes"
                                                                 : "",
                            (unsigned long)tb_tokenizer_vocab_size(tokenizer),
                            added_count, added_count == 1 ? "" : "s");
}

static tb_status show_text(const struct subject *subject,
                           struct tb_buffer *text)
{
    const struct tb_tokenizer *tokenizer = subject->tokenizer;
    struct tb_tokenizer_parts normalizers = tb_describe_normalizers(tokenizer);
    struct tb_tokenizer_parts cuts = tb_describe_pretokenizers(tokenizer);
    uint64_t compiled = tb_compiled_cache_len(subject->path);
    const char *chat = "none: messages are joined";
    if (has_template(subject))
        chat = has_tools(subject) ? "yes, and it speaks of tools"
                                  : "yes, but it does not speak of tools";
    TB_TRY(put_file(subject, text));
    TB_TRY(tb_buffer_printf(text, "%-*s%s\n", LABEL_WIDTH, "fingerprint",
                            tb_tokenizer_fingerprint(tokenizer)));
    TB_TRY(put_model(tokenizer, text));
    TB_TRY(put_steps(text, "normalizer", &normalizers));
    TB_TRY(put_steps(text, "words", &cuts));
    TB_TRY(
        tb_buffer_printf(text, "%-*s%s\n", LABEL_WIDTH, "chat template", chat));
    TB_TRY(put_label(text, "compiled form"));
    return compiled
               ? tb_buffer_printf(text, "%.1f MB\n", (double)compiled / 1e6)
               : tb_buffer_printf(text, "none\n");
}

static int show(const void *typed)
{
    const struct arguments *arguments = typed;
    struct subject subject = {.name = arguments->names.items[0]};
    struct tb_buffer text = TB_BUFFER(TEXT_MAX);
    struct tb_error error = {0};
    tb_status status = look(&subject, &error);
    int result = TB_EXIT_FAILED;
    if (status == TB_OK) {
        status = arguments->is_json ? show_json(&subject, &text)
                                    : show_text(&subject, &text);
        result = tb_message_document(&text, status);
    } else {
        tb_message_error(&error);
    }
    tb_buffer_release(&text);
    tb_chat_template_file_release(&subject.file);
    tb_tokenizer_free(subject.tokenizer);
    return result;
}

static tb_status check(const void *typed, struct tb_error *error)
{
    const struct arguments *arguments = typed;
    if (arguments->names.count == 0)
        return tb_fail(error, TB_ERR_USAGE,
                       "no name given: tokenizer show org/model");
    return TB_OK;
}

int tb_command_tokenizer_show(int argc, char *const *argv)
{
    struct arguments arguments = {0};
    return tb_command_run(&table, argc, argv, &arguments, check, show);
}
