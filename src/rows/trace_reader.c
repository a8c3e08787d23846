#include "trace_reader.h"

#include <assert.h>

#include "memory.h"
#include "pool.h"

enum {
    WORKERS_MAX = 8,    // one thread does not take more than they read
    READ_LEN = 1 << 16, // bytes
    UNDER_WAY = 1 << 24 // bytes in the pool; only its last batch may pass it
};

struct tb_trace_reader {
    struct tb_pool *pool;
    struct tb_trace_batch *batches; // as many as the pool takes, and one
    unsigned batch_count;
    struct tb_trace_batch **free; // those that nobody has
    unsigned free_count;
    size_t under_way_len;           // bytes of those in the pool
    struct tb_trace_batch *current; // whose lines are given, or NULL
    size_t at;                      // of the next line in it
    uint64_t number_before;         // lines of the file before it
    struct tb_input *input;
    struct tb_buffer left; // of a line, behind the last whole one
    uint64_t offset;       // of that in the file
    bool is_at_end;        // nothing more is read
    tb_status failed;      // why, when it is not the end
    struct tb_error failure;
};

static void work(void *context, unsigned worker, void *job)
{
    (void)context;
    (void)worker;
    tb_trace_batch_read(job);
}

static tb_status make_batches(struct tb_trace_reader *reader)
{
    unsigned count = tb_pool_capacity(reader->pool) + 1;
    reader->batches = tb_memory_zeroed(count, sizeof(*reader->batches));
    reader->free = tb_memory_zeroed(count, sizeof(*reader->free));
    if (!reader->batches || !reader->free)
        return TB_ERR_MEMORY;
    for (; reader->batch_count < count; reader->batch_count++) {
        struct tb_trace_batch *batch = &reader->batches[reader->batch_count];
        reader->free[reader->free_count++] = batch;
        tb_status status = tb_trace_batch_init(batch);
        if (status != TB_OK)
            return status;
    }
    return TB_OK;
}

tb_status tb_trace_reader_new(unsigned thread_count,
                              struct tb_trace_reader **reader)
{
    struct tb_trace_reader *made = tb_memory_zeroed(1, sizeof(*made));
    if (!made)
        return TB_ERR_MEMORY;
    made->left = TB_BUFFER(TB_TRACE_BATCH_LINE_MAX);
    unsigned workers = thread_count < WORKERS_MAX ? thread_count : WORKERS_MAX;
    tb_status status = tb_pool_new(workers, work, NULL, &made->pool);
    if (status == TB_OK)
        status = make_batches(made);
    if (status != TB_OK) {
        tb_trace_reader_free(made);
        return status;
    }
    *reader = made;
    return TB_OK;
}

void tb_trace_reader_free(struct tb_trace_reader *reader)
{
    if (!reader)
        return;
    tb_pool_free(reader->pool); // first: it may still use the rest
    for (unsigned i = 0; i < reader->batch_count; i++)
        tb_trace_batch_release(&reader->batches[i]);
    tb_memory_free(reader->batches);
    tb_memory_free(reader->free);
    tb_buffer_release(&reader->left);
    tb_input_close(reader->input);
    tb_memory_free(reader);
}

tb_status tb_trace_reader_open(struct tb_trace_reader *reader, const char *path,
                               bool (*is_stopping)(void *context),
                               void *context, struct tb_error *error)
{
    assert(!reader->current && tb_pool_count(reader->pool) == 0);
    tb_input_close(reader->input);
    reader->input = NULL;
    reader->number_before = reader->offset = 0;
    reader->is_at_end = false;
    reader->failed = TB_OK;
    reader->failure = (struct tb_error){0};
    tb_buffer_clear(&reader->left);
    TB_TRY(tb_input_open(path, &reader->input, error));
    tb_input_on_signal(reader->input, is_stopping, context);
    return TB_OK;
}

/* ---- bytes --------------------------------------------------------------- */

/* How many bytes whole lines take; 0: none ends behind `from`. Lines may end in
 * "\r" alone, but not where "\n" may follow. */
static size_t whole_len(struct tb_span bytes, size_t from)
{
    for (size_t at = bytes.len; at > from; at--) {
        uint8_t last = bytes.ptr[at - 1];
        if (last == '\n' ||
            (last == '\r' && at < bytes.len && bytes.ptr[at] != '\n'))
            return at;
    }
    return 0;
}

