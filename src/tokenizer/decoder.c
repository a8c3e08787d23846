#include "tokenizer_model.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "utf8.h"

/* Texts of tokens, one behind the other. */
struct text_list {
    struct tb_buffer bytes;
    size_t *ends; /* of each text in `bytes` */
    size_t count, capacity;
};

struct tb_decode_work {
    struct text_list lists[2]; /* what a step reads, and what it writes */
    struct tb_buffer cleaned[2];
};

/* ---- what a token is written as ---------------------------------------------
 */

tb_status tb_decoder_add_text(struct tb_decoder *decoder,
                              const struct tb_added_text *added)
{
    struct tb_added_text *items =
        tb_array_grow(decoder->added, &decoder->added_capacity,
                      decoder->added_count + 1, sizeof(*items));
    if (!items)
        return TB_ERR_MEMORY;
    decoder->added = items;
    items[decoder->added_count] = *added;
    items[decoder->added_count].order = (uint32_t)decoder->added_count;
    decoder->added_count++;
    return TB_OK;
}

static int compare_ids(const void *a, const void *b)
{
    const struct tb_added_text *left = a;
    const struct tb_added_text *right = b;
    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    return left->order < right->order ? -1 : 1;
}

void tb_decoder_index(struct tb_decoder *decoder)
{
    size_t kept = 0;
    if (decoder->added_count)
        qsort(decoder->added, decoder->added_count, sizeof(*decoder->added),
              compare_ids);
    for (size_t i = 0; i < decoder->added_count; i++)
        if (i + 1 == decoder->added_count ||
            decoder->added[i].id != decoder->added[i + 1].id)
            decoder->added[kept++] = decoder->added[i];
    decoder->added_count = kept;
}

void tb_decoder_release(struct tb_decoder *decoder)
{
    tb_memory_free(decoder->added);
    *decoder = (struct tb_decoder){0};
}

static const struct tb_added_text *find_added(const struct tb_decoder *decoder,
                                              tb_token id)
{
    size_t first = 0, end = decoder->added_count;
    if (end == 0 || id < decoder->added[0].id ||
        id > decoder->added[end - 1].id)
        return NULL;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (decoder->added[middle].id < id)
            first = middle + 1;
        else
            end = middle;
    }
    const struct tb_added_text *found = &decoder->added[first];
    return found->id == id ? found : NULL;
}

static const struct tb_vocab *vocab_of(const struct tb_tokenizer *tokenizer)
{
    switch (tokenizer->model) {
    case TB_MODEL_UNIGRAM:
        return &tokenizer->unigram.vocab;
    case TB_MODEL_WORD_PIECE:
        return &tokenizer->pieces.vocab;
    case TB_MODEL_BPE:
    default:
        return &tokenizer->bpe.vocab;
    }
}

/* Is what the vocabulary has for `id` bytes, where the file has them in GPT-2's
 * alphabet? Not of tokens that are outside of it, which no text leads to. */
static bool is_spelled(const struct tb_tokenizer *tokenizer, tb_token id,
                       struct tb_span bytes)
{
    return tokenizer->model == TB_MODEL_BPE && tokenizer->bpe.is_byte_level &&
           tb_vocab_find(&tokenizer->bpe.vocab, bytes) == id;
}

static tb_status append_spelled(struct tb_buffer *out, struct tb_span bytes)
{
    TB_TRY(tb_buffer_reserve(out, bytes.len * 2));
    for (size_t i = 0; i < bytes.len; i++)
        out->len += tb_utf8_encode(tb_code_point_of_byte(bytes.ptr[i]),
                                   out->ptr + out->len);
    return TB_OK;
}

// The bytes that a text in the alphabet stands for; others are as they are.
static tb_status append_unspelled(struct tb_buffer *out, struct tb_span text)
{
    size_t len;
    TB_TRY(tb_buffer_reserve(out, text.len));
    if (text.len == 0)
        return TB_OK;
    if (!tb_byte_level_decode(text, out->ptr + out->len, &len)) {
        memcpy(out->ptr + out->len, text.ptr, text.len);
        len = text.len;
    }
    out->len += len;
    return TB_OK;
}

/* ---- lists of texts ---------------------------------------------------------
 */

static tb_status end_text(struct text_list *list)
{
    if (list->count == list->capacity) {
        size_t *ends = tb_array_grow(list->ends, &list->capacity,
                                     list->count + 1, sizeof(*ends));
        if (!ends)
            return TB_ERR_MEMORY;
        list->ends = ends;
    }
    list->ends[list->count++] = list->bytes.len;
    return TB_OK;
}

