#include "model.h"

#include "tokenizer_model.h"

void tb_model_work_init(struct tb_model_work *work)
{
    *work = (struct tb_model_work){.text = TB_BUFFER(UINT32_MAX)};
}

void tb_model_work_release(struct tb_model_work *work)
{
    tb_bpe_work_release(&work->bpe);
    tb_unigram_work_release(&work->unigram);
    tb_piece_work_release(&work->pieces);
    tb_buffer_release(&work->text);
}

tb_status tb_model_encode(const struct tb_tokenizer *tokenizer,
                          struct tb_model_work *work, struct tb_span word,
                          struct tb_tokens *tokens)
{
    switch (tokenizer->model) {
    case TB_MODEL_UNIGRAM:
        return tb_unigram_encode(&tokenizer->unigram, &work->unigram, word,
                                 tokens);
    case TB_MODEL_WORD_PIECE:
        return tb_word_piece_encode(&tokenizer->pieces, &work->text, word,
                                    tokens);
    case TB_MODEL_SENTENCE_PIECE:
        return tb_sentence_piece_encode(&tokenizer->sentence_piece,
                                        &work->pieces, word, tokens);
    case TB_MODEL_BPE:
    default:
        return tb_bpe_encode(&tokenizer->bpe, &work->bpe, word, tokens);
    }
}
