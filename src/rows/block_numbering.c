#include "block_numbering.h"

#include "block_set.h"
#include "buffer.h"
#include "first_map.h"
#include "memory.h"
#include "spill_file.h"

enum {
    NUMBER_LEN = sizeof(uint64_t), // of a block of the current part
    LEAST_BLOCKS = 16,             // of a part
    WINDOW = 1 << 10,              // entries that are read or written at once
};

/* Rows whose blocks fit into memory. */
struct part {
    uint64_t row_count;
    uint64_t begin; /* place of its first block among those of all parts */
    uint32_t count; /* its blocks */
};

/* Where a block of a part comes first, as a place among those of all parts. */
struct origin {
    uint64_t first;
    uint32_t number; /* of the block in its part */
    uint32_t zero;   /* so that files get no byte that was never written */
};

/* The sorted blocks of a part while parts are merged. */
struct cursor {
    uint32_t part;
    uint32_t read_count; /* entries of the part that were read */
    uint32_t at, len;    /* in the window */
    struct tb_block_entry *window;
    uint32_t written_count; /* origins of the part that were written, */
    uint32_t kept_count;    /* ... and that were not yet */
    struct origin *origins;
};

struct tb_block_numbering {
    const char *folder;
    struct tb_block_set set; /* of the current part */
    struct part *parts;
    size_t part_count, part_capacity;
    struct part current;
    uint64_t place_count; /* blocks of all parts, each part's for itself */
    uint64_t block_count;
    struct tb_spill_file entries; /* of all parts, sorted in each */
    struct tb_spill_file origins; /* of all parts, in no order in each */
    struct tb_first_map firsts;
    uint64_t *numbers; /* of the current part, by number in it */
    size_t next_part;  /* when rows are gone through again */
};

tb_status tb_block_numbering_new(size_t memory, const char *folder,
                                 struct tb_block_numbering **numbering)
{
    struct tb_block_numbering *made = tb_memory_zeroed(1, sizeof(*made));
    if (!made)
        return TB_ERR_MEMORY;
    size_t most = memory / (TB_BLOCK_SET_COST + NUMBER_LEN);
    if (most < LEAST_BLOCKS)
        most = LEAST_BLOCKS;
    if (most > UINT32_MAX - 1)
        most = UINT32_MAX - 1;
    tb_block_set_init(&made->set, (uint32_t)most);
    made->folder = folder;
    made->entries = made->origins = TB_SPILL_FILE_CLOSED;
    *numbering = made;
    return TB_OK;
}

void tb_block_numbering_free(struct tb_block_numbering *numbering)
{
    if (!numbering)
        return;
    tb_block_set_release(&numbering->set);
    tb_first_map_release(&numbering->firsts);
    tb_spill_file_close(&numbering->entries);
    tb_spill_file_close(&numbering->origins);
    tb_memory_free(numbering->parts);
    tb_memory_free(numbering->numbers);
    tb_memory_free(numbering);
}

static tb_status fail_memory(struct tb_error *error)
{
    return tb_fail(error, TB_ERR_MEMORY, "out of memory");
}

/* ---- the first time ---------------------------------------------------- */

static tb_status end_part(struct tb_block_numbering *numbering,
                          struct tb_error *error)
{
    struct part *parts =
        tb_array_grow(numbering->parts, &numbering->part_capacity,
                      numbering->part_count + 1, sizeof(*parts));
    if (!parts)
        return fail_memory(error);
    numbering->parts = parts;
    struct part *part = &parts[numbering->part_count++];
    *part = numbering->current;
    part->count = numbering->set.count;
    part->begin = numbering->place_count;
    numbering->place_count += part->count;
    numbering->current = (struct part){0};
    return TB_OK;
}

static tb_status spill_part(struct tb_block_numbering *numbering,
                            struct tb_error *error)
{
    struct tb_block_set *set = &numbering->set;
    if (numbering->entries.fd < 0)
        TB_TRY(
            tb_spill_file_open(&numbering->entries, numbering->folder, error));
    tb_block_set_sort(set);
    TB_TRY(tb_spill_file_write(
        &numbering->entries, numbering->place_count * sizeof(*set->entries),
        set->entries, set->count * sizeof(*set->entries), error));
    TB_TRY(end_part(numbering, error));
    tb_block_set_empty(set);
    return TB_OK;
}

static tb_status add_row(struct tb_block_set *set, const uint64_t *ids,
                         size_t count)
{
    uint64_t before = TB_NO_BLOCK;
    for (size_t i = 0; i < count; i++) {
        uint32_t number;
        TB_TRY(tb_block_set_add(set, before, ids[i], &number));
        before = ids[i];
    }
    return TB_OK;
}

