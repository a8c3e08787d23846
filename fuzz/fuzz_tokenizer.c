#include "fuzz_tokenizer.h"

#include <string.h>

#include "safe_cut.h"
#include "utf8.h"

static void check_encoder(const struct tb_tokenizer *tokenizer,
                          struct tb_encoder *encoder)
{
    struct tb_span text = TB_SPAN(
        "ab abc, a b  c's don'T \n\n\t ab<s> 12345; x) y <|a b|> caf\xC3\xA9 "
        "e\xCC\x81 \xE6\x9D\xB1\xE4\xBA\xAC. and \xF0\x9F\x98\x80 so on");
    struct tb_tokens whole = {0}, parts = {0};
    tb_status status = tb_encoder_encode(encoder, text, &whole);
    // A model without an unknown token, a regex that never ends.
    FUZZ_CHECK(status == TB_OK || status == TB_ERR_VALUE ||
               status == TB_ERR_LIMIT);
    for (size_t i = 0; i < whole.count; i++)
        FUZZ_CHECK(whole.ids[i] < tb_tokenizer_vocab_size(tokenizer));
    bool can_cut = status == TB_OK && tb_encoder_can_cut(encoder);
    for (size_t at = tb_safe_cut_after(text, 0); at < text.len && can_cut;
         at = tb_safe_cut_after(text, at)) {
        struct tb_span front = {text.ptr, at}, rest = tb_span_from(text, at);
        parts.count = 0;
        FUZZ_CHECK(tb_encoder_encode(encoder, front, &parts) == TB_OK);
        FUZZ_CHECK(tb_encoder_encode_rest(encoder, rest, &parts) == TB_OK);
        FUZZ_CHECK(parts.count == whole.count);
        FUZZ_CHECK(whole.count == 0 ||
                   memcmp(parts.ids, whole.ids,
                          whole.count * sizeof(*whole.ids)) == 0);
    }
    tb_tokens_release(&whole);
    tb_tokens_release(&parts);
}

static void check_decoder(const struct tb_tokenizer *tokenizer)
{
    struct tb_decode_work *work;
    struct tb_span text;
    tb_token ids[256];
    uint32_t size = tb_tokenizer_vocab_size(tokenizer);
    for (uint32_t i = 0; i < 256; i++)
        ids[i] = i < 128 || size < 256 ? i : size - (256 - i);
    FUZZ_CHECK(tb_decode_work_new(&work) == TB_OK);
    tb_status status =
        tb_tokenizer_decode(tokenizer, work, ids, 256, 0, &text, NULL);
    // A decoder that is not built; one that makes too much.
    FUZZ_CHECK(status == TB_OK || status == TB_ERR_UNSUPPORTED ||
               status == TB_ERR_LIMIT);
    FUZZ_CHECK(status != TB_OK || tb_utf8_valid_len(text) == text.len);
    tb_decode_work_free(work);
}

void fuzz_tokenizer(tb_status status, const struct tb_error *error,
                    struct tb_tokenizer *tokenizer)
{
    struct tb_encoder *encoder;
    FUZZ_CHECK(status == TB_OK ||
               (error->status == status && error->message[0]));
    if (status != TB_OK)
        return;
    FUZZ_CHECK(tb_encoder_new(tokenizer, &encoder) == TB_OK);
    check_encoder(tokenizer, encoder);
    tb_encoder_free(encoder);
    check_decoder(tokenizer);
    tb_tokenizer_free(tokenizer);
}
