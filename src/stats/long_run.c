#include "long_run.h"

#include <stdlib.h>

#include "buffer.h"
#include "memory.h"

void tb_long_runs_release(struct tb_long_runs *runs)
{
    tb_memory_free(runs->runs);
    tb_memory_free(runs->paths);
    tb_memory_free(runs->pieces);
    *runs = (struct tb_long_runs){0};
}

tb_status tb_long_runs_add(struct tb_long_runs *runs, struct tb_long_run run)
{
    struct tb_long_run *grown = tb_array_grow(runs->runs, &runs->capacity,
                                              runs->count + 1, sizeof(*grown));
    if (!grown)
        return TB_ERR_MEMORY;
    runs->runs = grown;
    grown[runs->count++] = run;
    return TB_OK;
}

static int compare(const void *a, const void *b)
{
    uint32_t first = ((const struct tb_long_run *)a)->path;
    uint32_t second = ((const struct tb_long_run *)b)->path;
    return (first > second) - (first < second);
}

/* The pieces from the root to the end of `node`. */
static tb_status add_pieces(struct tb_long_runs *runs,
                            const struct tb_prefix_tree *tree, uint32_t node,
                            struct tb_long_path *path)
{
    struct tb_prefix_piece node_pieces[2];
    path->piece_at = runs->piece_count;
    for (uint32_t i = node; i != TB_PREFIX_ROOT; i = tree->nodes[i].parent)
        path->piece_count += tb_prefix_node_pieces(tree, i, node_pieces);
    struct tb_prefix_piece *pieces =
        tb_array_grow(runs->pieces, &runs->piece_capacity,
                      runs->piece_count + path->piece_count, sizeof(*pieces));
    if (!pieces)
        return TB_ERR_MEMORY;
    runs->pieces = pieces;
    runs->piece_count += path->piece_count;
    size_t at = runs->piece_count;
    for (uint32_t i = node; i != TB_PREFIX_ROOT; i = tree->nodes[i].parent)
        for (size_t j = tb_prefix_node_pieces(tree, i, node_pieces); j-- > 0;)
            pieces[--at] = node_pieces[j];
    return TB_OK;
}

tb_status tb_long_runs_finish(struct tb_long_runs *runs,
                              const struct tb_prefix_tree *tree,
                              const uint32_t *ends)
{
    if (runs->count > 0)
        qsort(runs->runs, runs->count, sizeof(*runs->runs), compare);
    for (size_t i = 0; i < runs->count; i++) {
        uint32_t number = runs->runs[i].path;
        if (i == 0 || runs->runs[i - 1].path != number) {
            struct tb_long_path *paths =
                tb_array_grow(runs->paths, &runs->path_capacity,
                              runs->path_count + 1, sizeof(*paths));
            if (!paths)
                return TB_ERR_MEMORY;
            runs->paths = paths;
            paths[runs->path_count] = (struct tb_long_path){.run_at = i};
            TB_TRY(
                add_pieces(runs, tree, ends[number], &paths[runs->path_count]));
            runs->path_count++;
        }
        runs->paths[runs->path_count - 1].run_count++;
    }
    return TB_OK;
}

/* Tokens of the path's first `depth` blocks: only the last block of a piece is
 * not full. */
static uint64_t tokens_to(const struct tb_long_runs *runs,
                          const struct tb_long_path *path, uint32_t block_len,
                          uint64_t depth)
{
    const struct tb_prefix_piece *pieces = runs->pieces + path->piece_at;
    size_t low = 0, high = path->piece_count; // pieces that end up to `depth`
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pieces[middle].depth <= depth)
            low = middle + 1;
        else
            high = middle;
    }
    struct tb_prefix_piece before =
        low ? pieces[low - 1] : (struct tb_prefix_piece){0};
    return before.tokens + (depth - before.depth) * block_len;
}

uint64_t tb_long_runs_at(const struct tb_long_runs *runs, uint32_t block_len,
                         uint64_t distance)
{
    uint64_t tokens = 0;
    for (size_t i = 0; i < runs->path_count; i++) {
        const struct tb_long_path *path = &runs->paths[i];
        for (size_t j = path->run_at; j < path->run_at + path->run_count; j++) {
            const struct tb_long_run *run = &runs->runs[j];
            if (distance <= run->since)
                continue;
            uint64_t to = run->from + (distance - run->since);
            if (to > run->to)
                to = run->to;
            tokens += tokens_to(runs, path, block_len, to) -
                      tokens_to(runs, path, block_len, run->from);
        }
    }
    return tokens;
}
