/* What a compiled form consists of. */
#include "compiled_form.h"

enum { MOST_ITEMS = 1 << 30 };

#define TB_TABLE(form, items, count)                                           \
    ((items) = tb_form_table(form, items, count, sizeof(*(items))))

/* ---- tables -----------------------------------------------------------------
 */

// Slots of a table are found by a mask, and one of them must be empty.
static void check_slots(struct tb_compiled_form *form, uint32_t slot_count)
{
    if (slot_count == 0 || (slot_count & (slot_count - 1)) != 0)
        tb_form_refuse(form);
}

static void carry_vocab(struct tb_compiled_form *form, struct tb_vocab *vocab)
{
    struct tb_span bytes = tb_buffer_span(&vocab->bytes);
    TB_CARRY(form, vocab->id_count);
    TB_CARRY(form, vocab->slot_count);
    TB_CARRY(form, vocab->max_len);
    TB_TABLE(form, vocab->at, vocab->id_count);
    TB_TABLE(form, vocab->len, vocab->id_count);
    TB_TABLE(form, vocab->slots, vocab->slot_count);
    check_slots(form, vocab->slot_count);
    tb_form_text(form, &bytes);
    if (form->is_reading)
        vocab->bytes = (struct tb_buffer){(uint8_t *)(uintptr_t)bytes.ptr,
                                          bytes.len, 0, bytes.len};
}

static void carry_trie(struct tb_compiled_form *form, struct tb_trie *trie)
{
    tb_form_count(form, &trie->count, MOST_ITEMS);
    TB_TABLE(form, trie->nodes, trie->count);
}

static void carry_charsmap(struct tb_compiled_form *form,
                           struct tb_charsmap *map)
{
    tb_form_count(form, &map->unit_count, MOST_ITEMS);
    TB_TABLE(form, map->units, map->unit_count);
    tb_form_text(form, &map->texts);
}

/* ---- models -----------------------------------------------------------------
 */

static void carry_bpe(struct tb_compiled_form *form, struct tb_bpe *bpe)
{
    carry_vocab(form, &bpe->vocab);
    TB_CARRY(form, bpe->merge_slot_count);
    if (bpe->merge_slot_count) {
        check_slots(form, bpe->merge_slot_count);
        TB_TABLE(form, bpe->merges, bpe->merge_slot_count);
    }
    TB_CARRY(form, bpe->is_byte_level);
    TB_CARRY(form, bpe->is_whole_word_first);
    TB_CARRY(form, bpe->is_fusing_unknown);
    TB_CARRY(form, bpe->has_byte_fallback);
    TB_CARRY(form, bpe->unknown);
    TB_CARRY(form, bpe->byte_tokens);
    tb_form_text(form, &bpe->inner_prefix);
    tb_form_text(form, &bpe->last_suffix);
    TB_CARRY(form, bpe->borders);
}

static void carry_unigram(struct tb_compiled_form *form,
                          struct tb_unigram *unigram)
{
    carry_vocab(form, &unigram->vocab);
    carry_trie(form, &unigram->trie);
    tb_form_count(form, &unigram->score_count, MOST_ITEMS);
    TB_TABLE(form, unigram->scores, unigram->score_count);
    TB_CARRY(form, unigram->unknown_score);
    TB_CARRY(form, unigram->unknown);
    TB_CARRY(form, unigram->has_byte_fallback);
    TB_CARRY(form, unigram->byte_tokens);
}

static void carry_word_piece(struct tb_compiled_form *form,
                             struct tb_word_piece *pieces)
{
    carry_vocab(form, &pieces->vocab);
    TB_CARRY(form, pieces->unknown);
    TB_CARRY(form, pieces->is_whole_words);
    tb_form_text(form, &pieces->prefix);
    TB_CARRY(form, pieces->max_word_len);
}