tb_status tb_block_numbering_see(struct tb_block_numbering *numbering,
                                 const uint64_t *ids, size_t count,
                                 struct tb_error *error)
{
    struct tb_block_set *set = &numbering->set;
    if (count > set->max_count)
        return tb_fail(error, TB_ERR_LIMIT,
                       "a row has %zu blocks, and memory is for %u: give more",
                       count, set->max_count);
    if (count > set->max_count - set->count)
        TB_TRY(spill_part(numbering, error));
    if (add_row(set, ids, count) != TB_OK)
        return fail_memory(error);
    numbering->current.row_count++;
    return TB_OK;
}

/* ---- the merge of parts ------------------------------------------------ */

struct merge {
    struct tb_block_numbering *numbering;
    struct cursor *cursors; /* one a part */
    uint32_t *heap;         /* of cursors, the one with the least block first */
    uint32_t heap_count;
};

static const struct tb_block_entry *head_of(const struct merge *merge,
                                            uint32_t cursor)
{
    const struct cursor *of = &merge->cursors[cursor];
    return &of->window[of->at];
}

// Of two parts that have a block, the earlier one.
static bool is_before(const struct merge *merge, uint32_t a, uint32_t b)
{
    int order = tb_block_entry_compare(head_of(merge, a), head_of(merge, b));
    return order < 0 || (order == 0 && a < b);
}

static void sift_down(struct merge *merge, uint32_t at)
{
    uint32_t *heap = merge->heap;
    for (;;) {
        uint32_t least = at;
        for (uint32_t child = 2 * at + 1;
             child <= 2 * at + 2 && child < merge->heap_count; child++)
            if (is_before(merge, heap[child], heap[least]))
                least = child;
        if (least == at)
            return;
        uint32_t cursor = heap[at];
        heap[at] = heap[least];
        heap[least] = cursor;
        at = least;
    }
}

// Reads on when the window is used up; `*is_there` false: the part is.
static tb_status refill(struct merge *merge, struct cursor *cursor,
                        bool *is_there, struct tb_error *error)
{
    const struct part *part = &merge->numbering->parts[cursor->part];
    *is_there = true;
    if (cursor->at < cursor->len)
        return TB_OK;
    uint32_t left = part->count - cursor->read_count;
    cursor->at = 0;
    cursor->len = left < WINDOW ? left : WINDOW;
    *is_there = cursor->len > 0;
    uint64_t place = part->begin + cursor->read_count;
    cursor->read_count += cursor->len;
    return tb_spill_file_read(&merge->numbering->entries,
                              place * sizeof(*cursor->window), cursor->window,
                              cursor->len * sizeof(*cursor->window), error);
}

static tb_status write_origins(struct merge *merge, struct cursor *cursor,
                               struct tb_error *error)
{
    const struct part *part = &merge->numbering->parts[cursor->part];
    uint64_t place = part->begin + cursor->written_count;
    uint32_t count = cursor->kept_count;
    cursor->written_count += count;
    cursor->kept_count = 0;
    return tb_spill_file_write(
        &merge->numbering->origins, place * sizeof(*cursor->origins),
        cursor->origins, count * sizeof(*cursor->origins), error);
}

/* Takes the least block, and notes where it comes first. */
static tb_status take_least(struct merge *merge, struct tb_block_entry *block,
                            uint64_t *first, struct tb_error *error)
{
    struct cursor *cursor = &merge->cursors[merge->heap[0]];
    const struct tb_block_entry entry = cursor->window[cursor->at++];
    uint64_t place = merge->numbering->parts[cursor->part].begin + entry.number;
    if (tb_block_entry_compare(&entry, block) != 0) {
        *block = entry;
        *first = place;
        tb_first_map_set(&merge->numbering->firsts, place);
    }
    cursor->origins[cursor->kept_count++] =
        (struct origin){.first = *first, .number = entry.number};
    if (cursor->kept_count == WINDOW)
        TB_TRY(write_origins(merge, cursor, error));
    bool is_there;
    TB_TRY(refill(merge, cursor, &is_there, error));
    if (!is_there)
        merge->heap[0] = merge->heap[--merge->heap_count];
    sift_down(merge, 0);
    return TB_OK;
}

static tb_status merge_parts(struct merge *merge, struct tb_error *error)
{
    // No block is this one: nothing stands before it, and it is nothing.
    struct tb_block_entry block = {.id = TB_NO_BLOCK, .before = TB_NO_BLOCK};
    uint64_t first = 0;
    for (uint32_t i = 0; i < merge->numbering->part_count; i++) {
        bool is_there;
        TB_TRY(refill(merge, &merge->cursors[i], &is_there, error));
        if (is_there)
            merge->heap[merge->heap_count++] = i;
    }
    for (uint32_t i = merge->heap_count / 2; i-- > 0;)
        sift_down(merge, i);
    while (merge->heap_count > 0)
        TB_TRY(take_least(merge, &block, &first, error));
    for (uint32_t i = 0; i < merge->numbering->part_count; i++)
        TB_TRY(write_origins(merge, &merge->cursors[i], error));
    return TB_OK;
}

