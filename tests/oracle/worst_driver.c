/* Encodes the texts that are the worst for tokenizers, on a stack of 256 KB:
 * `worst_driver TOKENIZER LENGTH...` takes each text in each length, in bytes,
 * and prints for each its name, the length and two process ids. The second is
 * that of a process that encoded the text, the first that of one in the same
 * state that did not: worst_check.py subtracts what they took. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tokenizer.h"

enum { STACK_LEN = 256 << 10, TEXT_MAX_LEN = 1 << 24 };

static const struct {
    const char *name, *piece;
} texts[] = {
    {"letters", "a"},
    {"dots", "."},
    {"spaces", " "},
    {"newlines", "\n"},
    {"quotes", "'"},
    {"ideographs", "\xE4\xB8\xAD"},
    {"accents", "e\xCC\x81"},
    {"marks", "\xCC\x81\xCC\xA3"}, // out of order: a normal form sorts them
    {"clusters", "\xE0\xA4\x95\xE0\xA5\x8D"},
    {"spaced", " \n"},
    {"escaped", "\xE2\x96\x81"},
    {"signs", "<|"},
    {"words", "aB1' "},
    {"noise", NULL}, // letters at random
};

struct job {
    char **arguments;
    int count;
};

static void must(tb_status status, const struct tb_error *error)
{
    char text[1024] = "";
    if (status == TB_OK)
        return;
    if (error)
        tb_error_format(error, text, sizeof(text));
    fprintf(stderr, "failed: %s %s\n", tb_status_name(status), text);
    exit(1);
}

static void make_text(struct tb_buffer *text, const char *piece, size_t len)
{
    uint32_t seed = 1;
    char letter[2] = "";
    tb_buffer_clear(text);
    do {
        seed = seed * 1664525 + 1013904223;
        letter[0] = (char)('a' + (seed >> 16) % 26);
        must(tb_buffer_append(text, tb_span_of(piece ? piece : letter)), NULL);
    } while (text->len < len);
}

// Encodes the text, or nothing; ends as a process does, with its counts told.
_Noreturn static void work(struct tb_encoder *encoder, const struct tb_buffer *text,
                           bool does_encode)
{
    struct tb_tokens tokens = {0};
    if (does_encode)
        must(tb_encoder_encode(encoder, tb_buffer_span(text), &tokens), NULL);
    exit(0);
}

// The id of a process of its own that does it, and did.
static long work_apart(struct tb_encoder *encoder, const struct tb_buffer *text,
                       bool does_encode)
{
    int status = 0;
    pid_t process = fork();
    if (process == 0)
        work(encoder, text, does_encode);
    if (process < 0 || waitpid(process, &status, 0) != process || status != 0) {
        fprintf(stderr, "failed: status %d of a process\n", status);
        exit(1);
    }
    return process;
}

// A fresh encoder for each text: none finds what another left in the cache.
static void encode_fresh(const struct tb_tokenizer *tokenizer, size_t number,
                         size_t len)
{
    struct tb_encoder *encoder;
    struct tb_buffer text = TB_BUFFER(TEXT_MAX_LEN);
    long without, with;
    make_text(&text, texts[number].piece, len);
    must(tb_encoder_new(tokenizer, &encoder), NULL);
    (void)fflush(stdout);
    without = work_apart(encoder, &text, false);
    with = work_apart(encoder, &text, true);
    printf("%s %zu %ld %ld\n", texts[number].name, len, without, with);
    tb_encoder_free(encoder);
    tb_buffer_release(&text);
}

static void *encode_all(void *context)
{
    const struct job *job = context;
    struct tb_tokenizer *tokenizer;
    struct tb_error error = {0};
    must(tb_tokenizer_open(job->arguments[1], &tokenizer, &error), &error);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        for (int k = 2; k < job->count; k++)
            encode_fresh(tokenizer, i, strtoul(job->arguments[k], NULL, 10));
    tb_tokenizer_free(tokenizer);
    return NULL;
}

int main(int argc, char **argv)
{
    struct job job = {argv, argc};
    pthread_attr_t attributes;
    pthread_t thread;
    if (argc < 3 || pthread_attr_init(&attributes) != 0 ||
        pthread_attr_setstacksize(&attributes, STACK_LEN) != 0 ||
        pthread_create(&thread, &attributes, encode_all, &job) != 0 ||
        pthread_join(thread, NULL) != 0)
        return 1;
    (void)pthread_attr_destroy(&attributes);
    return 0;
}
