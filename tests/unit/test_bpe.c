/* Byte pair encoding against its definition, with merges that no training
 * would give too: those whose result merges before they do. And texts that are
 * the worst for it, on a small stack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "bpe.h"

enum { MERGES = 30, WORD_LEN = 300, WORDS = 30 };

static uint32_t next_random(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

/* Merges among the tokens a, b, c and what comes out. */
struct model {
    struct tb_bpe bpe;
    struct tb_merge merges[MERGES];
    uint32_t count;
};

static bool has_pair(const struct model *model, tb_token left, tb_token right)
{
    for (uint32_t i = 0; i < model->count; i++)
        if (model->merges[i].left == left && model->merges[i].right == right)
            return true;
    return false;
}

static void make_model(uint32_t *seed, bool is_strange, struct model *model)
{
    *model = (struct model){.bpe = {.is_byte_level = true}};
    memset(model->bpe.byte_tokens, 0xFF, sizeof(model->bpe.byte_tokens));
    for (uint8_t i = 0; i < 3; i++)
        model->bpe.byte_tokens['a' + i] = i;
    while (model->count < MERGES) {
        tb_token known = 3 + model->count;
        tb_token left = next_random(seed) % known;
        // Where a token merges with itself, the order of places matters.
        bool is_double = next_random(seed) % 3 == 0;
        tb_token right = is_double ? left : next_random(seed) % known;
        if (!has_pair(model, left, right)) {
            // Several pairs may give one token, as splits of a string do.
            bool is_old = model->count > 0 && next_random(seed) % 3 == 0;
            tb_token id = is_old ? 3 + next_random(seed) % model->count : known;
            uint32_t rank = model->count;
            model->merges[model->count++] =
                (struct tb_merge){left, right, rank, id};
        }
    }
    for (uint32_t i = MERGES - 1; is_strange && i > 0; i--) {
        uint32_t other = next_random(seed) % (i + 1);
        uint32_t rank = model->merges[i].rank;
        model->merges[i].rank = model->merges[other].rank;
        model->merges[other].rank = rank;
    }
    assert_int_equal(tb_bpe_add_merges(&model->bpe, model->merges, MERGES),
                     TB_OK);
}

// The definition, word for word: the lowest rank, the leftmost among equals.
static size_t encode_plainly(const struct model *model, struct tb_span word,
                             tb_token *ids)
{
    size_t count = word.len;
    for (size_t i = 0; i < count; i++)
        ids[i] = (tb_token)(word.ptr[i] - 'a');
    for (;;) {
        const struct tb_merge *best = NULL;
        size_t at = 0;
        for (size_t i = 0; i + 1 < count; i++)
            for (uint32_t k = 0; k < MERGES; k++) {
                const struct tb_merge *merge = &model->merges[k];
                if (merge->left == ids[i] && merge->right == ids[i + 1] &&
                    (!best || merge->rank < best->rank)) {
                    best = merge;
                    at = i;
                }
            }
        if (!best)
            return count;
        ids[at] = best->id;
        memmove(ids + at + 1, ids + at + 2, (count - at - 2) * sizeof(*ids));
        count--;
    }
}

static void compare_words(uint32_t *seed, const struct model *model)
{
    struct tb_bpe_work work = {0};
    struct tb_tokens tokens = {0};
    for (int i = 0; i < WORDS; i++) {
        uint8_t bytes[WORD_LEN];
        tb_token ids[WORD_LEN];
        struct tb_span word = {bytes, 1 + next_random(seed) % WORD_LEN};
        uint32_t letters = 1 + next_random(seed) % 3;
        for (size_t k = 0; k < word.len; k++)
            bytes[k] = (uint8_t)('a' + next_random(seed) % letters);
        size_t count = encode_plainly(model, word, ids);
        tokens.count = 0;
        assert_int_equal(tb_bpe_encode(&model->bpe, &work, word, &tokens),
                         TB_OK);
        assert_int_equal(tokens.count, count);
        assert_memory_equal(tokens.ids, ids, count * sizeof(*ids));
    }
    tb_tokens_release(&tokens);
    tb_bpe_work_release(&work);
}

static void test_definition(void **state)
{
    (void)state;
    uint32_t seed = 1234567u;
    for (int i = 0; i < 200; i++) {
        struct model model;
        make_model(&seed, i % 2 == 1, &model);
        compare_words(&seed, &model);
        tb_bpe_release(&model.bpe);
    }
}

/* ---- texts that are the worst ----------------------------------------------
 */

static const char *const worst[] = {
    "a", ".", " ", "\n", "'", "\xE4\xB8\xAD", "e\xCC\x81", "a'", " \n", "Aa",
};

static void *encode_worst(void *context)
{
    enum { TEXT_LEN = 500000 };
    tb_status *status = context;
    struct tb_tokenizer *tokenizer;
    struct tb_encoder *encoder;
    struct tb_tokens tokens = {0};
    struct tb_buffer text = TB_BUFFER(TEXT_LEN + 8);
    *status = tb_tokenizer_open("builtin", &tokenizer, NULL);
    if (*status != TB_OK)
        return NULL;
    *status = tb_encoder_new(tokenizer, &encoder);
    for (size_t i = 0; i < sizeof(worst) / sizeof(worst[0]); i++) {
        tb_buffer_clear(&text);
        while (text.len < TEXT_LEN && *status == TB_OK)
            *status = tb_buffer_append(&text, tb_span_of(worst[i]));
        if (*status == TB_OK)
            *status =
                tb_encoder_encode(encoder, tb_buffer_span(&text), &tokens);
    }
    tb_buffer_release(&text);
    tb_tokens_release(&tokens);
    tb_encoder_free(encoder);
    tb_tokenizer_free(tokenizer);
    return NULL;
}

static void test_small_stack(void **state)
{
    (void)state;
    pthread_t thread;
    pthread_attr_t attributes;
    tb_status status = TB_ERR_IO;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, 256 << 10), 0);
    assert_int_equal(
        pthread_create(&thread, &attributes, encode_worst, &status), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(status, TB_OK);
    (void)pthread_attr_destroy(&attributes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definition),
        cmocka_unit_test(test_small_stack),
    };
    return cmocka_run_group_tests_name("bpe", tests, NULL, NULL);
}
