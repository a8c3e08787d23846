#include "row_blocks.h"

#include <string.h>

#include "memory.h"

tb_status tb_row_numbering_init(struct tb_row_numbering *numbering,
                                uint32_t block_size)
{
    *numbering = (struct tb_row_numbering){.block_size = block_size};
    numbering->block = tb_memory_zeroed(block_size, sizeof(*numbering->block));
    return numbering->block ? TB_OK : TB_ERR_MEMORY;
}

void tb_row_numbering_release(struct tb_row_numbering *numbering)
{
    for (size_t i = 0; i < TB_ROW_BLOCKS_RECENT; i++) {
        tb_memory_free(numbering->recent[i].blocks);
        tb_memory_free(numbering->recent[i].ids);
    }
    tb_block_table_release(&numbering->table);
    tb_memory_free(numbering->block);
    *numbering = (struct tb_row_numbering){0};
}

void tb_row_numbering_forget(struct tb_row_numbering *numbering)
{
    for (size_t i = 0; i < TB_ROW_BLOCKS_RECENT; i++)
        numbering->recent[i].is_used = false;
}

/* How many full blocks the row has in common with one made before, which its
 * prompt is known to begin like. */
static uint64_t shared_blocks(const struct tb_row_numbering *numbering,
                              const struct tb_row_tokens *tokens,
                              const struct tb_row_blocks **source)
{
    const struct tb_prompt *prompt = &tokens->prompts->prompts[tokens->prompt];
    for (size_t i = 0; i < TB_ROW_BLOCKS_RECENT; i++) {
        const struct tb_row_blocks *recent = &numbering->recent[i];
        if (!recent->is_used || prompt->base == TB_PROMPT_NO_TAG ||
            recent->prompt != prompt->base || recent->group != tokens->group ||
            recent->front != tokens->front)
            continue;
        uint64_t count = tokens->front + prompt->shared_count;
        if (count > recent->valid_count)
            count = recent->valid_count;
        if (count > tokens->total)
            count = tokens->total;
        *source = recent;
        return count / numbering->block_size;
    }
    return 0;
}

static tb_status reserve(struct tb_row_blocks *row, uint64_t count)
{
    struct tb_hash128 *blocks = tb_array_grow(
        row->blocks, &row->blocks_capacity, count, sizeof(*blocks));
    if (!blocks)
        return TB_ERR_MEMORY;
    row->blocks = blocks;
    uint64_t *ids =
        tb_array_grow(row->ids, &row->ids_capacity, count, sizeof(*ids));
    if (!ids)
        return TB_ERR_MEMORY;
    row->ids = ids;
    return TB_OK;
}

/* Hashes and numbers the blocks from number `first` on, of the tokens from
 * `from` on, behind `parent`. */
static tb_status number_blocks(struct tb_row_numbering *numbering,
                               const struct tb_row_tokens *tokens,
                               uint64_t from, uint64_t first,
                               struct tb_hash128 parent,
                               struct tb_row_blocks *row)
{
    for (uint64_t i = first; i < row->count; i++) {
        uint64_t start = from + i * numbering->block_size;
        uint64_t end = start + numbering->block_size;
        if (end > tokens->total)
            end = tokens->total;
        tb_row_tokens_copy(tokens, start, end, numbering->block);
        parent = tb_block_hash(parent, numbering->block, (size_t)(end - start));
        bool is_new;
        row->blocks[i] = parent;
        TB_TRY(tb_block_table_add(&numbering->table, parent, &row->ids[i],
                                  &is_new));
        if (is_new)
            row->new_tokens += end - start;
        if (numbering->content)
            row->ids[i] = tb_content_id(numbering->content, parent);
    }
    row->last = parent;
    return TB_OK;
}

static struct tb_row_blocks *take_oldest(struct tb_row_numbering *numbering)
{
    struct tb_row_blocks *row = &numbering->recent[numbering->next];
    numbering->next = (numbering->next + 1) % TB_ROW_BLOCKS_RECENT;
    row->new_tokens = 0;
    return row;
}

static uint64_t count_blocks(const struct tb_row_numbering *numbering,
                             uint64_t token_count)
{
    return (token_count + numbering->block_size - 1) / numbering->block_size;
}

tb_status tb_row_numbering_add(struct tb_row_numbering *numbering,
                               const struct tb_row_tokens *tokens,
                               const struct tb_row_blocks **blocks)
{
    struct tb_row_blocks *row = take_oldest(numbering);
    const struct tb_row_blocks *source = NULL;
    uint64_t shared = shared_blocks(numbering, tokens, &source);
    uint64_t count = count_blocks(numbering, tokens->total);
    TB_TRY(reserve(row, count + 1));
    if (shared && source != row) {
        memcpy(row->blocks, source->blocks, shared * sizeof(*row->blocks));
        memcpy(row->ids, source->ids, shared * sizeof(*row->ids));
    }
    row->is_used = false; // until it is whole
    row->count = count;
    struct tb_hash128 root =
        numbering->content ? numbering->content->root : TB_BLOCK_ROOT;
    struct tb_hash128 parent = shared ? row->blocks[shared - 1] : root;
    TB_TRY(number_blocks(numbering, tokens, 0, shared, parent, row));
    row->prompt = tokens->prompt;
    row->group = tokens->group;
    row->front = tokens->front;
    row->valid_count = tokens->front + tokens->text_count;
    if (row->valid_count > tokens->total)
        row->valid_count = tokens->total;
    row->is_used = true;
    *blocks = row;
    return TB_OK;
}

tb_status tb_row_numbering_add_part(struct tb_row_numbering *numbering,
                                    const struct tb_row_tokens *tokens,
                                    uint64_t from, struct tb_hash128 parent,
                                    const struct tb_row_blocks **blocks)
{
    struct tb_row_blocks *row = take_oldest(numbering);
    uint64_t count = count_blocks(numbering, tokens->total - from);
    row->is_used = false; // nothing begins like a part
    TB_TRY(reserve(row, count + 1));
    row->count = count;
    TB_TRY(number_blocks(numbering, tokens, from, 0, parent, row));
    *blocks = row;
    return TB_OK;
}
