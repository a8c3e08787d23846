/* base: the pool of workers, which must give jobs back in order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "memory.h"
#include "pool.h"

enum { JOB_COUNT = 400, WORKERS_MAX = 8 };

struct job {
    unsigned number;
    unsigned delay; /* how long it takes, in no unit */
    unsigned result;
    bool is_done;
};

struct context {
    unsigned worker_count;
    atomic_bool is_busy[WORKERS_MAX];
    atomic_uint bad_count; /* what must not happen, seen from a worker */
};

static void work(void *argument, unsigned worker, void *item)
{
    struct context *context = argument;
    struct job *job = item;
    if (worker >= context->worker_count ||
        atomic_exchange(&context->is_busy[worker], true)) {
        atomic_fetch_add(&context->bad_count, 1);
        return;
    }
    for (unsigned i = 0; i < job->delay % 7; i++)
        sched_yield();
    if (job->delay % 23 == 0)
        nanosleep(&(struct timespec){0, 300000}, NULL);
    job->result = job->number * 3 + 1;
    job->is_done = true;
    atomic_store(&context->is_busy[worker], false);
}

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void check_taken(struct tb_pool *pool, unsigned *taken)
{
    const struct job *job = tb_pool_take(pool);
    assert_int_equal(job->number, *taken);
    assert_true(job->is_done);
    assert_int_equal(job->result, *taken * 3 + 1);
    (*taken)++;
}

static void run_jobs(unsigned worker_count, unsigned seed)
{
    struct context context = {.worker_count = worker_count};
    struct job jobs[JOB_COUNT] = {0};
    struct tb_pool *pool;
    unsigned taken = 0;
    assert_int_equal(tb_pool_new(worker_count, work, &context, &pool), TB_OK);
    for (unsigned i = 0; i < JOB_COUNT; i++) {
        jobs[i] = (struct job){.number = i, .delay = next_random(&seed)};
        while (tb_pool_count(pool) == tb_pool_capacity(pool))
            check_taken(pool, &taken);
        tb_pool_submit(pool, &jobs[i]);
        // Sometimes drain it, so that workers fall asleep and wake up.
        for (bool drains = next_random(&seed) % 40 == 0;
             drains && tb_pool_count(pool) > 0;)
            check_taken(pool, &taken);
    }
    while (tb_pool_count(pool) > 0)
        check_taken(pool, &taken);
    assert_int_equal(taken, JOB_COUNT);
    assert_int_equal(atomic_load(&context.bad_count), 0);
    tb_pool_free(pool);
}

static void test_order_is_kept_by_any_number_of_workers(void **state)
{
    (void)state;
    for (unsigned count = 1; count <= WORKERS_MAX; count++)
        for (unsigned seed = 1; seed <= 3; seed++)
            run_jobs(count, seed * 100 + count);
}

static void test_free_with_jobs_inside(void **state)
{
    (void)state;
    for (unsigned count = 1; count <= WORKERS_MAX; count++) {
        struct context context = {.worker_count = count};
        struct job jobs[2 * WORKERS_MAX + 2] = {0};
        struct tb_pool *pool;
        assert_int_equal(tb_pool_new(count, work, &context, &pool), TB_OK);
        for (unsigned i = 0; i < tb_pool_capacity(pool); i++)
            tb_pool_submit(pool, &jobs[i]);
        tb_pool_free(pool);
        assert_int_equal(atomic_load(&context.bad_count), 0);
    }
    tb_pool_free(NULL);
}

static void test_one_worker_needs_no_thread(void **state)
{
    (void)state;
    struct context context = {.worker_count = 1};
    struct job job = {.number = 0};
    struct tb_pool *pool;
    assert_int_equal(tb_pool_new(1, work, &context, &pool), TB_OK);
    tb_pool_submit(pool, &job);
    assert_true(job.is_done); // before anybody has taken it
    assert_ptr_equal(tb_pool_take(pool), &job);
    tb_pool_free(pool);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    struct context context = {.worker_count = 4};
    struct tb_pool *pool = NULL;
    tb_status status = TB_ERR_MEMORY;
    for (long allowed = 0; status != TB_OK; allowed++) {
        tb_memory_fail_after(allowed);
        status = tb_pool_new(4, work, &context, &pool);
        tb_memory_fail_after(-1);
        assert_true(status == TB_OK || status == TB_ERR_MEMORY);
        assert_true(allowed < 10);
    }
    tb_pool_free(pool);
}

static void test_there_is_a_core(void **state)
{
    (void)state;
    assert_true(tb_pool_core_count() >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_is_kept_by_any_number_of_workers),
        cmocka_unit_test(test_free_with_jobs_inside),
        cmocka_unit_test(test_one_worker_needs_no_thread),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_there_is_a_core),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
