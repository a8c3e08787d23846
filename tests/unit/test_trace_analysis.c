/* stats: figures of rows. Examples by hand here, and every allocation fails
 * once; tests/oracle/analyze_oracle.py holds all figures to a second program
 * on random traces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "hash.h"
#include "memory.h"
#include "prefix_ranking.h"
#include "trace_analysis.h"

enum { BLOCK_LEN = 4 };

static void test_tally(void **state)
{
    (void)state;
    struct tb_tally tally = {0};
    assert_int_equal(tb_tally_percentile(&tally, 0.5), 0);
    for (uint64_t i = 1; i <= 100; i++)
        assert_int_equal(tb_tally_add(&tally, 101 - i), TB_OK);
    for (uint64_t i = 1; i <= 100; i++)
        assert_int_equal(tb_tally_add(&tally, i), TB_OK);
    assert_int_equal(tally.count, 200);
    assert_int_equal(tally.value_count, 100);
    assert_true(tb_tally_mean(&tally) == 50.5);
    assert_int_equal(tb_tally_percentile(&tally, 0), 1);
    assert_int_equal(tb_tally_percentile(&tally, 0.5), 50);
    assert_int_equal(tb_tally_percentile(&tally, 0.505), 51);
    assert_int_equal(tb_tally_percentile(&tally, 0.99), 99);
    assert_int_equal(tb_tally_percentile(&tally, 1), 100);
    tb_tally_release(&tally);
}

/* Values near 0 and far, a few and very many: each as often as it came, in
 * order. */
static void test_tally_of_many(void **state)
{
    (void)state;
    enum { NEAR = 5000, FAR = 3000, STEP = 1 << 20 };
    struct tb_tally tally = {0}, merged = {0};
    for (uint64_t round = 1; round <= 2; round++) {
        for (uint64_t i = 0; i < NEAR; i++)
            assert_int_equal(tb_tally_add(&tally, i * 7919 % NEAR), TB_OK);
        for (uint64_t i = 0; i < FAR; i++)
            assert_int_equal(tb_tally_add(&tally, i * 7919 % FAR * STEP),
                             TB_OK);
    }
    assert_true(tally.near_len > 0 && tally.entry_count >= FAR - 1);
    assert_int_equal(tb_tally_merge(&merged, &tally), TB_OK);
    assert_int_equal(tb_tally_merge(&merged, &tally), TB_OK);
    assert_int_equal(merged.count, 4 * (NEAR + FAR));
    assert_int_equal(merged.value_count, NEAR + FAR - 1);
    assert_int_equal(tb_tally_percentile(&merged, 1),
                     (uint64_t)(FAR - 1) * STEP);
    assert_int_equal(tb_tally_percentile(&merged, 0.25), 1998);
    size_t at = 0;
    for (uint64_t i = 0; i < NEAR + FAR - 1; i++) {
        struct tb_tally_entry entry = tb_tally_next(&merged, &at);
        assert_int_equal(entry.value, i < NEAR ? i : (i - NEAR + 1) * STEP);
        assert_int_equal(entry.count, i == 0 ? 8 : 4);
    }
    assert_int_equal(tb_tally_next(&merged, &at).count, 0);
    tb_tally_release(&tally);
    tb_tally_release(&merged);
}

static void test_visitors(void **state)
{
    (void)state;
    struct tb_visitor_set set = {0};
    assert_false(tb_visitor_set_has(&set, 0, 0));
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(tb_visitor_set_add(&set, i % 10, i), TB_OK);
    assert_int_equal(tb_visitor_set_add(&set, 0, 0), TB_OK);
    assert_int_equal(set.count, 1000);
    for (uint32_t i = 0; i < 1000; i++) {
        assert_true(tb_visitor_set_has(&set, i % 10, i));
        assert_false(tb_visitor_set_has(&set, i % 10 + 1, i));
    }
    tb_visitor_set_release(&set);
}