static void carry_sentence_piece(struct tb_compiled_form *form,
                                 struct tb_sentence_piece *model)
{
    TB_CARRY(form, model->method);
    carry_charsmap(form, &model->rules.charsmap);
    TB_CARRY(form, model->rules.has_dummy_space);
    TB_CARRY(form, model->rules.is_space_behind);
    TB_CARRY(form, model->rules.is_dropping_spaces);
    TB_CARRY(form, model->rules.is_escaping_spaces);
    carry_vocab(form, &model->pieces);
    carry_vocab(form, &model->reserved);
    carry_vocab(form, &model->symbols);
    tb_form_count(form, &model->count, MOST_ITEMS);
    TB_TABLE(form, model->types, model->count);
    TB_TABLE(form, model->scores, model->count);
    carry_trie(form, &model->piece_trie);
    carry_trie(form, &model->symbol_trie);
    TB_CARRY(form, model->is_symbol_start);
    TB_CARRY(form, model->unknown);
    tb_form_text(form, &model->unknown_text);
    TB_CARRY(form, model->has_byte_fallback);
    TB_CARRY(form, model->byte_tokens);
    TB_CARRY(form, model->least_score);
    TB_CARRY(form, model->has_unused);
    TB_CARRY(form, model->has_zero);
    TB_CARRY(form, model->borders);
    TB_CARRY(form, model->is_cut_behind_space);
}

static void carry_model(struct tb_compiled_form *form,
                        struct tb_tokenizer *tokenizer)
{
    TB_CARRY(form, tokenizer->model);
    switch (tokenizer->model) {
    case TB_MODEL_BPE:
        carry_bpe(form, &tokenizer->bpe);
        break;
    case TB_MODEL_UNIGRAM:
        carry_unigram(form, &tokenizer->unigram);
        break;
    case TB_MODEL_WORD_PIECE:
        carry_word_piece(form, &tokenizer->pieces);
        break;
    case TB_MODEL_SENTENCE_PIECE:
        carry_sentence_piece(form, &tokenizer->sentence_piece);
        break;
    default:
        tb_form_refuse(form);
        break;
    }
}

/* ---- steps ------------------------------------------------------------------
 */

/* A regex is kept as its pattern and compiled again. An empty pattern is one
 * too. */
static void carry_regex(struct tb_compiled_form *form, struct tb_regex **regex)
{
    bool has_regex = *regex != NULL;
    TB_CARRY(form, has_regex);
    if (!has_regex)
        return;
    struct tb_span pattern = {0};
    if (!form->is_reading)
        pattern = tb_regex_pattern(*regex);
    tb_form_text(form, &pattern);
    if (form->is_reading && form->status == TB_OK)
        form->status = tb_regex_new(pattern, regex, NULL);
}

static void carry_normalizer(struct tb_compiled_form *form,
                             struct tb_normalizer *normalizer)
{
    tb_form_count(form, &normalizer->step_count, TB_NORMALIZER_MAX_STEPS);
    for (size_t i = 0; i < normalizer->step_count; i++) {
        struct tb_normalizer_step *step = &normalizer->steps[i];
        TB_CARRY(form, step->kind);
        TB_CARRY(form, step->form);
        tb_form_text(form, &step->pattern);
        tb_form_text(form, &step->content);
        carry_regex(form, &step->regex);
        carry_charsmap(form, &step->charsmap);
        TB_CARRY(form, step->is_stripping_left);
        TB_CARRY(form, step->is_stripping_right);
    }
}

/* Scanners are kept as numbers: those of known patterns, then those of steps
 * that have none, below zero. */
static const tb_pattern_scan other_scans[] = {NULL, tb_scan_white_space,
                                              tb_scan_punctuation,
                                              tb_scan_numeric, tb_scan_words};

enum { OTHER_COUNT = sizeof(other_scans) / sizeof(other_scans[0]) };

static int32_t number_of(tb_pattern_scan scan)
{
    for (int i = 0; i < OTHER_COUNT; i++)
        if (other_scans[i] == scan)
            return -1 - i;
    return tb_pattern_number(scan);
}

static void carry_scan(struct tb_compiled_form *form, tb_pattern_scan *scan)
{
    int32_t number = number_of(*scan);
    TB_CARRY(form, number);
    if (!form->is_reading)
        return;
    bool is_other = number < 0 && number >= -OTHER_COUNT;
    *scan = is_other ? other_scans[-1 - number] : tb_pattern_of_number(number);
    if (!is_other && !*scan)
        tb_form_refuse(form);
}

