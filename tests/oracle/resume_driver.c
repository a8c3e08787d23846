/* Holds ids that a prompt cache takes over to ids from scratch, for real
 * tokenizers: `resume_driver [--quick] FOLDER...` opens each FOLDER's
 * tokenizer.json.
 *
 * Random texts of what tokenizers look at across borders: spaces, newlines,
 * apostrophes, capitals, marks, CJK, digits, pieces of added tokens. Two
 * claims are tried: a text that is cut at any place that tb_safe_cut_after
 * gives has the ids of its parts; and a text that is edited anywhere has, with
 * the cache, the ids that it has without. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prompt_cache.h"
#include "safe_cut.h"

enum { CUT_TRIALS = 60000, EDIT_TRIALS = 600, EDITS = 4, QUICK = 10 };

struct trial {
    struct tb_encoder *encoder;
    struct tb_encoder *plain;
    struct tb_prompt_cache *cache;
    uint64_t seed;
    unsigned long cut_count, edit_count, reused_count;
};

static void fail(const char *what, struct tb_span text)
{
    fprintf(stderr, "%s, for the text (in C's spelling):\n\"", what);
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < ' ' || text.ptr[i] > '~' || text.ptr[i] == '"')
            fprintf(stderr, "\\%03o", text.ptr[i]);
        else
            fputc(text.ptr[i], stderr);
    }
    fprintf(stderr, "\"\n");
    exit(1);
}

static void must(tb_status status)
{
    if (status != TB_OK) {
        fprintf(stderr, "failed: %s\n", tb_status_name(status));
        exit(1);
    }
}

static size_t random_below(struct trial *trial, size_t limit)
{
    trial->seed ^= trial->seed << 13;
    trial->seed ^= trial->seed >> 7;
    trial->seed ^= trial->seed << 17;
    return (size_t)(trial->seed >> 8) % limit;
}

static void append_fragments(struct trial *trial, struct tb_buffer *text,
                             size_t count)
{
    static const char *const fragments[] = {
        /* what can be cut, so that there are cuts in all surroundings */
        "a b", ". c", "; d", ", e", ") f", "1 g", "Z h", "x to", "9 the", " i",
        " we", " and so on", " of it", "s", "t", "re", "ll",
        /* spaces and line ends */
        " ", " ", "  ", "   ", "\t", "\n", "\n\n", "\r\n", " \n", "\n ",
        "\xC2\xA0", "\xE3\x80\x80", "\xE2\x80\xA8", "\xE2\x96\x81",
        /* apostrophes and contractions */
        "'", "'s", "'S", "'re", "'LL", "don't", "CAN'T", "\xE2\x80\x99",
        "'\xC5\xBF",
        /* capitals, digits, marks */
        "A", "HTTP", "GetIt", "aB", "\xC3\x89", "\xC7\x85", "0", "12", "345",
        "1234567", "\xD9\xA3", "\xCC\x81", "\xCC\x88", "e\xCC\x81",
        "\xE0\xA4\x95\xE0\xA5\x8D\xE0\xA4\xB7", "\xEA\xB0\x80", "\xE1\x84\x80",
        "\xE1\x85\xA1", "\xEF\xAC\x81",
        /* CJK, emoji, punctuation */
        "\xE6\x9D\xB1", "\xE4\xBA\xAC", "\xE3\x81\x82", "\xE3\x82\xA2",
        "\xE3\x80\x82", "\xF0\x9F\x98\x80", "\xE2\x80\x8D", "/", "//", "...",
        "!", "?", "(", ")", "{\"", "\":", "_", "-", "=", "==", "#", "\\n",
        /* added tokens and their pieces */
        "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|eot_id|>",
        "<|begin_of_text|>", "<start_of_turn>", "<end_of_turn>", "<s>", "</s>",
        "<bos>", "<eos>", "[INST]", "<think>", "</think>", "<tool_call>",
        "\xEF\xBD\x9C", "<\xEF\xBD\x9CUser\xEF\xBD\x9C>", "<|", "|>", "<", ">",
        "<|channel|>", "<|return|>", "<0x0A>", "<unk>", "META", "EOT"};
    enum { FRAGMENT_COUNT = sizeof(fragments) / sizeof(fragments[0]) };
    for (size_t i = 0; i < count; i++) {
        const char *one = fragments[random_below(trial, FRAGMENT_COUNT)];
        must(tb_buffer_append(text, tb_span_of(one)));
    }
}

static bool is_equal(const tb_token *ids, size_t count,
                     const struct tb_tokens *wanted)
{
    return count == wanted->count &&
           (count == 0 || memcmp(ids, wanted->ids, count * sizeof(*ids)) == 0);
}

