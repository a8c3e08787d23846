/* The table of pairs that may merge. */
#include <string.h>

#include "bpe_pair.h"
#include "memory.h"

static struct tb_merge *find_slot(const struct tb_bpe *bpe, tb_token left,
                                  tb_token right)
{
    uint32_t mask = bpe->merge_slot_count - 1;
    uint32_t slot = tb_bpe_merge_slot(bpe, left, right);
    for (;; slot = (slot + 1) & mask) {
        struct tb_merge *merge = &bpe->merges[slot];
        if (merge->left == TB_NO_TOKEN ||
            (merge->left == left && merge->right == right))
            return merge;
    }
}

tb_status tb_bpe_reserve_merges(struct tb_bpe *bpe, size_t count)
{
    if (count > (size_t)1 << 30)
        return TB_ERR_LIMIT;
    uint32_t slot_count = 64;
    while (slot_count - slot_count / 4 < count)
        slot_count *= 2;
    if (slot_count <= bpe->merge_slot_count)
        return TB_OK;
    struct tb_merge *old = bpe->merges;
    uint32_t old_count = bpe->merge_slot_count;
    size_t size = (size_t)slot_count * sizeof(struct tb_merge);
    struct tb_merge *merges = tb_memory_resize(NULL, size);
    if (!merges)
        return TB_ERR_MEMORY;
    tb_memory_prefer_large_pages(merges, size);
    memset(merges, 0xFF, size); // TB_NO_TOKEN everywhere
    bpe->merges = merges;
    bpe->merge_slot_count = slot_count;
    for (uint32_t i = 0; i < old_count; i++)
        if (old[i].left != TB_NO_TOKEN)
            *find_slot(bpe, old[i].left, old[i].right) = old[i];
    tb_memory_free(old);
    return TB_OK;
}

tb_status tb_bpe_add_merges(struct tb_bpe *bpe, const struct tb_merge *merges,
                            size_t count)
{
    TB_TRY(tb_bpe_reserve_merges(bpe, bpe->merge_count + count));
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch(
            &bpe->merges[tb_bpe_merge_slot(bpe, merges[i].left, merges[i].right)], 1);
    for (size_t i = 0; i < count; i++) {
        struct tb_merge *slot = find_slot(bpe, merges[i].left, merges[i].right);
        bpe->merge_count += slot->left == TB_NO_TOKEN;
        *slot = merges[i];
    }
    return TB_OK;
}

uint64_t tb_bpe_find_merge(const struct tb_bpe *bpe, struct tb_span both,
                           tb_token left, tb_token right)
{
    if (bpe->merges) {
        const struct tb_merge *merge = find_slot(bpe, left, right);
        return merge->left == TB_NO_TOKEN
                   ? TB_NO_MERGE
                   : (uint64_t)merge->rank << 32 | merge->id;
    }
    tb_token id = tb_vocab_find(&bpe->vocab, both);
    return (uint64_t)id << 32 | id;
}
