/* Where words of a BPE may be cut: a merge crosses a place when its left half
 * ends with what stands before it and its right half begins with what stands
 * behind it. */
#include "bpe.h"

/* Tokens that stand for something else than their characters: the unknown one,
 * and those of bytes. `is_first` and `is_last` say which bytes they begin and
 * end with. */
struct stand_ins {
    const struct tb_bpe *bpe;
    bool is_first[256], is_last[256];
};

static void add_stand_in(struct stand_ins *set, tb_token id)
{
    struct tb_span text = {0};
    if (id != TB_NO_TOKEN)
        text = tb_vocab_bytes(&set->bpe->vocab, id);
    if (text.len) {
        set->is_first[text.ptr[0]] = true;
        set->is_last[text.ptr[text.len - 1]] = true;
    }
}

static void find_stand_ins(const struct tb_bpe *bpe, struct stand_ins *set)
{
    *set = (struct stand_ins){.bpe = bpe};
    add_stand_in(set, bpe->unknown);
    for (unsigned byte = 0; byte < 256 && bpe->has_byte_fallback; byte++)
        add_stand_in(set, bpe->byte_tokens[byte]);
}

// Does `token` begin, or end, with one of them?
static bool has_stand_in(const struct stand_ins *set, struct tb_span token,
                         bool (*has)(struct tb_span, struct tb_span))
{
    const struct tb_bpe *bpe = set->bpe;
    if (bpe->unknown != TB_NO_TOKEN &&
        has(token, tb_vocab_bytes(&bpe->vocab, bpe->unknown)))
        return true;
    for (unsigned byte = 0; byte < 256 && bpe->has_byte_fallback; byte++)
        if (bpe->byte_tokens[byte] != TB_NO_TOKEN &&
            has(token, tb_vocab_bytes(&bpe->vocab, bpe->byte_tokens[byte])))
            return true;
    return false;
}

static uint8_t first_of(struct tb_span token)
{
    return tb_span_starts_with(token, TB_ESCAPED_SPACE) ? TB_BORDER_SPACE
                                                        : token.ptr[0];
}

static uint8_t last_of(struct tb_span token)
{
    return tb_span_ends_with(token, TB_ESCAPED_SPACE)
               ? TB_BORDER_SPACE
               : token.ptr[token.len - 1];
}

// A half that begins or ends with a stand-in may be beside any byte.
static void mark_merge(struct tb_merge_borders *borders,
                       const struct stand_ins *set, struct tb_span left,
                       struct tb_span right)
{
    uint8_t before = last_of(left), behind = first_of(right);
    bool is_any_before = set->is_last[left.ptr[left.len - 1]] &&
                         has_stand_in(set, left, tb_span_ends_with);
    bool is_any_behind = set->is_first[right.ptr[0]] &&
                         has_stand_in(set, right, tb_span_starts_with);
    tb_merge_join(borders, before, behind);
    for (unsigned byte = 0; byte < 256 && is_any_before; byte++)
        tb_merge_join(borders, (uint8_t)byte, behind);
    for (unsigned byte = 0; byte < 256 && is_any_behind; byte++)
        tb_merge_join(borders, before, (uint8_t)byte);
    if (is_any_before && is_any_behind)
        borders->is_any = false;
}

// May a character be unknown, since neither it nor its bytes have tokens?
static bool may_be_unknown(const struct tb_bpe *bpe)
{
    for (unsigned i = 0; i < 256; i++) {
        uint8_t byte = (uint8_t)i;
        struct tb_span character = {&byte, 1};
        bool is_known =
            byte < 0x80 && tb_vocab_find(&bpe->vocab, character) != TB_NO_TOKEN;
        if (!is_known && bpe->byte_tokens[byte] == TB_NO_TOKEN)
            return true;
    }
    return !bpe->has_byte_fallback;
}

/* Before which bytes a word is not cut, whatever merges say: those inside
 * characters; and all but a space where neighbouring unknowns may become one.
 */
static void mark_bytes(struct tb_merge_borders *borders, bool has_unknowns)
{
    for (unsigned before = 0; before < 256; before++)
        for (unsigned behind = 0; behind < TB_BORDER_SPACE; behind++)
            if (has_unknowns || (behind & 0xC0) == 0x80)
                tb_merge_join(borders, (uint8_t)before, (uint8_t)behind);
}

/* A space that is no token itself may be part of an unknown. Without a token
 * for unknowns, what stands before a space may vanish. And a word that is
 * looked up as a whole would be another one. */
static bool may_be_cut(const struct tb_bpe *bpe, bool has_unknowns)
{
    bool is_spaced =
        bpe->unknown != TB_NO_TOKEN &&
        tb_vocab_find(&bpe->vocab, TB_ESCAPED_SPACE) != TB_NO_TOKEN;
    return bpe->merges && !bpe->is_byte_level && !bpe->is_whole_word_first &&
           bpe->inner_prefix.len == 0 && bpe->last_suffix.len == 0 &&
           (is_spaced || !has_unknowns);
}

void tb_bpe_find_borders(struct tb_bpe *bpe)
{
    struct tb_merge_borders *borders = &bpe->borders;
    bool has_unknowns = may_be_unknown(bpe);
    *borders = (struct tb_merge_borders){0};
    if (!may_be_cut(bpe, has_unknowns))
        return;
    struct stand_ins set;
    find_stand_ins(bpe, &set);
    borders->is_any = true;
    mark_bytes(borders, has_unknowns);
    for (uint32_t i = 0; i < bpe->merge_slot_count && borders->is_any; i++) {
        const struct tb_merge *merge = &bpe->merges[i];
        if (merge->left == TB_NO_TOKEN)
            continue;
        struct tb_span left = tb_vocab_bytes(&bpe->vocab, merge->left);
        struct tb_span right = tb_vocab_bytes(&bpe->vocab, merge->right);
        if (left.len && right.len)
            mark_merge(borders, &set, left, right);
        else
            borders->is_any = false;
    }
}