static void carry_pretokenizer(struct tb_compiled_form *form,
                               struct tb_pretokenizer *pretokenizer)
{
    tb_form_count(form, &pretokenizer->step_count, TB_PRETOKENIZER_MAX_STEPS);
    for (size_t i = 0; i < pretokenizer->step_count; i++) {
        struct tb_pretokenizer_step *step = &pretokenizer->steps[i];
        carry_scan(form, &step->scan);
        tb_form_text(form, &step->literal);
        TB_CARRY(form, step->behavior);
        TB_CARRY(form, step->is_inverted);
        TB_CARRY(form, step->has_prefix_space);
        TB_CARRY(form, step->has_gaps);
        TB_CARRY(form, step->kind);
        carry_regex(form, &step->regex);
        TB_CARRY(form, step->scheme);
        TB_CARRY(form, step->is_splitting);
        TB_CARRY(form, step->length);
    }
}

/* ---- added tokens and the way back ------------------------------------------
 */

static void carry_added_tokens(struct tb_compiled_form *form,
                               struct tb_added_tokens *set)
{
    size_t count = set->count;
    tb_form_count(form, &count, MOST_ITEMS);
    for (size_t i = 0; i < count && form->status == TB_OK; i++) {
        struct tb_added_token token = {0};
        if (!form->is_reading)
            token = set->tokens[i];
        tb_form_text(form, &token.content);
        TB_CARRY(form, token.id);
        TB_CARRY(form, token.is_single_word);
        TB_CARRY(form, token.is_left_strip);
        TB_CARRY(form, token.is_right_strip);
        TB_CARRY(form, token.is_normalized);
        TB_CARRY(form, token.is_special);
        if (token.content.len == 0)
            tb_form_refuse(form);
        else if (form->is_reading)
            form->status = tb_added_tokens_add(set, &token);
    }
    if (form->is_reading)
        tb_added_tokens_index(set);
}

static void carry_decoder_steps(struct tb_compiled_form *form,
                                struct tb_decoder *decoder)
{
    tb_form_count(form, &decoder->step_count, TB_DECODER_MAX_STEPS);
    for (size_t i = 0; i < decoder->step_count; i++) {
        struct tb_decoder_step *step = &decoder->steps[i];
        TB_CARRY(form, step->kind);
        TB_CARRY(form, step->is_cleaning);
        TB_CARRY(form, step->is_first_spaced);
        TB_CARRY(form, step->start);
        TB_CARRY(form, step->stop);
        tb_form_text(form, &step->text);
        tb_form_text(form, &step->into);
    }
}

static void carry_decoder(struct tb_compiled_form *form,
                          struct tb_decoder *decoder)
{
    carry_decoder_steps(form, decoder);
    tb_form_text(form, &decoder->refusal);
    size_t count = decoder->added_count;
    tb_form_count(form, &count, MOST_ITEMS);
    for (size_t i = 0; i < count && form->status == TB_OK; i++) {
        struct tb_added_text added = {0};
        if (!form->is_reading)
            added = decoder->added[i];
        tb_form_text(form, &added.text);
        TB_CARRY(form, added.id);
        TB_CARRY(form, added.is_special);
        if (form->is_reading)
            form->status = tb_decoder_add_text(decoder, &added);
    }
    if (form->is_reading)
        tb_decoder_index(decoder);
}

void tb_form_tokenizer(struct tb_compiled_form *form,
                       struct tb_tokenizer *tokenizer)
{
    TB_CARRY(form, tokenizer->fingerprint);
    TB_CARRY(form, tokenizer->vocab_size);
    carry_model(form, tokenizer);
    carry_normalizer(form, &tokenizer->normalizer);
    carry_pretokenizer(form, &tokenizer->pretokenizer);
    carry_added_tokens(form, &tokenizer->raw_tokens);
    carry_added_tokens(form, &tokenizer->normalized_tokens);
    carry_decoder(form, &tokenizer->decoder);
    tokenizer->fingerprint[sizeof(tokenizer->fingerprint) - 1] = '\0';
}
