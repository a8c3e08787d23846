/* How long the tokenizer alone takes: reads a file, encodes it as one text
 * with an encoder whose caches are empty, and tells the seconds. Further rounds
 * show warm caches. The ids go to a file when one is named.
 *
 *     bench_tokenize TOKENIZER FILE [ROUNDS [IDS]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "hash.h"
#include "input.h"
#include "tokenizer.h"

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static tb_status run(struct tb_encoder *encoder, struct tb_span text,
                     struct tb_tokens *tokens)
{
    tokens->count = 0;
    double wall = seconds(CLOCK_MONOTONIC);
    double cpu = seconds(CLOCK_THREAD_CPUTIME_ID);
    TB_TRY(tb_encoder_encode(encoder, text, tokens));
    wall = seconds(CLOCK_MONOTONIC) - wall;
    cpu = seconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
    struct tb_span ids = {(const uint8_t *)tokens->ids,
                          tokens->count * sizeof(*tokens->ids)};
    printf("{\"seconds\": %.6f, \"cpu\": %.6f, \"ids\": %zu, "
           "\"hash\": \"%016llx\"}\n",
           wall, cpu, tokens->count, (unsigned long long)tb_hash64(ids, 0));
    return TB_OK;
}

static tb_status write_ids(const char *path, const struct tb_tokens *tokens)
{
    FILE *file = fopen(path, "wb");
    size_t written = 0;
    if (!file)
        return TB_ERR_IO;
    if (tokens->count)
        written =
            fwrite(tokens->ids, sizeof(*tokens->ids), tokens->count, file);
    return fclose(file) == 0 && written == tokens->count ? TB_OK : TB_ERR_IO;
}

static tb_status bench(const char *name, const char *path, int rounds,
                       const char *ids_path, struct tb_error *error)
{
    struct tb_buffer text = TB_BUFFER((size_t)1 << 32);
    struct tb_tokenizer *tokenizer = NULL;
    struct tb_encoder *encoder = NULL;
    struct tb_tokens tokens = {0};
    tb_status status = tb_input_read_all(path, &text, error);
    if (status == TB_OK)
        status = tb_tokenizer_open(name, &tokenizer, error);
    if (status == TB_OK)
        status = tb_encoder_new(tokenizer, &encoder);
    for (int i = 0; i < rounds && status == TB_OK; i++)
        status = run(encoder, tb_buffer_span(&text), &tokens);
    if (status == TB_OK && ids_path)
        status = write_ids(ids_path, &tokens);
    tb_encoder_free(encoder);
    tb_tokenizer_free(tokenizer);
    tb_tokens_release(&tokens);
    tb_buffer_release(&text);
    return status;
}

int main(int count, char **arguments)
{
    struct tb_error error = {0};
    if (count < 3)
        return 2;
    int rounds = count > 3 ? (int)strtol(arguments[3], NULL, 10) : 1;
    tb_status status = bench(arguments[1], arguments[2], rounds,
                             count > 4 ? arguments[4] : NULL, &error);
    if (status != TB_OK)
        (void)fprintf(stderr, "%s: %s\n", tb_status_name(status),
                      error.message);
    return status == TB_OK ? 0 : 1;
}