static tb_status read_more(struct tb_trace_reader *reader,
                           struct tb_buffer *bytes)
{
    struct tb_error *error = &reader->failure;
    size_t len;
    tb_status status = tb_buffer_reserve(bytes, READ_LEN);
    if (status != TB_OK)
        return tb_fail(error, status,
                       status == TB_ERR_LIMIT ? "the line is too long"
                                              : "out of memory");
    TB_TRY(tb_input_read(reader->input, bytes->ptr + bytes->len, READ_LEN, &len,
                         error));
    bytes->len += len;
    reader->is_at_end = len == 0;
    return TB_OK;
}

/* Whole lines, or what is behind the last one of the file. */
static tb_status fill(struct tb_trace_reader *reader,
                      struct tb_trace_batch *batch)
{
    struct tb_buffer *bytes = &batch->bytes;
    size_t len = 0;
    batch->offset = reader->offset;
    TB_TRY(tb_buffer_append(bytes, tb_buffer_span(&reader->left)));
    tb_buffer_clear(&reader->left);
    while (len == 0 && !reader->is_at_end) {
        size_t seen = bytes->len ? bytes->len - 1 : 0;
        TB_TRY(read_more(reader, bytes));
        len = whole_len(tb_buffer_span(bytes), seen);
    }
    if (reader->is_at_end)
        len = bytes->len;
    reader->offset += len;
    tb_status status = tb_buffer_append(
        &reader->left, tb_span_from(tb_buffer_span(bytes), len));
    bytes->len = len;
    return status;
}

/* ---- batches ------------------------------------------------------------- */

/* What stands before a failure comes out first, as if nobody read ahead. */
static void keep_failure(struct tb_trace_reader *reader, tb_status status)
{
    if (reader->failure.status != status)
        tb_fail(&reader->failure, status, "out of memory");
    tb_error_set_path(&reader->failure, tb_input_path(reader->input));
    reader->failed = status;
    reader->is_at_end = true;
}

/* Another batch into the pool; the caller knows that there is room. */
static void submit(struct tb_trace_reader *reader)
{
    struct tb_trace_batch *batch = reader->free[--reader->free_count];
    tb_status status = fill(reader, batch);
    if (status != TB_OK)
        keep_failure(reader, status);
    if (status != TB_OK || batch->bytes.len == 0) {
        tb_trace_batch_reset(batch);
        reader->free[reader->free_count++] = batch;
        return;
    }
    reader->under_way_len += batch->bytes.len;
    tb_pool_submit(reader->pool, batch);
}

/* Is it time to read on? What is under way comes out before the caller waits
 * for a pipe, so that whoever writes a line to it sees what is said of it. */
static bool must_read(const struct tb_trace_reader *reader)
{
    unsigned count = tb_pool_count(reader->pool);
    return !reader->is_at_end &&
           (count == 0 || (count < tb_pool_capacity(reader->pool) &&
                           reader->under_way_len < UNDER_WAY &&
                           tb_input_is_ready(reader->input)));
}

static void give_back(struct tb_trace_reader *reader)
{
    reader->number_before += reader->current->number_count;
    tb_trace_batch_reset(reader->current);
    reader->free[reader->free_count++] = reader->current;
    reader->current = NULL;
}

static void take(struct tb_trace_reader *reader)
{
    reader->current = tb_pool_take(reader->pool);
    reader->under_way_len -= reader->current->bytes.len;
    reader->at = 0;
}

tb_status tb_trace_reader_next(struct tb_trace_reader *reader,
                               const struct tb_trace_line **line,
                               struct tb_error *error)
{
    *line = NULL;
    while (!reader->current || reader->at == reader->current->line_count) {
        if (reader->current && reader->current->status != TB_OK)
            return tb_fail(error, reader->current->status, "out of memory");
        if (reader->current)
            give_back(reader);
        while (must_read(reader))
            submit(reader);
        if (tb_pool_count(reader->pool) == 0) {
            if (reader->failed != TB_OK && error)
                *error = reader->failure;
            return reader->failed;
        }
        take(reader);
    }
    struct tb_trace_line *next = &reader->current->lines[reader->at++];
    next->number += reader->number_before;
    if (next->kind == TB_TRACE_LINE_LOST && next->error)
        next->error->line += reader->number_before;
    *line = next;
    return TB_OK;
}
