#include "id_sizes.h"

#include "buffer.h"
#include "hash.h"
#include "memory.h"

enum {
    FIRST_SLOTS = 1 << 10,
    FIRST_PAGE_SLOTS = 16,
    WORD_BITS = 64,
    PAGE_IDS = TB_ID_PAGE_WORDS * WORD_BITS,
    PAGE_IDS_LEAST = 16 // for each page, on average
};

// The finalizer of SplitMix64.
static uint64_t mix(uint64_t id)
{
    id = (id ^ id >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    id = (id ^ id >> 27) * UINT64_C(0x94D049BB133111EB);
    return id ^ id >> 31;
}

uint32_t tb_id_before(uint64_t id)
{
    return (uint32_t)(mix(id ^ UINT64_C(0x9E3779B97F4A7C15)) >> 32) | 1;
}

static size_t slot_of(const struct tb_id_sizes *sizes, uint64_t key,
                      size_t count)
{
    struct tb_span bytes = {(const uint8_t *)&key, sizeof(key)};
    return (size_t)tb_hash64(bytes, sizes->secret) & (count - 1);
}

/* ---- ids of their own ---------------------------------------------------- */

static struct tb_id_size *find(const struct tb_id_sizes *sizes, uint64_t id)
{
    size_t mask = sizes->slot_count - 1;
    size_t at = slot_of(sizes, id, sizes->slot_count);
    while (sizes->slots[at].size && sizes->slots[at].id != id)
        at = (at + 1) & mask;
    return &sizes->slots[at];
}

static tb_status grow(struct tb_id_sizes *sizes)
{
    struct tb_id_size *old = sizes->slots;
    size_t old_count = sizes->slot_count;
    size_t count = old_count ? 2 * old_count : FIRST_SLOTS;
    struct tb_id_size *grown = tb_memory_zeroed(count, sizeof(*grown));
    if (!grown)
        return TB_ERR_MEMORY;
    sizes->slots = grown;
    sizes->slot_count = count;
    for (size_t i = 0; i < old_count; i++)
        if (old[i].size)
            *find(sizes, old[i].id) = old[i];
    tb_memory_free(old);
    return TB_OK;
}

/* ---- pages --------------------------------------------------------------- */

/* The slot of page `number`, or the free one where it belongs. */
static uint32_t *find_page_slot(const struct tb_id_sizes *sizes,
                                uint64_t number)
{
    size_t mask = sizes->page_slot_count - 1;
    size_t at = slot_of(sizes, number, sizes->page_slot_count);
    while (sizes->page_slots[at] &&
           sizes->pages[sizes->page_slots[at] - 1].number != number)
        at = (at + 1) & mask;
    return &sizes->page_slots[at];
}

// NULL: there is none. Neighbours mostly are asked for one after the other.
static struct tb_id_page *find_page(struct tb_id_sizes *sizes, uint64_t number)
{
    if (sizes->page_count == 0)
        return NULL;
    if (sizes->pages[sizes->last_page].number == number)
        return &sizes->pages[sizes->last_page];
    uint32_t page = *find_page_slot(sizes, number);
    if (page == 0)
        return NULL;
    sizes->last_page = page - 1;
    return &sizes->pages[page - 1];
}

static tb_status grow_page_slots(struct tb_id_sizes *sizes)
{
    size_t count =
        sizes->page_slot_count ? 2 * sizes->page_slot_count : FIRST_PAGE_SLOTS;
    uint32_t *grown = tb_memory_zeroed(count, sizeof(*grown));
    if (!grown)
        return TB_ERR_MEMORY;
    tb_memory_free(sizes->page_slots);
    sizes->page_slots = grown;
    sizes->page_slot_count = count;
    for (size_t i = 0; i < sizes->page_count; i++)
        *find_page_slot(sizes, sizes->pages[i].number) = (uint32_t)i + 1;
    return TB_OK;
}

static tb_status add_page(struct tb_id_sizes *sizes, uint64_t number,
                          struct tb_id_page **page)
{
    if (sizes->page_count >= UINT32_MAX - 1)
        return TB_ERR_MEMORY;
    if (sizes->page_count >= sizes->page_slot_count / 2)
        TB_TRY(grow_page_slots(sizes));
    struct tb_id_page *pages =
        tb_array_grow(sizes->pages, &sizes->page_capacity,
                      sizes->page_count + 1, sizeof(*pages));
    if (!pages)
        return TB_ERR_MEMORY;
    sizes->pages = pages;
    pages[sizes->page_count] = (struct tb_id_page){.number = number};
    *find_page_slot(sizes, number) = (uint32_t)sizes->page_count + 1;
    *page = &pages[sizes->page_count++];
    return TB_OK;
}

/* ---- both ---------------------------------------------------------------- */

tb_status tb_id_sizes_add(struct tb_id_sizes *sizes, uint64_t id, uint32_t size,
                          uint32_t before, struct tb_id_size *known,
                          bool *is_new)
{
    if (sizes->slots_used >= sizes->slot_count - sizes->slot_count / 4) {
        if (sizes->slot_count == 0)
            sizes->secret = tb_hash_secret();
        TB_TRY(grow(sizes));
    }
    const struct tb_id_size usual = {id, sizes->full_size,
                                     tb_id_before(id - 1)};
    struct tb_id_page *page = find_page(sizes, id / PAGE_IDS);
    size_t word = id % PAGE_IDS / WORD_BITS;
    uint64_t bit = UINT64_C(1) << id % WORD_BITS;
    *known = usual;
    *is_new = false;
    if (page && page->words[word] & bit)
        return TB_OK;
    struct tb_id_size *slot = find(sizes, id);
    *is_new = slot->size == 0;
    *known = *is_new ? (struct tb_id_size){id, size, before} : *slot;
    if (!*is_new)
        return TB_OK;
    bool is_usual = size == usual.size && before == usual.before;
    // A page for few ids would take more than they do on their own.
    if (is_usual && !page && sizes->page_count * PAGE_IDS_LEAST <= sizes->count)
        TB_TRY(add_page(sizes, id / PAGE_IDS, &page));
    if (is_usual && page) {
        page->words[word] |= bit;
    } else {
        *slot = *known;
        sizes->slots_used++;
    }
    sizes->count++;
    return TB_OK;
}

void tb_id_sizes_release(struct tb_id_sizes *sizes)
{
    tb_memory_free(sizes->slots);
    tb_memory_free(sizes->pages);
    tb_memory_free(sizes->page_slots);
    *sizes = (struct tb_id_sizes){.full_size = sizes->full_size};
}
