/* stats: what caches of each size serve, held to a plain list of blocks in the
 * order of their last use. Sessions follow each other for some turns, overtake
 * each other and go their own ways, which the random traces of
 * tests/oracle/analyze_oracle.py seldom do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "trace_analysis.h"

enum {
    BLOCK_LEN = 4,
    ROWS = 500,
    SESSIONS = 8,
    TURNS_MAX = 24,
    PIECE_MAX = 3, // blocks of a row, as of an answer
    PROMPT_MAX = 2 * PIECE_MAX * TURNS_MAX,
    BLOCKS_MAX = 2 * PIECE_MAX * ROWS
};

/* ---- the plain list ------------------------------------------------------ */

struct block {
    uint32_t parent;
    uint64_t what;
    uint32_t tokens;
};

static struct model {
    struct block blocks[BLOCKS_MAX + 1]; // the first stands for none
    uint32_t count;
    uint32_t used[BLOCKS_MAX]; // the one used last first
    uint32_t used_count;
    uint64_t served[BLOCKS_MAX + 1]; // tokens, by distance
} model;

static uint32_t block_of(uint32_t parent, uint64_t what, uint32_t tokens)
{
    for (uint32_t i = 1; i <= model.count; i++)
        if (model.blocks[i].parent == parent && model.blocks[i].what == what)
            return i;
    assert_true(model.count < BLOCKS_MAX);
    model.blocks[++model.count] = (struct block){parent, what, tokens};
    return model.count;
}

static uint32_t place_of(uint32_t block)
{
    uint32_t place = 0;
    while (place < model.used_count && model.used[place] != block)
        place++;
    return place;
}

static void use(uint32_t block)
{
    uint32_t place = place_of(block);
    model.used_count += place == model.used_count;
    memmove(&model.used[1], &model.used[0], place * sizeof(*model.used));
    model.used[0] = block;
}

static void send_prompt(const uint32_t *blocks, uint32_t count)
{
    uint32_t needed = 0; // by the cache that has all up to here
    for (uint32_t i = 0; i < count; i++) {
        uint32_t place = place_of(blocks[i]);
        if (place == model.used_count)
            break;
        needed = place + 1 > needed ? place + 1 : needed;
        model.served[needed] += model.blocks[blocks[i]].tokens;
    }
    while (count > 0)
        use(blocks[--count]);
}

static void compare(struct tb_trace_analysis *analysis)
{
    uint64_t sum = 0;
    assert_int_equal(tb_trace_analysis_finish(analysis), TB_OK);
    const struct tb_stack_distance *stack = &analysis->caches[0].cache.stack;
    for (uint32_t size = 1; size <= model.used_count; size++) {
        sum += model.served[size];
        assert_int_equal(tb_stack_distance_served(stack, size), sum);
    }
    assert_int_equal(tb_prefix_cache_served(&analysis->caches[0].cache), sum);
    assert_int_equal(analysis->caches[0].cache.tree.block_count,
                     model.used_count);
}

/* ---- sessions ------------------------------------------------------------ */

struct turn {
    uint64_t ids[PIECE_MAX];
    uint32_t id_count, tail_len, output;
};

struct session {
    uint32_t name, turn_count, followed_count;
    struct turn turns[TURNS_MAX]; // done, and to be done as another did
    uint32_t blocks[PROMPT_MAX];
    uint32_t block_count;
};

static uint64_t seed;

static uint32_t pick(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(seed >> 33) % below;
}

/* Ids of few kinds, so that sessions meet; a last block that is not full is
 * another one. */
static struct turn make_turn(void)
{
    struct turn turn = {.id_count = pick(PIECE_MAX + 1),
                        .tail_len = 1 + pick(BLOCK_LEN),
                        .output = pick(3) * BLOCK_LEN - pick(2)};
    if (turn.output > 2 * BLOCK_LEN)
        turn.output = 0;
    for (uint32_t i = 0; i < turn.id_count; i++)
        turn.ids[i] = pick(10) ? 7 + i + 10 * pick(2) : UINT64_MAX - pick(3);
    if (turn.id_count == 0)
        turn.tail_len = BLOCK_LEN;
    else if (turn.tail_len < BLOCK_LEN)
        turn.ids[turn.id_count - 1] = 100 + turn.tail_len;
    return turn;
}

