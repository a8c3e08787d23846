/* Ids to text by the library, for decode_oracle.py:
 *
 *     decode_driver TOKENIZER
 *
 * A line "FLAGS ID ID ..." in, the text in hex out; "! message" when it cannot
 * be decoded. Sees tracebake.h alone, as whoever uses the library. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracebake.h"

enum { MAX_IDS = 1 << 16, MAX_TEXT = 1 << 22 };

static tb_token ids[MAX_IDS];
static char text[MAX_TEXT];

// The numbers up to the end of the line; false: there is no line.
static bool read_line(unsigned *flags, size_t *count)
{
    unsigned number;
    *count = 0;
    if (scanf("%u", flags) != 1)
        return false;
    while (getchar() == ' ' && *count < MAX_IDS && scanf("%u", &number) == 1)
        ids[(*count)++] = number;
    return true;
}

static void print_text(struct tb_codec *codec, unsigned flags, size_t count)
{
    struct tb_error error;
    size_t len;
    if (tb_codec_decode(codec, ids, count, flags, text, MAX_TEXT, &len,
                        &error) != TB_OK) {
        printf("! %s\n", error.message);
        return;
    }
    for (size_t i = 0; i < len; i++)
        printf("%02x", (unsigned char)text[i]);
    putchar('\n');
}

int main(int argc, char **argv)
{
    struct tb_tokenizer *tokenizer = NULL;
    struct tb_codec *codec = NULL;
    struct tb_error error;
    unsigned flags;
    size_t count;
    if (argc != 2 ||
        tb_tokenizer_load(argv[1], NULL, &tokenizer, &error) != TB_OK ||
        tb_codec_new(tokenizer, &codec, &error) != TB_OK) {
        if (argc == 2)
            fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    while (read_line(&flags, &count))
        print_text(codec, flags, count);
    tb_codec_free(codec);
    tb_tokenizer_free(tokenizer);
    return 0;
}
