#include "session_sample.h"

#include <stdlib.h>

#include "buffer.h"
#include "hash.h"
#include "memory.h"

enum { AGENT_BITS = 64 };

/* ---- sessions --------------------------------------------------------- */

static struct tb_span name_of(const struct tb_mooncake_record *record)
{
    struct tb_span parent =
        tb_mooncake_record_name(record, TB_MOONCAKE_PARENT_SESSION_ID);
    return parent.len > 0
               ? parent
               : tb_mooncake_record_name(record, TB_MOONCAKE_SESSION_ID);
}

static tb_status add_session(struct tb_session_sample *sample, uint32_t **list,
                             size_t *capacity, size_t count)
{
    uint32_t *numbers =
        tb_array_grow(*list, capacity, count + 1, sizeof(*numbers));
    if (!numbers)
        return TB_ERR_MEMORY;
    *list = numbers;
    if (sample->count == UINT32_MAX - 1)
        return TB_ERR_LIMIT;
    struct tb_sampled_session *items = tb_array_grow(
        sample->items, &sample->capacity, sample->count + 1, sizeof(*items));
    if (!items)
        return TB_ERR_MEMORY;
    sample->items = items;
    items[sample->count] = (struct tb_sampled_session){.number = sample->count};
    numbers[count] = sample->count++;
    return TB_OK;
}

// The session of a row, a new one when it is the first.
static tb_status find_session(struct tb_session_sample *sample,
                              const struct tb_mooncake_record *record,
                              struct tb_sampled_session **session)
{
    struct tb_span name = name_of(record);
    uint32_t known = sample->names.count, number = known;
    if (name.len == 0) {
        TB_TRY(add_session(sample, &sample->nameless,
                           &sample->nameless_capacity, sample->nameless_count));
        *session = &sample->items[sample->nameless[sample->nameless_count++]];
        return TB_OK;
    }
    TB_TRY(tb_name_table_add(&sample->names, name, &number));
    if (number == known)
        TB_TRY(add_session(sample, &sample->named, &sample->named_capacity,
                           number));
    *session = &sample->items[sample->named[number]];
    return TB_OK;
}

static uint64_t sum_of(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

tb_status tb_session_sample_add(struct tb_session_sample *sample,
                                const struct tb_mooncake_record *record)
{
    struct tb_sampled_session *session = NULL;
    uint64_t input, output;
    struct tb_span agent =
        tb_mooncake_record_name(record, TB_MOONCAKE_AGENT_TYPE);
    TB_TRY(find_session(sample, record, &session));
    session->row_count++;
    (void)tb_mooncake_record_length(record, TB_MOONCAKE_INPUT_LENGTH,
                                    TB_MOONCAKE_INPUT_TOKENS, &input);
    (void)tb_mooncake_record_length(record, TB_MOONCAKE_OUTPUT_LENGTH,
                                    TB_MOONCAKE_OUTPUT_TOKENS, &output);
    session->tokens = sum_of(session->tokens, sum_of(input, output));
    if (agent.len > 0) {
        uint32_t number;
        TB_TRY(tb_name_table_add(&sample->agents, agent, &number));
        session->agents |= UINT64_C(1)
                           << (number < AGENT_BITS ? number : AGENT_BITS - 1);
    }
    return TB_OK;
}

/* ---- a draw ----------------------------------------------------------- */

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

// By what is to keep its mix; no two are equal.
static int compare_kinds(const void *a, const void *b)
{
    const struct tb_sampled_session *first = a, *second = b;
    int order = compare_numbers(first->agents, second->agents);
    if (order == 0)
        order = compare_numbers(first->row_count, second->row_count);
    if (order == 0)
        order = compare_numbers(first->tokens, second->tokens);
    return order ? order : compare_numbers(first->number, second->number);
}

static int compare_places(const void *a, const void *b)
{
    const struct tb_sampled_session *first = a, *second = b;
    return compare_numbers(first->number, second->number);
}

static uint64_t random_number(uint64_t seed, uint64_t draw)
{
    uint8_t bytes[2 * sizeof(uint64_t)];
    for (size_t i = 0; i < sizeof(uint64_t); i++) {
        bytes[i] = (uint8_t)(seed >> 8 * i);
        bytes[sizeof(uint64_t) + i] = (uint8_t)(draw >> 8 * i);
    }
    return tb_hash64((struct tb_span){bytes, sizeof(bytes)}, 0);
}

static void draw(struct tb_session_sample *sample, uint64_t seed,
                 uint32_t count)
{
    sample->taken_count = count;
    sample->taken_tokens = 0;
    for (uint32_t i = 0; i < sample->count; i++)
        sample->items[i].is_taken = false;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t from = i * sample->count / count;
        uint64_t to = (i + 1) * sample->count / count;
        struct tb_sampled_session *taken =
            &sample->items[from + random_number(seed, i) % (to - from)];
        taken->is_taken = true;
        sample->taken_tokens = sum_of(sample->taken_tokens, taken->tokens);
    }
}

static void sort(struct tb_session_sample *sample,
                 int (*compare)(const void *, const void *))
{
    qsort(sample->items, sample->count, sizeof(*sample->items), compare);
}

void tb_session_sample_draw(struct tb_session_sample *sample, uint64_t seed,
                            uint32_t count)
{
    sort(sample, compare_kinds);
    draw(sample, seed, count);
    sort(sample, compare_places);
}

// floor(a * b / c), b <= c, without a product that does not fit.
static uint64_t part_of(uint64_t a, uint64_t b, uint64_t c)
{
    while (b > UINT32_MAX) {
        b >>= 1;
        c >>= 1;
    }
    return c ? a * b / c : a;
}

bool tb_session_sample_draw_tokens(struct tb_session_sample *sample,
                                   uint64_t seed, uint64_t tokens)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < sample->count; i++)
        all = sum_of(all, sample->items[i].tokens);
    uint64_t count =
        tokens < all ? part_of(sample->count, tokens, all) : sample->count;
    count += count == 0;
    sort(sample, compare_kinds);
    draw(sample, seed, (uint32_t)count);
    while (count > 0 && sample->taken_tokens > tokens) {
        uint64_t fewer = part_of(count, tokens, sample->taken_tokens);
        count = fewer < count ? fewer : count - 1;
        draw(sample, seed, (uint32_t)count);
    }
    sort(sample, compare_places);
    return count > 0;
}

bool tb_session_sample_takes(struct tb_session_sample *sample,
                             const struct tb_mooncake_record *record)
{
    struct tb_span name = name_of(record);
    if (name.len > 0) {
        uint32_t number = tb_name_table_find(&sample->names, name);
        return number != TB_NAME_NONE &&
               sample->items[sample->named[number]].is_taken;
    }
    return sample->next_nameless < sample->nameless_count &&
           sample->items[sample->nameless[sample->next_nameless++]].is_taken;
}

void tb_session_sample_release(struct tb_session_sample *sample)
{
    tb_name_table_release(&sample->names);
    tb_name_table_release(&sample->agents);
    tb_memory_free(sample->items);
    tb_memory_free(sample->named);
    tb_memory_free(sample->nameless);
    *sample = (struct tb_session_sample){0};
}