/* Tokens by distance against a plain list, near and far, put together more than
 * once on the way. */
static void test_token_curve(void **state)
{
    (void)state;
    enum { ADDED = 5000, PLACES = 97 };
    // Distances from there on are looked at; the second is far from all.
    static const uint64_t starts[] = {1, (UINT64_C(1) << 20) - 40,
                                      UINT64_C(1) << 31};
    struct tb_token_curve curve = {0};
    uint64_t plain[3][PLACES] = {{0}}, seed = 1, sum = 0;
    for (int i = 0; i < ADDED; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        uint64_t start = seed >> 33 & 1, at = seed >> 40 & 31;
        uint64_t count = seed >> 50 & 63, tokens = seed >> 60;
        start += i % 3 == 2 && start == 1;
        for (uint64_t j = 0; j < count; j++)
            plain[start][at + j] += tokens;
        assert_int_equal(
            tb_token_curve_add(&curve, starts[start] + at, count, tokens),
            TB_OK);
    }
    assert_int_equal(tb_token_curve_finish(&curve), TB_OK);
    assert_int_equal(tb_token_curve_at(&curve, 0), 0);
    for (int start = 0; start < 3; start++) {
        for (uint64_t i = 0; i < PLACES; i++) {
            sum += plain[start][i];
            assert_int_equal(tb_token_curve_at(&curve, starts[start] + i), sum);
        }
    }
    assert_int_equal(tb_token_curve_at(&curve, UINT64_MAX / 2), sum);
    tb_token_curve_release(&curve);
}

/* Ids in a row are kept as the first of them, however large; cut, they are as
 * they were. */
static void test_ids_in_row(void **state)
{
    (void)state;
    static const uint64_t firsts[] = {5, UINT32_MAX - 2, UINT64_MAX - 2};
    struct tb_prefix_tree tree;
    assert_int_equal(tb_prefix_tree_init(&tree, BLOCK_LEN), TB_OK);
    for (size_t i = 0; i < 3; i++) {
        uint64_t ids[6];
        for (uint64_t j = 0; j < 6; j++)
            ids[j] = firsts[i] + j;
        tb_prefix_tree_begin(&tree, TB_PREFIX_ROOT);
        assert_int_equal(tb_prefix_tree_extend(&tree, ids, 6, BLOCK_LEN),
                         TB_OK);
        uint32_t whole = tree.end;
        assert_int_equal(tb_prefix_node_last_id(&tree, whole), firsts[i] + 5);
        // Beginnings of it, each cut off another way.
        for (size_t len = 5; len < 6; len -= 2) {
            tb_prefix_tree_begin(&tree, TB_PREFIX_ROOT);
            assert_int_equal(tb_prefix_tree_extend(&tree, ids, len, BLOCK_LEN),
                             TB_OK);
            assert_int_equal(tree.end, tree.old_end);
            assert_int_equal(tb_prefix_node_last_id(&tree, tree.end),
                             firsts[i] + len - 1);
        }
        tb_prefix_tree_begin(&tree, TB_PREFIX_ROOT);
        assert_int_equal(tb_prefix_tree_extend(&tree, ids, 6, BLOCK_LEN),
                         TB_OK);
        assert_int_equal(tree.end, whole);
    }
    assert_int_equal(tree.block_count, 18);
    assert_true(tree.id_count <= 10); // one for each node that needs it
    tb_prefix_tree_release(&tree);
}

