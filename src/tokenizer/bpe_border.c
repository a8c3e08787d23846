/* Where words of a BPE may be cut: a merge crosses a place before a space when
 * its right half begins with that space and its left half ends with what stands
 * before it. */
#include "bpe.h"

static bool is_spaced(struct tb_span token)
{
    return tb_span_starts_with(token, TB_ESCAPED_SPACE);
}

/* May a symbol that ends a text's part be something else than its characters:
 * the unknown one, or the token of a byte? */
static bool ends_with_stand_in(const struct tb_bpe *bpe, struct tb_span token)
{
    if (tb_span_ends_with(token, tb_vocab_bytes(&bpe->vocab, bpe->unknown)))
        return true;
    for (unsigned byte = 0; byte < 256 && bpe->has_byte_fallback; byte++)
        if (bpe->byte_tokens[byte] != TB_NO_TOKEN &&
            tb_span_ends_with(
                token, tb_vocab_bytes(&bpe->vocab, bpe->byte_tokens[byte])))
            return true;
    return false;
}

// False: it may cross any border.
static bool mark_merge(struct tb_bpe *bpe, const struct tb_merge *merge)
{
    struct tb_span left = tb_vocab_bytes(&bpe->vocab, merge->left);
    if (!is_spaced(tb_vocab_bytes(&bpe->vocab, merge->right)) ||
        tb_span_ends_with(left, TB_ESCAPED_SPACE))
        return true;
    if (left.len == 0 || ends_with_stand_in(bpe, left))
        return false;
    bpe->borders.is_joined[left.ptr[left.len - 1]] = true;
    return true;
}

void tb_bpe_find_borders(struct tb_bpe *bpe)
{
    bpe->borders = (struct tb_space_borders){0};
    // A space that is no token itself may be part of an unknown. Without a
    // token for unknowns, what stands before a space may vanish. And a word
    // that is looked up as a whole would be another one.
    if (bpe->is_byte_level || bpe->is_whole_word_first ||
        bpe->inner_prefix.len || bpe->last_suffix.len ||
        bpe->unknown == TB_NO_TOKEN ||
        tb_vocab_find(&bpe->vocab, TB_ESCAPED_SPACE) == TB_NO_TOKEN)
        return;
    for (uint32_t i = 0; i < bpe->merge_slot_count; i++)
        if (bpe->merges[i].left != TB_NO_TOKEN &&
            !mark_merge(bpe, &bpe->merges[i]))
            return;
    bpe->borders.is_any = true;
}
