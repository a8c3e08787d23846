/* rows: numbers for more blocks than fit into memory, held to a plain list, and
 * the order of sessions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "block_numbering.h"
#include "block_set.h"
#include "first_map.h"
#include "memory.h"
#include "session_name.h"

enum { ROWS = 300, IDS_MAX = 40, BLOCKS_MAX = ROWS * IDS_MAX };

struct row {
    uint64_t ids[IDS_MAX];
    size_t count;
};

static uint64_t next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return *state >> 33;
}

/* Rows that begin like earlier ones, of few ids (so that one id stands behind
 * many others) or of many. */
static void make_rows(struct row *rows, uint64_t seed, uint64_t ids)
{
    for (size_t i = 0; i < ROWS; i++) {
        struct row *row = &rows[i];
        row->count = next(&seed) % IDS_MAX;
        const struct row *base = i ? &rows[next(&seed) % i] : NULL;
        size_t kept = base ? next(&seed) % (base->count + 1) : 0;
        for (size_t k = 0; k < row->count; k++)
            row->ids[k] =
                k < kept
                    ? base->ids[k]
                    : next(&seed) % ids * UINT64_C(0x4F1BBCDCBFA53E0B) >> 1;
    }
}

// By first appearance of a block: its id and the one before it.
static void number_plainly(const struct row *rows, uint64_t *numbers,
                           uint64_t *count)
{
    static uint64_t known[BLOCKS_MAX][2];
    *count = 0;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t k = 0; k < rows[i].count; k++) {
            uint64_t before = k ? rows[i].ids[k - 1] : TB_NO_BLOCK;
            uint64_t at = 0;
            while (at < *count &&
                   (known[at][0] != rows[i].ids[k] || known[at][1] != before))
                at++;
            if (at == *count) {
                known[at][0] = rows[i].ids[k];
                known[(*count)++][1] = before;
            }
            *numbers++ = at;
        }
}

static tb_status number(const struct row *rows, size_t memory,
                        uint64_t *numbers, uint64_t *count, uint64_t *parts)
{
    struct tb_block_numbering *numbering = NULL;
    struct tb_error error;
    tb_status status = tb_block_numbering_new(memory, NULL, &numbering);
    for (size_t i = 0; i < ROWS && status == TB_OK; i++)
        status = tb_block_numbering_see(numbering, rows[i].ids, rows[i].count,
                                        &error);
    if (status == TB_OK)
        status = tb_block_numbering_settle(numbering, &error);
    for (size_t i = 0; i < ROWS && status == TB_OK; i++) {
        status = tb_block_numbering_take(numbering, rows[i].ids, rows[i].count,
                                         numbers, &error);
        numbers += rows[i].count;
    }
    if (status == TB_OK) {
        *count = tb_block_numbering_count(numbering);
        *parts = tb_block_numbering_parts(numbering);
    }
    tb_block_numbering_free(numbering);
    return status;
}

static void test_numbers_do_not_depend_on_memory(void **state)
{
    (void)state;
    static struct row rows[ROWS];
    static uint64_t wanted[BLOCKS_MAX], found[BLOCKS_MAX];
    const uint64_t ids[] = {1, 3, 40, 1000, 100000};
    const size_t memory[] = {1 << 11, 1 << 13, 1 << 15, 1 << 17, 1 << 20};
    uint64_t most_parts = 0;
    for (size_t i = 0; i < 5; i++) {
        uint64_t wanted_count, count, parts;
        make_rows(rows, i, ids[i]);
        number_plainly(rows, wanted, &wanted_count);
        for (size_t k = 0; k < 5; k++) {
            assert_int_equal(number(rows, memory[k], found, &count, &parts),
                             TB_OK);
            assert_int_equal(count, wanted_count);
            assert_memory_equal(found, wanted, sizeof(found));
            if (parts > most_parts)
                most_parts = parts;
        }
        assert_int_equal(parts, 1); // all in memory
    }
    assert_true(most_parts > 100);
}

static void test_a_row_beyond_memory_is_refused(void **state)
{
    (void)state;
    struct tb_block_numbering *numbering;
    struct tb_error error = {0};
    static uint64_t ids[1000];
    assert_int_equal(tb_block_numbering_new(1 << 10, NULL, &numbering), TB_OK);
    assert_int_equal(tb_block_numbering_see(numbering, ids, 1000, &error),
                     TB_ERR_LIMIT);
    tb_block_numbering_free(numbering);
}

static void test_other_rows_the_second_time_are_seen(void **state)
{
    (void)state;
    const uint64_t ids[] = {1, 2, 3}, others[] = {1, 2, 4};
    uint64_t numbers[3];
    struct tb_block_numbering *numbering;
    struct tb_error error = {0};
    assert_int_equal(tb_block_numbering_new(1 << 10, NULL, &numbering), TB_OK);
    assert_int_equal(tb_block_numbering_see(numbering, ids, 3, &error), TB_OK);
    assert_int_equal(tb_block_numbering_settle(numbering, &error), TB_OK);
    assert_int_equal(
        tb_block_numbering_take(numbering, others, 3, numbers, &error),
        TB_ERR_VALUE);
    tb_block_numbering_free(numbering);
}