/* Ids that a multiplication by a known number leads to one slot. */
static void test_aimed_ids(void **state)
{
    (void)state;
    enum { COUNT = 10000 };
    const uint64_t factor = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t inverse = factor; // three bits of it are right, then twice as many
    for (int i = 0; i < 5; i++)
        inverse *= 2 - factor * inverse;
    assert_true(inverse * factor == 1);
    struct tb_prefix_tree tree;
    assert_int_equal(tb_prefix_tree_init(&tree, BLOCK_LEN), TB_OK);
    for (uint64_t i = 0; i < COUNT; i++) {
        uint64_t id = (i << 46) * inverse;
        tb_prefix_tree_begin(&tree, TB_PREFIX_ROOT);
        assert_int_equal(tb_prefix_tree_extend(&tree, &id, 1, 1), TB_OK);
    }
    assert_int_equal(tree.node_count, COUNT + 1);
    size_t run = 0, longest = 0;
    for (size_t i = 0; i < tree.child_slots; i++) {
        run = tree.children[i] ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    assert_true(longest < COUNT / 10);
    assert_true(tb_hash_secret() != tb_hash_secret());
    tb_prefix_tree_release(&tree);
}

static void test_turn_groups(void **state)
{
    (void)state;
    static const uint64_t ranges[][2] = {{1, 1}, {2, 2}, {3, 4}, {5, 8}};
    for (size_t i = 0; i < 4; i++) {
        uint64_t first, last;
        tb_turn_group_range(i, &first, &last);
        assert_int_equal(first, ranges[i][0]);
        assert_int_equal(last, ranges[i][1]);
    }
}

/* ---- traces ----------------------------------------------------------------
 */

static const uint64_t first_ids[] = {1, 2, 3}, second_ids[] = {1, 2, 4, 5},
                      third_ids[] = {1, 6}, delta_ids[] = {7, 8};

static struct tb_trace_row row_of(const char *session, const char *agent,
                                  uint64_t length, const uint64_t *ids,
                                  size_t count)
{
    return (struct tb_trace_row){.session = tb_span_of(session),
                                 .agent = tb_span_of(agent),
                                 .input_length = length,
                                 .has_output = true,
                                 .output_length = 6,
                                 .ids = ids,
                                 .id_count = count};
}

/* a: 1 2 3', a: 1 2 4 5', b: 1 6', a again: 1 2 3'. */
static tb_status add_whole(struct tb_trace_analysis *analysis)
{
    struct tb_trace_row rows[] = {
        row_of("a", "x", 10, first_ids, 3), row_of("a", "x", 14, second_ids, 4),
        row_of("b", "y", 7, third_ids, 2), row_of("a", "y", 10, first_ids, 3)};
    rows[1].has_delay = rows[3].has_delay = true;
    rows[1].delay_ms = 1.5;
    rows[3].delay_ms = -1;
    rows[0].has_time = rows[2].has_time = rows[3].has_time = true;
    rows[3].time_ms = 1000;
    for (size_t i = 0; i < 4; i++)
        TB_TRY(tb_trace_analysis_add(analysis, &rows[i]));
    return tb_trace_analysis_finish(analysis);
}

static void test_whole(void **state)
{
    (void)state;
    static const uint32_t multiples[] = {2};
    struct tb_trace_analysis analysis;
    assert_int_equal(
        tb_trace_analysis_init(&analysis, BLOCK_LEN, false, multiples, 1),
        TB_OK);
    assert_int_equal(add_whole(&analysis), TB_OK);
    const struct tb_prefix_cache *cache = &analysis.caches[0].cache;
    assert_int_equal(cache->prompt_tokens, 41);
    assert_int_equal(cache->tree.block_count, 6);
    // Row 2 has 1 2 of its session; row 3 has 1 of another agent; row 4 all.
    assert_int_equal(cache->session_tokens, 8 + 10);
    assert_int_equal(cache->agent_tokens, 0);
    assert_int_equal(cache->other_tokens, 4);
    // In the order of last use before row 3: 1 2 4 5 3; before row 4:
    // 1 6 2 4 5 3.
    assert_int_equal(tb_stack_distance_served(&cache->stack, 1), 4 + 4 + 4);
    assert_int_equal(tb_stack_distance_served(&cache->stack, 2), 8 + 4 + 4);
    assert_int_equal(tb_stack_distance_served(&cache->stack, 3), 8 + 4 + 8);
    assert_int_equal(tb_stack_distance_served(&cache->stack, 5), 8 + 4 + 8);
    assert_int_equal(tb_stack_distance_served(&cache->stack, 6), 8 + 4 + 10);
    assert_int_equal(tb_stack_distance_served(&cache->stack, 99), 22);
    assert_int_equal(tb_stack_distance_needed(&cache->stack, 0), 0);
    assert_int_equal(tb_stack_distance_needed(&cache->stack, 12), 1);
    assert_int_equal(tb_stack_distance_needed(&cache->stack, 13), 2);
    assert_int_equal(tb_stack_distance_needed(&cache->stack, 22), 6);
    // In blocks of 8: 12 3', 12 45', 16', 12 3'.
    cache = &analysis.caches[1].cache;
    assert_int_equal(tb_prefix_cache_served(cache), 8 + 0 + 10);
    assert_int_equal(cache->tree.block_count, 4);
    assert_int_equal(analysis.session_count, 2);
    assert_int_equal(analysis.delays.count, 1);
    assert_int_equal(analysis.negative_count, 1);
    assert_int_equal(tb_tally_percentile(&analysis.delays, 1), 2);
    assert_int_equal(tb_tally_percentile(&analysis.intervals, 1), 1000);
    tb_trace_analysis_release(&analysis);
}

static void test_ranking(void **state)
{
    (void)state;
    struct tb_trace_analysis analysis;
    struct tb_shared_prefix prefixes[2];
    assert_int_equal(
        tb_trace_analysis_init(&analysis, BLOCK_LEN, false, NULL, 0), TB_OK);
    assert_int_equal(add_whole(&analysis), TB_OK);
    const struct tb_prefix_tree *tree = &analysis.caches[0].cache.tree;
    // 1 2 has one session only.
    assert_int_equal(tb_prefix_ranking(tree, prefixes, 2), 1);
    assert_int_equal(prefixes[0].rows, 4);
    assert_int_equal(prefixes[0].saved_tokens, 12);
    assert_int_equal(prefixes[0].last_id, 1);
    assert_int_equal(prefixes[0].first_row, 0);
    tb_trace_analysis_release(&analysis);
}

/* Two sessions with the same first row and answer: the third row goes on as
 * the second did. */
static tb_status add_delta(struct tb_trace_analysis *analysis)
{
    const struct tb_trace_row rows[] = {
        row_of("a", "", 10, first_ids, 3), row_of("a", "", 5, delta_ids, 2),
        row_of("b", "", 10, first_ids, 3), row_of("b", "", 5, delta_ids, 2)};
    for (size_t i = 0; i < 4; i++)
        TB_TRY(tb_trace_analysis_add(analysis, &rows[i]));
    return tb_trace_analysis_finish(analysis);
}

static void test_delta(void **state)
{
    (void)state;
    struct tb_trace_analysis analysis;
    assert_int_equal(
        tb_trace_analysis_init(&analysis, BLOCK_LEN, true, NULL, 0), TB_OK);
    assert_int_equal(add_delta(&analysis), TB_OK);
    const struct tb_prefix_cache *cache = &analysis.caches[0].cache;
    // 10, 10 + 6 + 5, twice; the answer's two blocks come with turn 2.
    assert_int_equal(cache->prompt_tokens, 62);
    assert_int_equal(cache->tree.block_count, 3 + 2 + 2);
    assert_int_equal(cache->session_tokens, 10 + 10);
    assert_int_equal(cache->agent_tokens, 10 + 11);
    assert_int_equal(tb_tally_percentile(&analysis.all.prompt, 1), 21);
    assert_int_equal(tb_tally_percentile(&analysis.all.fresh, 0), 0);
    tb_trace_analysis_release(&analysis);
}

/* Rows that do not fit the block size: ids too few, too many, none. */
static void test_unfit(void **state)
{
    (void)state;
    struct tb_trace_analysis analysis;
    const struct tb_trace_row rows[] = {
        row_of("", "", 99, first_ids, 3), row_of("", "", 99, first_ids, 3),
        row_of("", "", 5, first_ids, 3), row_of("", "", 5, NULL, 0)};
    assert_int_equal(
        tb_trace_analysis_init(&analysis, BLOCK_LEN, false, NULL, 0), TB_OK);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(tb_trace_analysis_add(&analysis, &rows[i]), TB_OK);
    assert_int_equal(tb_trace_analysis_finish(&analysis), TB_OK);
    assert_int_equal(analysis.unfit_count, 3);
    assert_int_equal(analysis.idless_count, 1);
    assert_int_equal(analysis.session_count, 4);
    assert_int_equal(tb_prefix_cache_served(&analysis.caches[0].cache), 12 + 5);
    tb_trace_analysis_release(&analysis);
}

static tb_status analyze(bool is_delta)
{
    static const uint32_t multiples[] = {2, 3};
    struct tb_trace_analysis analysis;
    tb_status status =
        tb_trace_analysis_init(&analysis, BLOCK_LEN, is_delta, multiples, 2);
    if (status == TB_OK)
        status = is_delta ? add_delta(&analysis) : add_whole(&analysis);
    tb_trace_analysis_release(&analysis);
    return status;
}

static tb_status check(bool is_delta, uint64_t input, uint64_t output)
{
    struct tb_trace_analysis analysis;
    struct tb_trace_row row = {.session = TB_SPAN("a"),
                               .has_output = true,
                               .input_length = 7,
                               .output_length = 3};
    assert_int_equal(
        tb_trace_analysis_init(&analysis, 1 << 10, is_delta, NULL, 0), TB_OK);
    assert_int_equal(tb_trace_analysis_check(&analysis, &row, NULL), TB_OK);
    assert_int_equal(tb_trace_analysis_add(&analysis, &row), TB_OK);
    row.input_length = input;
    row.output_length = output;
    tb_status status = tb_trace_analysis_check(&analysis, &row, NULL);
    tb_trace_analysis_release(&analysis);
    return status;
}

static void test_beyond_limits(void **state)
{
    (void)state;
    const uint64_t most = TB_TRACE_LENGTH_MAX;
    assert_int_equal(check(false, most, most), TB_OK);
    assert_int_equal(check(false, most + 1, 0), TB_ERR_LIMIT);
    assert_int_equal(check(false, 0, most + 1), TB_ERR_LIMIT);
    // 10 tokens are there before; no row holds ids.
    assert_int_equal(check(true, most - 10, 0), TB_OK);
    assert_int_equal(check(true, most - 9, 0), TB_ERR_LIMIT);
    assert_int_equal(check(true, UINT64_MAX, 0), TB_ERR_LIMIT);
}

static void test_every_allocation_fails(void **state)
{
    (void)state;
    for (int is_delta = 0; is_delta < 2; is_delta++) {
        tb_status status = TB_ERR_MEMORY;
        long count = 0;
        for (; status == TB_ERR_MEMORY && count < 10000; count++) {
            tb_memory_fail_after(count);
            status = analyze(is_delta);
            tb_memory_fail_after(-1);
        }
        assert_int_equal(status, TB_OK);
        assert_true(count > 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tally),
        cmocka_unit_test(test_tally_of_many),
        cmocka_unit_test(test_visitors),
        cmocka_unit_test(test_token_curve),
        cmocka_unit_test(test_ids_in_row),
        cmocka_unit_test(test_aimed_ids),
        cmocka_unit_test(test_turn_groups),
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_ranking),
        cmocka_unit_test(test_delta),
        cmocka_unit_test(test_unfit),
        cmocka_unit_test(test_beyond_limits),
        cmocka_unit_test(test_every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