static void try_cuts(struct trial *trial, struct tb_buffer *text,
                     struct tb_tokens *wanted, struct tb_tokens *parts)
{
    tb_buffer_clear(text);
    append_fragments(trial, text, 2 + random_below(trial, 12));
    struct tb_span whole = tb_buffer_span(text);
    wanted->count = 0;
    must(tb_encoder_encode(trial->plain, whole, wanted));
    for (size_t at = tb_safe_cut_after(whole, 0); at < whole.len;
         at = tb_safe_cut_after(whole, at)) {
        struct tb_span front = {whole.ptr, at};
        parts->count = 0;
        must(tb_encoder_encode(trial->encoder, front, parts));
        must(tb_encoder_encode_rest(trial->encoder, tb_span_from(whole, at),
                                    parts));
        if (!is_equal(parts->ids, parts->count, wanted))
            fail("a safe cut changes the ids", whole);
        trial->cut_count++;
    }
}

// A place between characters.
static size_t random_place(struct trial *trial, struct tb_span text)
{
    size_t at = random_below(trial, text.len + 1);
    while (at < text.len && (text.ptr[at] & 0xC0) == 0x80)
        at++;
    return at;
}

static void try_prompt(struct trial *trial, struct tb_span text,
                       struct tb_tokens *wanted)
{
    struct tb_prompt_tokens got;
    wanted->count = 0;
    must(tb_encoder_encode(trial->plain, text, wanted));
    must(tb_prompt_cache_encode(trial->cache, text, trial->edit_count++, &got));
    if (!is_equal(got.ids, got.count, wanted))
        fail("a prompt's ids differ from those without the cache", text);
    trial->reused_count += got.shared_count;
}

static void try_edits(struct trial *trial, struct tb_buffer *text,
                      struct tb_buffer *edited, struct tb_tokens *wanted)
{
    tb_buffer_clear(text);
    append_fragments(trial, text, 100 + random_below(trial, 300));
    struct tb_span base = tb_buffer_span(text);
    try_prompt(trial, base, wanted);
    for (int i = 0; i < EDITS; i++) {
        size_t at = random_place(trial, base), on = random_place(trial, base);
        tb_buffer_clear(edited);
        must(tb_buffer_append(edited, (struct tb_span){base.ptr, at}));
        append_fragments(trial, edited, random_below(trial, 4));
        if (on > at && random_below(trial, 2))
            must(tb_buffer_append(edited, tb_span_from(base, on)));
        try_prompt(trial, tb_buffer_span(edited), wanted);
    }
}

static void run_trials(struct trial *trial, bool can_cut, int divisor)
{
    struct tb_buffer text = TB_BUFFER(1 << 24), edited = TB_BUFFER(1 << 24);
    struct tb_tokens wanted = {0}, parts = {0};
    for (int i = 0; i < CUT_TRIALS / divisor && can_cut; i++)
        try_cuts(trial, &text, &wanted, &parts);
    for (int i = 0; i < EDIT_TRIALS / divisor / (can_cut ? 1 : 10); i++)
        try_edits(trial, &text, &edited, &wanted);
    tb_buffer_release(&text);
    tb_buffer_release(&edited);
    tb_tokens_release(&wanted);
    tb_tokens_release(&parts);
}

static bool try_tokenizer(const char *name, int divisor)
{
    struct trial trial = {.seed = 88172645463325252u};
    struct tb_tokenizer *tokenizer;
    struct tb_error error = {0};
    if (tb_tokenizer_open(name, &tokenizer, &error) != TB_OK) {
        char text[1024];
        tb_error_format(&error, text, sizeof(text));
        fprintf(stderr, "%s\n", text);
        exit(1);
    }
    must(tb_encoder_new(tokenizer, &trial.encoder));
    must(tb_encoder_new(tokenizer, &trial.plain));
    must(tb_prompt_cache_new(trial.encoder, true, &trial.cache));
    bool can_cut = tb_encoder_can_cut(trial.encoder);
    run_trials(&trial, can_cut, divisor);
    printf("%s: %s, %lu cuts, %lu prompts, %lu ids taken over\n", name,
           can_cut ? "can be cut" : "is encoded whole", trial.cut_count,
           trial.edit_count, trial.reused_count);
    tb_prompt_cache_free(trial.cache);
    tb_encoder_free(trial.encoder);
    tb_encoder_free(trial.plain);
    tb_tokenizer_free(tokenizer);
    return can_cut && trial.cut_count > 0 && trial.reused_count > 0;
}

int main(int argc, char **argv)
{
    bool is_quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    int cut_count = 0, first = is_quick ? 2 : 1;
    for (int i = first; i < argc; i++)
        cut_count += try_tokenizer(argv[i], is_quick ? QUICK : 1);
    printf("equal: %d tokenizers, %d of them cut\n", argc - first, cut_count);
    return cut_count > 0 ? 0 : 1;
}