static tb_status open_cursors(struct merge *merge)
{
    size_t count = merge->numbering->part_count;
    merge->cursors = tb_memory_zeroed(count, sizeof(*merge->cursors));
    merge->heap = tb_memory_zeroed(count, sizeof(*merge->heap));
    if (!merge->cursors || !merge->heap)
        return TB_ERR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        struct cursor *cursor = &merge->cursors[i];
        cursor->part = (uint32_t)i;
        cursor->window = tb_memory_zeroed(WINDOW, sizeof(*cursor->window));
        cursor->origins = tb_memory_zeroed(WINDOW, sizeof(*cursor->origins));
        if (!cursor->window || !cursor->origins)
            return TB_ERR_MEMORY;
    }
    return TB_OK;
}

static void close_cursors(struct merge *merge)
{
    for (size_t i = 0; merge->cursors && i < merge->numbering->part_count;
         i++) {
        tb_memory_free(merge->cursors[i].window);
        tb_memory_free(merge->cursors[i].origins);
    }
    tb_memory_free(merge->cursors);
    tb_memory_free(merge->heap);
}

static tb_status find_firsts(struct tb_block_numbering *numbering,
                             struct tb_error *error)
{
    struct merge merge = {.numbering = numbering};
    TB_TRY(tb_spill_file_open(&numbering->origins, numbering->folder, error));
    tb_status status =
        tb_first_map_init(&numbering->firsts, numbering->place_count);
    if (status == TB_OK)
        status = open_cursors(&merge);
    if (status != TB_OK)
        fail_memory(error);
    else
        status = merge_parts(&merge, error);
    close_cursors(&merge);
    return status;
}

tb_status tb_block_numbering_settle(struct tb_block_numbering *numbering,
                                    struct tb_error *error)
{
    if (numbering->part_count == 0) {
        numbering->block_count = numbering->set.count;
        return TB_OK;
    }
    TB_TRY(spill_part(numbering, error));
    tb_block_set_release(&numbering->set); // the merge has its place
    TB_TRY(find_firsts(numbering, error));
    tb_spill_file_close(&numbering->entries);
    numbering->block_count = tb_first_map_count(&numbering->firsts);
    return TB_OK;
}

uint64_t tb_block_numbering_count(const struct tb_block_numbering *numbering)
{
    return numbering->block_count;
}

uint64_t tb_block_numbering_parts(const struct tb_block_numbering *numbering)
{
    return numbering->part_count ? numbering->part_count : 1;
}

/* ---- the second time --------------------------------------------------- */

static tb_status read_numbers(struct tb_block_numbering *numbering,
                              const struct part *part, struct tb_error *error)
{
    struct origin window[WINDOW];
    for (uint32_t done = 0; done < part->count;) {
        uint32_t left = part->count - done;
        uint32_t count = left < WINDOW ? left : WINDOW;
        TB_TRY(tb_spill_file_read(&numbering->origins,
                                  (part->begin + done) * sizeof(*window),
                                  window, count * sizeof(*window), error));
        for (uint32_t i = 0; i < count; i++)
            numbering->numbers[window[i].number] =
                tb_first_map_before(&numbering->firsts, window[i].first);
        done += count;
    }
    return TB_OK;
}

static tb_status begin_part(struct tb_block_numbering *numbering,
                            struct tb_error *error)
{
    if (numbering->next_part == numbering->part_count)
        return tb_fail(error, TB_ERR_VALUE, "a file changed while it was read");
    const struct part *part = &numbering->parts[numbering->next_part++];
    tb_memory_free(numbering->numbers);
    numbering->numbers = tb_memory_zeroed((size_t)part->count + 1, NUMBER_LEN);
    if (!numbering->numbers)
        return fail_memory(error);
    tb_block_set_empty(&numbering->set);
    numbering->current = *part;
    return read_numbers(numbering, part, error);
}

static uint64_t number_of(const struct tb_block_numbering *numbering,
                          uint32_t in_part)
{
    return numbering->part_count ? numbering->numbers[in_part] : in_part;
}

tb_status tb_block_numbering_take(struct tb_block_numbering *numbering,
                                  const uint64_t *ids, size_t count,
                                  uint64_t *numbers, struct tb_error *error)
{
    bool is_in_parts = numbering->part_count > 0;
    while (is_in_parts && numbering->current.row_count == 0)
        TB_TRY(begin_part(numbering, error));
    uint64_t known =
        is_in_parts ? numbering->current.count : numbering->block_count;
    uint64_t before = TB_NO_BLOCK;
    for (size_t i = 0; i < count; i++) {
        uint32_t number = 0;
        tb_status status =
            tb_block_set_add(&numbering->set, before, ids[i], &number);
        if (status == TB_ERR_LIMIT || (status == TB_OK && number >= known))
            return tb_fail(error, TB_ERR_VALUE,
                           "a file changed while it was read");
        if (status != TB_OK)
            return fail_memory(error);
        numbers[i] = number_of(numbering, number);
        before = ids[i];
    }
    if (is_in_parts)
        numbering->current.row_count--;
    return TB_OK;
}