static void test_every_allocation_fails_once(void **state)
{
    (void)state;
    static struct row rows[ROWS];
    static uint64_t found[BLOCKS_MAX];
    uint64_t count, parts;
    make_rows(rows, 7, 1000);
    for (long requests = 0;; requests++) {
        tb_memory_fail_after(requests);
        tb_status status = number(rows, 1 << 15, found, &count, &parts);
        tb_memory_fail_after(-1);
        if (status == TB_OK)
            break;
        assert_int_equal(status, TB_ERR_MEMORY);
        assert_true(requests < 10000);
    }
}

static void test_sets_are_sorted_whatever_they_hold(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    for (uint64_t kind = 0; kind < 4; kind++) {
        struct tb_block_set set;
        uint64_t seed = kind;
        uint32_t number_in_set;
        tb_block_set_init(&set, COUNT);
        for (uint32_t i = 0; i < COUNT; i++) {
            uint64_t id = kind == 0   ? next(&seed) << 30 ^ next(&seed)
                          : kind == 1 ? 7
                          : kind == 2 ? i
                                      : UINT64_MAX - i % 3;
            uint64_t before = kind == 0 ? 0 : COUNT - i;
            assert_int_equal(tb_block_set_add(&set, before, id, &number_in_set),
                             TB_OK);
        }
        tb_block_set_sort(&set);
        for (uint32_t i = 1; i < set.count; i++)
            assert_true(tb_block_entry_compare(&set.entries[i - 1],
                                               &set.entries[i]) < 0);
        tb_block_set_release(&set);
    }
}

static void test_a_full_set_takes_what_it_has(void **state)
{
    (void)state;
    struct tb_block_set set;
    uint32_t number_in_set;
    tb_block_set_init(&set, 2);
    assert_int_equal(tb_block_set_add(&set, 0, 1, &number_in_set), TB_OK);
    assert_int_equal(tb_block_set_add(&set, 0, 2, &number_in_set), TB_OK);
    assert_int_equal(tb_block_set_add(&set, 0, 3, &number_in_set),
                     TB_ERR_LIMIT);
    assert_int_equal(tb_block_set_add(&set, 0, 1, &number_in_set), TB_OK);
    assert_int_equal(number_in_set, 0);
    tb_block_set_release(&set);
}

static void test_first_places_are_counted(void **state)
{
    (void)state;
    enum { PLACES = 2000 };
    struct tb_first_map map;
    uint64_t seed = 1, count = 0;
    uint64_t before[PLACES];
    assert_int_equal(tb_first_map_init(&map, PLACES), TB_OK);
    for (uint64_t i = 0; i < PLACES; i++) {
        before[i] = count;
        if (next(&seed) % 3 == 0) {
            tb_first_map_set(&map, i);
            count++;
        }
    }
    assert_int_equal(tb_first_map_count(&map), count);
    for (uint64_t i = 0; i < PLACES; i++)
        assert_int_equal(tb_first_map_before(&map, i), before[i]);
    tb_first_map_release(&map);
}

static void test_sessions_are_in_order(void **state)
{
    (void)state;
    // Each before the next.
    const char *const by_number[] = {
        "",
        "a",
        "a/conv_0",
        "a/conv_9",
        "a/conv_10",
        "b/conv_2",
        "conv_0",
        "conv_00",
        "conv_0#2",
        "conv_1",
        "conv_1.2",
        "conv_01x",
        "conv_1x",
        "conv_99999999999999999999",
        "conv_100000000000000000000",
        "x",
    };
    const char *const by_bytes[] = {"", "conv_10", "conv_9", "session"};
    const size_t number_count = sizeof(by_number) / sizeof(by_number[0]);
    for (size_t i = 0; i < number_count; i++)
        for (size_t k = 0; k < number_count; k++) {
            int order = tb_session_name_compare(tb_span_of(by_number[i]),
                                                tb_span_of(by_number[k]),
                                                TB_SESSIONS_BY_NUMBER);
            if ((order < 0) != (i < k) || (order == 0) != (i == k))
                fail_msg("'%s' and '%s'", by_number[i], by_number[k]);
        }
    for (size_t i = 1; i < 4; i++)
        assert_true(tb_session_name_compare(tb_span_of(by_bytes[i - 1]),
                                            tb_span_of(by_bytes[i]),
                                            TB_SESSIONS_BY_BYTES) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_do_not_depend_on_memory),
        cmocka_unit_test(test_a_row_beyond_memory_is_refused),
        cmocka_unit_test(test_other_rows_the_second_time_are_seen),
        cmocka_unit_test(test_every_allocation_fails_once),
        cmocka_unit_test(test_sets_are_sorted_whatever_they_hold),
        cmocka_unit_test(test_a_full_set_takes_what_it_has),
        cmocka_unit_test(test_first_places_are_counted),
        cmocka_unit_test(test_sessions_are_in_order),
    };
    return cmocka_run_group_tests_name("row_merge", tests, NULL, NULL);
}