static void start(struct session *sessions, struct session *session,
                  uint32_t name)
{
    const struct session *other = &sessions[pick(SESSIONS)];
    uint32_t count = pick(3) ? other->turn_count : 0;
    memmove(session->turns, other->turns, sizeof(session->turns));
    session->name = name;
    session->turn_count = session->block_count = 0;
    session->followed_count = count ? pick(count + 1) : 0;
}

static const struct turn *next_turn(struct session *session)
{
    struct turn *turn = &session->turns[session->turn_count++];
    if (session->turn_count > session->followed_count)
        *turn = make_turn();
    return turn;
}

static void add_blocks(struct session *session, const uint64_t *whats,
                       uint32_t count, uint32_t tail_len)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t parent = session->block_count
                              ? session->blocks[session->block_count - 1]
                              : 0;
        session->blocks[session->block_count++] =
            block_of(parent, whats[i], i + 1 < count ? BLOCK_LEN : tail_len);
    }
}

static void add_answer(struct session *session, uint32_t tokens)
{
    uint64_t whats[PIECE_MAX];
    uint32_t count = (tokens + BLOCK_LEN - 1) / BLOCK_LEN;
    for (uint32_t i = 0; i < count; i++)
        whats[i] = 1000 + 10 * tokens + i;
    if (count > 0)
        add_blocks(session, whats, count, tokens - (count - 1) * BLOCK_LEN);
}

static void add_increment(struct tb_trace_analysis *analysis,
                          struct session *session)
{
    char name[16];
    uint32_t before = session->turn_count;
    if (before > 0)
        add_answer(session, session->turns[before - 1].output);
    const struct turn *turn = next_turn(session);
    add_blocks(session, turn->ids, turn->id_count, turn->tail_len);
    (void)snprintf(name, sizeof(name), "s%u", session->name);
    struct tb_trace_row row = {
        .session = tb_span_of(name),
        .has_output = true,
        .output_length = turn->output,
        .input_length = turn->id_count ? (turn->id_count - 1) * BLOCK_LEN +
                                             (uint64_t)turn->tail_len
                                       : 0,
        .ids = turn->ids,
        .id_count = turn->id_count};
    assert_int_equal(tb_trace_analysis_add(analysis, &row), TB_OK);
    send_prompt(session->blocks, session->block_count);
}

// The same turns as whole rows, of full blocks; some take a step back.
static void add_whole(struct tb_trace_analysis *analysis,
                      struct session *session)
{
    uint64_t ids[PROMPT_MAX];
    const struct turn *turn = next_turn(session);
    if (session->block_count > 0 && turn->output == 0)
        session->block_count--;
    add_blocks(session, turn->ids, turn->id_count, BLOCK_LEN);
    for (uint32_t i = 0; i < session->block_count; i++)
        ids[i] = model.blocks[session->blocks[i]].what;
    struct tb_trace_row row = {.input_length = session->block_count * BLOCK_LEN,
                               .ids = ids,
                               .id_count = session->block_count};
    assert_int_equal(tb_trace_analysis_add(analysis, &row), TB_OK);
    send_prompt(session->blocks, session->block_count);
}

static void check(bool is_delta, uint64_t first_seed)
{
    static struct session sessions[SESSIONS];
    struct tb_trace_analysis analysis;
    memset(sessions, 0, sizeof(sessions));
    memset(&model, 0, sizeof(model));
    seed = first_seed;
    assert_int_equal(
        tb_trace_analysis_init(&analysis, BLOCK_LEN, is_delta, NULL, 0), TB_OK);
    for (uint32_t i = 0; i < SESSIONS; i++)
        start(sessions, &sessions[i], i);
    for (uint32_t i = 0; i < ROWS; i++) {
        struct session *session = &sessions[pick(SESSIONS)];
        if (session->turn_count == TURNS_MAX || pick(25) == 0)
            start(sessions, session, SESSIONS + i);
        if (is_delta)
            add_increment(&analysis, session);
        else
            add_whole(&analysis, session);
    }
    compare(&analysis);
    tb_trace_analysis_release(&analysis);
}

static void test_whole(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 40; i++)
        check(false, i);
}

static void test_increments(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 40; i++)
        check(true, i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole),
                                       cmocka_unit_test(test_increments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
