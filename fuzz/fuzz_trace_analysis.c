/* Proves: whatever rows say (ids out of place, lengths that do not fit, any
 * mix of sessions), figures end, no more is served than is asked for, a larger
 * cache serves no less, and one that holds all serves what one without limits
 * does. */
#include "fuzz.h"

#include "prefix_ranking.h"
#include "trace_analysis.h"

enum { IDS_MAX = 16 };

static struct tb_span name_of(uint32_t choice)
{
    static const char *const names[] = {"", "a", "b", "c"};
    return tb_span_of(names[choice % 4]);
}

static void add_row(struct tb_trace_analysis *analysis, const uint8_t **data,
                    size_t *size)
{
    uint64_t ids[IDS_MAX];
    uint32_t choice = fuzz_take(data, size, 1);
    struct tb_trace_row row = {.session = name_of(choice),
                               .agent = name_of(choice >> 2),
                               .has_output = choice >> 4 & 1,
                               .output_length = choice >> 5,
                               .ids = ids};
    row.input_length = fuzz_take(data, size, 1);
    row.id_count = fuzz_take(data, size, 1) % (IDS_MAX + 1);
    for (size_t i = 0; i < row.id_count; i++)
        ids[i] = fuzz_take(data, size, 1) % 8;
    FUZZ_CHECK(tb_trace_analysis_add(analysis, &row) == TB_OK);
}

static void check_cache(const struct tb_prefix_cache *cache)
{
    uint64_t all = tb_prefix_cache_served(cache), before = 0;
    FUZZ_CHECK(all <= cache->prompt_tokens);
    for (uint64_t blocks = 1; blocks <= cache->stack.max_distance; blocks++) {
        uint64_t served = tb_stack_distance_served(&cache->stack, blocks);
        FUZZ_CHECK(served >= before && served <= all);
        before = served;
    }
    FUZZ_CHECK(before == all);
    FUZZ_CHECK(cache->stack.max_distance <= cache->tree.block_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t multiples[] = {2, 3};
    struct tb_trace_analysis analysis;
    struct tb_shared_prefix prefixes[3];
    uint32_t choice = fuzz_take(&data, &size, 1);
    FUZZ_CHECK(tb_trace_analysis_init(&analysis, 1 + choice / 2 % 8, choice & 1,
                                      multiples, 2) == TB_OK);
    while (size > 0)
        add_row(&analysis, &data, &size);
    FUZZ_CHECK(tb_trace_analysis_finish(&analysis) == TB_OK);
    for (size_t i = 0; i < analysis.cache_count; i++) {
        const struct tb_prefix_cache *cache = &analysis.caches[i].cache;
        check_cache(cache);
        FUZZ_CHECK(tb_prefix_ranking(&cache->tree, prefixes, 3) <= 3);
    }
    tb_trace_analysis_release(&analysis);
    return 0;
}
