/* block: identities of blocks, and their numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "block_table.h"
#include "memory.h"

static bool is_equal(struct tb_hash128 a, struct tb_hash128 b)
{
    return a.low == b.low && a.high == b.high;
}

static uint64_t number_of(struct tb_block_table *table, struct tb_hash128 block)
{
    uint64_t number, count = table->count;
    bool is_new;
    assert_int_equal(tb_block_table_add(table, block, &number, &is_new), TB_OK);
    assert_int_equal(is_new, number == count);
    assert_int_equal(table->count, count + is_new);
    return number;
}

static void test_identity_is_parent_and_tokens(void **state)
{
    (void)state;
    const uint32_t tokens[] = {1, 2, 3, 4};
    const uint32_t other[] = {1, 2, 3, 5};
    struct tb_hash128 first = tb_block_hash(TB_BLOCK_ROOT, tokens, 4);
    assert_true(is_equal(first, tb_block_hash(TB_BLOCK_ROOT, tokens, 4)));
    assert_false(is_equal(first, tb_block_hash(TB_BLOCK_ROOT, other, 4)));
    assert_false(is_equal(first, tb_block_hash(first, tokens, 4)));
    assert_false(is_equal(first, TB_BLOCK_ROOT));
}

static void test_a_part_of_a_block_is_another_block(void **state)
{
    (void)state;
    const uint32_t tokens[8] = {0};
    struct tb_block_table table = {0};
    for (size_t count = 1; count <= 8; count++)
        assert_int_equal(
            number_of(&table, tb_block_hash(TB_BLOCK_ROOT, tokens, count)),
            count - 1);
    // Two blocks of four are not one of eight.
    struct tb_hash128 half = tb_block_hash(TB_BLOCK_ROOT, tokens, 4);
    assert_int_equal(number_of(&table, tb_block_hash(half, tokens, 4)), 8);
    tb_block_table_release(&table);
}

static void test_numbers_go_by_first_appearance(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    struct tb_block_table table = {0};
    struct tb_hash128 chain = TB_BLOCK_ROOT;
    for (uint32_t i = 0; i < COUNT; i++) {
        chain = tb_block_hash(chain, &i, 1);
        assert_int_equal(number_of(&table, chain), i);
        assert_int_equal(number_of(&table, chain), i);
    }
    chain = TB_BLOCK_ROOT;
    for (uint32_t i = 0; i < COUNT; i++) {
        chain = tb_block_hash(chain, &i, 1);
        assert_int_equal(number_of(&table, chain), i);
    }
    assert_int_equal(table.count, COUNT);
    tb_block_table_release(&table);
    assert_int_equal(table.count, 0);
}

static void test_blocks_that_fall_on_the_same_slot(void **state)
{
    (void)state;
    struct tb_block_table table = {0};
    for (uint64_t i = 0; i < 700; i++)
        assert_int_equal(number_of(&table, (struct tb_hash128){1023, i}), i);
    for (uint64_t i = 0; i < 700; i++)
        assert_int_equal(number_of(&table, (struct tb_hash128){1023, i}), i);
    tb_block_table_release(&table);
}

static void test_out_of_memory_leaves_the_table_as_it_was(void **state)
{
    (void)state;
    struct tb_block_table table = {0};
    uint64_t number;
    bool is_new;
    for (uint64_t i = 0; i < 3000; i++) {
        struct tb_hash128 block = {i * 0x9E3779B97F4A7C15u, i};
        tb_memory_fail_after(0);
        tb_status status = tb_block_table_add(&table, block, &number, &is_new);
        tb_memory_fail_after(-1);
        assert_true(status == TB_OK || status == TB_ERR_MEMORY);
        assert_int_equal(table.count, status == TB_OK ? i + 1 : i);
        assert_int_equal(number_of(&table, block), i);
    }
    tb_block_table_release(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_identity_is_parent_and_tokens),
        cmocka_unit_test(test_a_part_of_a_block_is_another_block),
        cmocka_unit_test(test_numbers_go_by_first_appearance),
        cmocka_unit_test(test_blocks_that_fall_on_the_same_slot),
        cmocka_unit_test(test_out_of_memory_leaves_the_table_as_it_was),
    };
    return cmocka_run_group_tests_name("block", tests, NULL, NULL);
}
