#include "pool.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>

#include "memory.h"

/* Bytes that a thread may take for its stack; the C libraries' own sizes are
 * from 128 KiB (musl) to 8 MiB (glibc), and templates nest. */
enum { STACK_SIZE = 8 << 20 };

struct slot {
    void *job;
    bool is_done;
};

struct worker {
    struct tb_pool *pool;
    unsigned number;
    pthread_t thread;
};

/* Jobs are numbered as they come; job n stands in slot n % capacity. */
struct tb_pool {
    tb_pool_work work;
    void *context;
    unsigned worker_count; /* threads that run; 0: jobs are done at once */
    struct worker *workers;
    struct slot *slots;
    unsigned capacity;
    pthread_mutex_t lock;
    pthread_cond_t job_added, job_done;
    uint64_t submitted, begun, taken; /* all below need the lock */
    bool is_ending;
};

static void *run(void *argument)
{
    struct worker *worker = argument;
    struct tb_pool *pool = worker->pool;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (pool->begun == pool->submitted && !pool->is_ending)
            pthread_cond_wait(&pool->job_added, &pool->lock);
        if (pool->is_ending)
            break;
        struct slot *slot = &pool->slots[pool->begun++ % pool->capacity];
        pthread_mutex_unlock(&pool->lock);
        pool->work(pool->context, worker->number, slot->job);
        pthread_mutex_lock(&pool->lock);
        slot->is_done = true;
        pthread_cond_signal(&pool->job_done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static unsigned start_workers(struct tb_pool *pool, unsigned count,
                              const pthread_attr_t *attributes)
{
    for (unsigned i = 0; i < count; i++) {
        struct worker *worker = &pool->workers[i];
        worker->pool = pool;
        worker->number = i;
        if (pthread_create(&worker->thread, attributes, run, worker) != 0)
            return i;
    }
    return count;
}

static tb_status start_threads(struct tb_pool *pool, unsigned count)
{
    pthread_attr_t attributes;
    pool->workers = tb_memory_zeroed(count, sizeof(*pool->workers));
    if (!pool->workers || pthread_attr_init(&attributes) != 0)
        return TB_ERR_MEMORY;
    (void)pthread_attr_setstacksize(&attributes, STACK_SIZE);
    pool->worker_count = start_workers(pool, count, &attributes);
    (void)pthread_attr_destroy(&attributes);
    // Fewer will do, if there is one.
    return pool->worker_count > 0 ? TB_OK : TB_ERR_IO;
}

tb_status tb_pool_new(unsigned worker_count, tb_pool_work work, void *context,
                      struct tb_pool **pool)
{
    assert(worker_count > 0);
    struct tb_pool *made = tb_memory_zeroed(1, sizeof(*made));
    if (!made)
        return TB_ERR_MEMORY;
    made->work = work;
    made->context = context;
    // Enough waiting jobs that no worker idles while the oldest is long.
    made->capacity = worker_count == 1 ? 1 : worker_count * 2 + 2;
    made->slots = tb_memory_zeroed(made->capacity, sizeof(*made->slots));
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->job_added, NULL);
    pthread_cond_init(&made->job_done, NULL);
    tb_status status = made->slots ? TB_OK : TB_ERR_MEMORY;
    if (status == TB_OK && worker_count > 1)
        status = start_threads(made, worker_count);
    if (status != TB_OK) {
        tb_pool_free(made);
        return status;
    }
    *pool = made;
    return TB_OK;
}

unsigned tb_pool_capacity(const struct tb_pool *pool)
{
    return pool->capacity;
}

unsigned tb_pool_count(const struct tb_pool *pool)
{
    // Only the caller's thread changes these two.
    return (unsigned)(pool->submitted - pool->taken);
}

void tb_pool_submit(struct tb_pool *pool, void *job)
{
    assert(tb_pool_count(pool) < pool->capacity);
    struct slot *slot = &pool->slots[pool->submitted % pool->capacity];
    if (pool->worker_count == 0) {
        *slot = (struct slot){job, true};
        pool->submitted++;
        pool->work(pool->context, 0, job);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    *slot = (struct slot){job, false};
    pool->submitted++;
    pthread_cond_signal(&pool->job_added);
    pthread_mutex_unlock(&pool->lock);
}

void *tb_pool_take(struct tb_pool *pool)
{
    assert(tb_pool_count(pool) > 0);
    struct slot *slot = &pool->slots[pool->taken % pool->capacity];
    pthread_mutex_lock(&pool->lock);
    while (!slot->is_done)
        pthread_cond_wait(&pool->job_done, &pool->lock);
    pool->taken++;
    pthread_mutex_unlock(&pool->lock);
    return slot->job;
}

void tb_pool_free(struct tb_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->is_ending = true;
    pthread_cond_broadcast(&pool->job_added);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->worker_count; i++)
        pthread_join(pool->workers[i].thread, NULL);
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->job_added);
    pthread_cond_destroy(&pool->job_done);
    tb_memory_free(pool->workers);
    tb_memory_free(pool->slots);
    tb_memory_free(pool);
}

unsigned tb_pool_core_count(void)
{
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof(cores), &cores) != 0)
        return 1;
    int count = CPU_COUNT(&cores);
    return count > 0 ? (unsigned)count : 1;
}
