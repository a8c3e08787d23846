/* Workers that do jobs at the same time and hand them back in the order in
 * which they were given: the result does not depend on the number of threads.
 *
 *     tb_pool_new(threads, work, context, &pool);
 *     tb_pool_submit(pool, job);           // for each job
 *     job = tb_pool_take(pool);            // the oldest, when it is done
 *     tb_pool_free(pool);
 *
 * One thread gives and takes. With one worker there are no threads at all: a
 * job is done when it is submitted.
 */
#ifndef TB_POOL_H
#define TB_POOL_H

#include "status.h"

struct tb_pool;

/* Does `job`; `worker` counts from 0, and one worker does one job at a time.
 */
typedef void (*tb_pool_work)(void *context, unsigned worker, void *job);

/* `worker_count` >= 1. TB_ERR_MEMORY, TB_ERR_IO when threads cannot start. */
TB_NODISCARD tb_status tb_pool_new(unsigned worker_count, tb_pool_work work,
                                   void *context, struct tb_pool **pool);

/* How many jobs may be in the pool, submitted and not taken. */
unsigned tb_pool_capacity(const struct tb_pool *pool);
unsigned tb_pool_count(const struct tb_pool *pool);

/* Adds a job; the pool is not full. The job stays the caller's. */
void tb_pool_submit(struct tb_pool *pool, void *job);

/* Waits for the oldest job and gives it back; the pool is not empty. */
void *tb_pool_take(struct tb_pool *pool);

/* Waits for the jobs under way, forgets those that nobody began, and ends the
 * threads. NULL is accepted. */
void tb_pool_free(struct tb_pool *pool);

/* How many cores this process may use; at least 1. */
unsigned tb_pool_core_count(void);

#endif