static struct tb_span text_at(const struct text_list *list, size_t number)
{
    size_t start = number ? list->ends[number - 1] : 0;
    return (struct tb_span){list->bytes.ptr + start,
                            list->ends[number] - start};
}

static void clear_list(struct text_list *list)
{
    list->count = 0;
    tb_buffer_clear(&list->bytes);
}

/* What the first step wants: bytes, or texts as the file has them. */
static tb_status add_token(const struct tb_tokenizer *tokenizer, tb_token id,
                           tb_decode_kind first, unsigned flags,
                           struct text_list *list)
{
    const struct tb_added_text *added = find_added(&tokenizer->decoder, id);
    bool is_of_bytes =
        first == TB_DECODE_BYTES || first == TB_DECODE_BYTE_LEVEL;
    struct tb_span text =
        added ? added->text : tb_vocab_bytes(vocab_of(tokenizer), id);
    if (!text.ptr) // where tokens are bytes, those around it do not join
        return first == TB_DECODE_BYTES ? end_text(list) : TB_OK;
    if (added && added->is_special && (flags & TB_DECODE_SKIP_SPECIAL))
        return TB_OK;
    bool is_bytes = !added && tokenizer->model == TB_MODEL_BPE &&
                    tokenizer->bpe.is_byte_level;
    if (first == TB_DECODE_BYTE_LEVEL && !is_bytes)
        TB_TRY(append_unspelled(&list->bytes, text));
    else if (!is_of_bytes && is_bytes && is_spelled(tokenizer, id, text))
        TB_TRY(append_spelled(&list->bytes, text));
    else
        TB_TRY(tb_buffer_append(&list->bytes, text));
    return end_text(list);
}

/* ---- steps ------------------------------------------------------------------
 */

static tb_status append_replaced(struct tb_buffer *out, struct tb_span text,
                                 struct tb_span what, struct tb_span by)
{
    while (text.len) {
        const uint8_t *found = memmem(text.ptr, text.len, what.ptr, what.len);
        size_t before = found ? (size_t)(found - text.ptr) : text.len;
        TB_TRY(tb_buffer_append(out, (struct tb_span){text.ptr, before}));
        if (!found)
            return TB_OK;
        TB_TRY(tb_buffer_append(out, by));
        text = tb_span_from(text, before + what.len);
    }
    return TB_OK;
}

/* Artifacts of tokens of English, one replacement after the other, as the
 * reference does it: the order counts. */
static tb_status append_cleaned(struct tb_decode_work *work,
                                struct tb_span text, struct tb_buffer *out)
{
    static const struct {
        const char *what, *by;
    } replacements[] = {
        {" .", "."},   {" ?", "?"},     {" !", "!"},     {" ,", ","},
        {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},   {" do not", " don't"},
        {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
    };
    if (!text.len || !memchr(text.ptr, ' ', text.len))
        return tb_buffer_append(out, text);
    for (size_t i = 0; i < sizeof(replacements) / sizeof(replacements[0]);
         i++) {
        struct tb_buffer *cleaned = &work->cleaned[i % 2];
        tb_buffer_clear(cleaned);
        TB_TRY(append_replaced(cleaned, text, tb_span_of(replacements[i].what),
                               tb_span_of(replacements[i].by)));
        text = tb_buffer_span(cleaned);
    }
    return tb_buffer_append(out, text);
}

static tb_status add_word_piece(const struct tb_decoder_step *step,
                                struct tb_decode_work *work,
                                struct tb_span text, bool is_first,
                                struct tb_buffer *out)
{
    struct tb_buffer *spaced = &work->cleaned[1];
    if (!is_first && tb_span_starts_with(text, step->text)) {
        text = tb_span_from(text, step->text.len);
    } else if (!is_first) {
        // The space in front is part of what is cleaned.
        tb_buffer_clear(spaced);
        TB_TRY(tb_buffer_append_byte(spaced, ' '));
        TB_TRY(tb_buffer_append(spaced, text));
        text = tb_buffer_span(spaced);
    }
    return step->is_cleaning ? append_cleaned(work, text, out)
                             : tb_buffer_append(out, text);
}

static struct tb_span strip(const struct tb_decoder_step *step,
                            struct tb_span text)
{
    for (uint32_t i = 0;
         i < step->start && tb_span_starts_with(text, step->text); i++)
        text = tb_span_from(text, step->text.len);
    for (uint32_t i = 0; i < step->stop && tb_span_ends_with(text, step->text);
         i++)
        text.len -= step->text.len;
    return text;
}

static int digit_of(uint8_t byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

// <0xNN>, where a + counts as the first digit 0; or -1.
static int fallback_byte(struct tb_span text)
{
    if (text.len != 6 || !tb_span_starts_with(text, TB_SPAN("<0x")) ||
        text.ptr[5] != '>')
        return -1;
    int high = text.ptr[3] == '+' ? 0 : digit_of(text.ptr[3]);
    int low = digit_of(text.ptr[4]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/* The bytes from `start` on, which tokens <0xNN> gave, as one text; if they are
 * no UTF-8, U+FFFD for each of them. */
static tb_status end_bytes(struct text_list *to, size_t start, unsigned flags)
{
    struct tb_span run = tb_span_from(tb_buffer_span(&to->bytes), start);
    if (run.len == 0)
        return TB_OK;
    if (tb_utf8_valid_len(run) < run.len && !(flags & TB_DECODE_RAW)) {
        to->bytes.len = start;
        for (size_t i = 0; i < run.len; i++) {
            TB_TRY(tb_buffer_append(&to->bytes, TB_SPAN("\xEF\xBF\xBD")));
            TB_TRY(end_text(to));
        }
        return TB_OK;
    }
    return end_text(to);
}

static tb_status fall_back(const struct text_list *from, unsigned flags,
                           struct text_list *to)
{
    size_t start = 0; // of the bytes that are gathered
    for (size_t i = 0; i < from->count; i++) {
        struct tb_span text = text_at(from, i);
        int byte = fallback_byte(text);
        if (byte >= 0) {
            TB_TRY(tb_buffer_append_byte(&to->bytes, (uint8_t)byte));
            continue;
        }
        TB_TRY(end_bytes(to, start, flags));
        TB_TRY(tb_buffer_append(&to->bytes, text));
        TB_TRY(end_text(to));
        start = to->bytes.len;
    }
    return end_bytes(to, start, flags);
}

static tb_status step_each(const struct tb_decoder_step *step,
                           struct tb_decode_work *work,
                           const struct text_list *from, struct text_list *to)
{
    for (size_t i = 0; i < from->count; i++) {
        struct tb_span text = text_at(from, i);
        struct tb_span space = TB_SPAN(" "), nothing = {0};
        bool is_first = i == 0, is_last = i + 1 == from->count;
        switch (step->kind) {
        case TB_DECODE_METASPACE:
            TB_TRY(append_replaced(&to->bytes, text, step->text,
                                   is_first && !step->is_first_spaced ? nothing
                                                                      : space));
            break;
        case TB_DECODE_WORD_PIECE:
            TB_TRY(add_word_piece(step, work, text, is_first, &to->bytes));
            break;
        case TB_DECODE_SUFFIX:
            TB_TRY(append_replaced(&to->bytes, text, step->text,
                                   is_last ? nothing : space));
            break;
        case TB_DECODE_REPLACE:
            TB_TRY(append_replaced(&to->bytes, text, step->text, step->into));
            break;
        case TB_DECODE_STRIP:
            TB_TRY(tb_buffer_append(&to->bytes, strip(step, text)));
            break;
        case TB_DECODE_SPACES:
            TB_TRY(tb_buffer_append(&to->bytes, is_first ? nothing : space));
            TB_TRY(tb_buffer_append(&to->bytes, text));
            break;
        case TB_DECODE_BYTE_LEVEL:
            TB_TRY(append_unspelled(&to->bytes, text));
            break;
        default:
            TB_TRY(tb_buffer_append(&to->bytes, text));
            break;
        }
        TB_TRY(end_text(to));
    }
    return TB_OK;
}

// All texts as one.
static tb_status fuse(struct text_list *list)
{
    list->count = 0;
    return end_text(list);
}

/* Bytes to UTF-8: all of them, or (`is_parted`) what lies between two empty
 * texts. */
static tb_status repair(struct text_list *from, struct text_list *to,
                        unsigned flags, bool is_parted)
{
    uint64_t replaced_count = 0;
    struct tb_span all = tb_buffer_span(&from->bytes);
    if (flags & TB_DECODE_RAW) {
        TB_TRY(tb_buffer_append(&to->bytes, all));
        return end_text(to);
    }
    size_t start = 0;
    for (size_t i = 0; i < from->count && is_parted; i++) {
        if (text_at(from, i).len > 0)
            continue;
        struct tb_span part = {all.ptr + start, from->ends[i] - start};
        TB_TRY(tb_utf8_repair(part, &to->bytes, &replaced_count));
        start = from->ends[i];
    }
    TB_TRY(
        tb_utf8_repair(tb_span_from(all, start), &to->bytes, &replaced_count));
    return end_text(to);
}

static void swap(struct tb_decode_work *work)
{
    struct text_list list = work->lists[0];
    work->lists[0] = work->lists[1];
    work->lists[1] = list;
    clear_list(&work->lists[1]);
}

/* Bytes become UTF-8 where all tokens have been joined. `is_done`: the tokens
 * were taken as bytes when the list was made. */
static tb_status run_step(const struct tb_decoder_step *step,
                          struct tb_decode_work *work, unsigned flags,
                          bool is_done)
{
    struct text_list *from = &work->lists[0], *to = &work->lists[1];
    bool is_of_bytes =
        step->kind == TB_DECODE_BYTE_LEVEL || step->kind == TB_DECODE_BYTES;
    if (step->kind == TB_DECODE_FUSE)
        return fuse(from);
    if (!is_done) {
        if (step->kind == TB_DECODE_BYTE_FALLBACK)
            TB_TRY(fall_back(from, flags, to));
        else
            TB_TRY(step_each(step, work, from, to));
        swap(work);
    }
    if (!is_of_bytes)
        return TB_OK;
    TB_TRY(repair(from, to, flags, step->kind == TB_DECODE_BYTES));
    swap(work);
    return TB_OK;
}

/* ---- decoding ---------------------------------------------------------------
 */

tb_status tb_decode_work_new(struct tb_decode_work **work)
{
    *work = tb_memory_zeroed(1, sizeof(**work));
    if (!*work)
        return TB_ERR_MEMORY;
    for (int i = 0; i < 2; i++) {
        (*work)->lists[i].bytes = TB_BUFFER(TB_DECODE_MAX_LEN);
        (*work)->cleaned[i] = TB_BUFFER(TB_DECODE_MAX_LEN);
    }
    return TB_OK;
}

void tb_decode_work_free(struct tb_decode_work *work)
{
    for (int i = 0; work && i < 2; i++) {
        tb_memory_free(work->lists[i].ends);
        tb_buffer_release(&work->lists[i].bytes);
        tb_buffer_release(&work->cleaned[i]);
    }
    tb_memory_free(work);
}

static tb_status decode_pieces(const struct tb_sentence_piece *model,
                               struct tb_decode_work *work, const tb_token *ids,
                               size_t count, unsigned flags)
{
    clear_list(&work->lists[0]);
    TB_TRY(tb_sentence_piece_decode(model, ids, count, flags & TB_DECODE_RAW,
                                    work->cleaned));
    return tb_buffer_append(&work->lists[0].bytes,
                            tb_buffer_span(&work->cleaned[0]));
}

static tb_status decode(const struct tb_tokenizer *tokenizer,
                        struct tb_decode_work *work, const tb_token *ids,
                        size_t count, unsigned flags)
{
    if (tokenizer->model == TB_MODEL_SENTENCE_PIECE)
        return decode_pieces(&tokenizer->sentence_piece, work, ids, count,
                             flags);
    const struct tb_decoder *decoder = &tokenizer->decoder;
    tb_decode_kind first =
        decoder->step_count ? decoder->steps[0].kind : TB_DECODE_FUSE;
    bool is_of_bytes =
        first == TB_DECODE_BYTES || first == TB_DECODE_BYTE_LEVEL;
    clear_list(&work->lists[0]);
    clear_list(&work->lists[1]);
    for (size_t i = 0; i < count; i++)
        TB_TRY(add_token(tokenizer, ids[i], first, flags, &work->lists[0]));
    for (size_t i = 0; i < decoder->step_count; i++)
        TB_TRY(
            run_step(&decoder->steps[i], work, flags, i == 0 && is_of_bytes));
    return TB_OK;
}

tb_status tb_tokenizer_decode(const struct tb_tokenizer *tokenizer,
                              struct tb_decode_work *work, const tb_token *ids,
                              size_t count, unsigned flags,
                              struct tb_span *text, struct tb_error *error)
{
    struct tb_span refusal = tokenizer->decoder.refusal;
    if (refusal.len)
        return tb_fail(error, TB_ERR_UNSUPPORTED, "cannot decode: %.*s",
                       (int)refusal.len, (const char *)refusal.ptr);
    tb_status status = decode(tokenizer, work, ids, count, flags);
    if (status != TB_OK)
        return tb_fail(error, status, "cannot decode: %s",
                       tb_status_name(status));
    *text = tb_buffer_span(&work->lists[0].bytes);
    return TB_OK;
}
