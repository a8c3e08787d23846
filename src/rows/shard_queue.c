#include "shard_queue.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "block_table.h"
#include "memory.h"

struct shard {
    const char *path;
    size_t number;            /* in the caller's list */
    struct tb_span first;     /* its first session */
    tb_session_order order;   /* for sorting */
    struct tb_buffer session; /* of the current row */
    struct tb_row_input input;
    char fingerprint[33]; /* of the whole file, once it was read; else empty */
};

struct tb_shard_queue {
    struct tb_shard_queue_options options;
    struct tb_arena arena; /* names of first sessions */
    struct shard *shards;  /* by first session, those without rows first */
    size_t empty_count;    /* of the latter */
    size_t next;           /* the first that was not opened yet */
    struct shard **open;   /* by session of the current row */
    size_t open_count;
    uint64_t secret;             /* of hashes of names */
    bool is_in_session;          /* open[0]'s current row was given */
    struct tb_block_table seen;  /* sessions, by hash of their names */
    const struct shard **owners; /* by number of a session: its file */
    size_t owner_capacity;
};

/* ---- one file ---------------------------------------------------------- */

static tb_status keep_session(struct shard *shard, struct tb_error *error)
{
    struct tb_span name = tb_session_name_of(&shard->input.record);
    if (name.len == 0)
        return tb_row_input_fail(&shard->input, TB_ERR_VALUE, error,
                                 "a row without a session_id");
    tb_buffer_clear(&shard->session);
    return tb_buffer_append(&shard->session, name) == TB_OK
               ? TB_OK
               : tb_fail(error, TB_ERR_MEMORY, "out of memory");
}

static tb_status check_row_count(const struct shard *shard,
                                 struct tb_error *error)
{
    const struct tb_row_input *input = &shard->input;
    if (!input->meta.row_count || input->meta.row_count == input->row_count)
        return TB_OK;
    tb_fail(error, TB_ERR_VALUE,
            "%llu rows, but its meta file says %llu: they are of two runs, or "
            "the file was cut off",
            (unsigned long long)input->row_count,
            (unsigned long long)input->meta.row_count);
    tb_error_set_path(error, shard->path);
    return TB_ERR_VALUE;
}

static tb_status fail_changed(const struct shard *shard, struct tb_error *error)
{
    tb_fail(error, TB_ERR_IO, "the file was changed while it was read");
    tb_error_set_path(error, shard->path);
    return TB_ERR_IO;
}

// At its end: is it what it was the first time?
static tb_status check_content(struct shard *shard, struct tb_error *error)
{
    char now[sizeof(shard->fingerprint)];
    tb_input_fingerprint(tb_mooncake_reader_input(shard->input.reader), now);
    if (shard->fingerprint[0] && strcmp(shard->fingerprint, now) != 0)
        return fail_changed(shard, error);
    memcpy(shard->fingerprint, now, sizeof(now));
    return TB_OK;
}

// Reads the next row; at the end of the file `line.ptr` is NULL.
static tb_status advance(struct shard *shard, struct tb_error *error)
{
    TB_TRY(tb_row_input_next(&shard->input, error));
    if (shard->input.line.ptr)
        return keep_session(shard, error);
    TB_TRY(check_row_count(shard, error));
    return check_content(shard, error);
}

static tb_status open_shard(const struct tb_shard_queue *queue,
                            struct shard *shard, struct tb_error *error)
{
    TB_TRY(tb_row_input_open(&shard->input, shard->path, queue->options.stop,
                             error));
    struct tb_input *file = tb_mooncake_reader_input(shard->input.reader);
    if (!tb_input_can_reopen(file)) {
        tb_fail(error, TB_ERR_USAGE,
                "rows that are merged are read twice, which a pipe does not "
                "allow: name a file");
        tb_error_set_path(error, shard->path);
        return TB_ERR_USAGE;
    }
    return advance(shard, error);
}

static void close_shard(struct shard *shard)
{
    tb_row_input_close(&shard->input);
    tb_buffer_release(&shard->session);
}

/* ---- all files --------------------------------------------------------- */

static int compare_firsts(const void *a, const void *b)
{
    const struct shard *first = a, *second = b;
    int order =
        tb_session_name_compare(first->first, second->first, first->order);
    return order != 0 ? order : strcmp(first->path, second->path);
}

static tb_status look_at(struct tb_shard_queue *queue, size_t number,
                         struct tb_error *error)
{
    struct shard *shard = &queue->shards[number];
    *shard = (struct shard){.path = queue->options.paths[number],
                            .number = number,
                            .order = queue->options.order,
                            .session = TB_BUFFER(SIZE_MAX / 2)};
    struct tb_error why = {0};
    tb_status status = open_shard(queue, shard, &why);
    if (status == TB_OK) {
        status = tb_arena_copy(&queue->arena, tb_buffer_span(&shard->session),
                               &shard->first);
        if (status != TB_OK)
            tb_fail(&why, status, "out of memory");
    }
    if (status == TB_ERR_EMPTY) { // a part of a trace may have no calls
        queue->empty_count++;
        status = TB_OK;
    }
    if (status != TB_OK && error)
        *error = why;
    close_shard(shard);
    return status;
}

/* Each file that is open takes a descriptor, and sessions of very many files
 * may lie among each other. */
static void allow_open_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

static tb_status set_up(struct tb_shard_queue *queue, struct tb_error *error)
{
    size_t count = queue->options.count;
    queue->shards = tb_memory_zeroed(count, sizeof(*queue->shards));
    queue->open = tb_memory_zeroed(count, sizeof(*queue->open));
    if (!queue->shards || !queue->open)
        return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < count; i++)
        TB_TRY(look_at(queue, i, error));
    if (queue->empty_count == count)
        return tb_fail(error, TB_ERR_EMPTY, "no rows in any of the files");
    qsort(queue->shards, count, sizeof(*queue->shards), compare_firsts);
    queue->next = queue->empty_count;
    allow_open_files();
    return TB_OK;
}

tb_status tb_shard_queue_new(const struct tb_shard_queue_options *options,
                             struct tb_shard_queue **queue,
                             struct tb_error *error)
{
    struct tb_shard_queue *made = tb_memory_zeroed(1, sizeof(*made));
    if (!made)
        return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    made->options = *options;
    made->secret = tb_hash_secret();
    tb_status status = set_up(made, error);
    if (status == TB_OK)
        *queue = made;
    else
        tb_shard_queue_free(made);
    return status;
}

void tb_shard_queue_rewind(struct tb_shard_queue *queue)
{
    for (size_t i = 0; i < queue->open_count; i++)
        close_shard(queue->open[i]);
    queue->open_count = 0;
    queue->next = queue->empty_count;
    queue->is_in_session = false;
    tb_block_table_release(&queue->seen);
}

void tb_shard_queue_free(struct tb_shard_queue *queue)
{
    if (!queue)
        return;
    tb_shard_queue_rewind(queue);
    tb_arena_release(&queue->arena);
    tb_memory_free(queue->shards);
    tb_memory_free(queue->open);
    tb_memory_free(queue->owners);
    tb_memory_free(queue);
}

size_t tb_shard_queue_file(const struct tb_shard_queue *queue, size_t rank)
{
    return queue->shards[rank].number;
}

/* ---- which session is next --------------------------------------------- */

static int compare_names(const struct tb_shard_queue *queue, struct tb_span a,
                         const struct shard *b)
{
    return tb_session_name_compare(a, tb_buffer_span(&b->session),
                                   queue->options.order);
}

// Puts an open file where its current session stands in their order.
static void put_in_order(struct tb_shard_queue *queue, struct shard *shard)
{
    struct tb_span name = tb_buffer_span(&shard->session);
    size_t low = 0, high = queue->open_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_names(queue, name, queue->open[middle]) < 0)
            high = middle;
        else
            low = middle + 1;
    }
    memmove(queue->open + low + 1, queue->open + low,
            (queue->open_count - low) * sizeof(*queue->open));
    queue->open[low] = shard;
    queue->open_count++;
}

static struct shard *take_first(struct tb_shard_queue *queue)
{
    struct shard *first = queue->open[0];
    queue->open_count--;
    memmove(queue->open, queue->open + 1,
            queue->open_count * sizeof(*queue->open));
    return first;
}

// Opens the files whose first session is not behind all that are open.
static tb_status open_next(struct tb_shard_queue *queue, struct tb_error *error)
{
    while (queue->next < queue->options.count) {
        struct shard *shard = &queue->shards[queue->next];
        if (queue->open_count > 0 &&
            compare_names(queue, shard->first, queue->open[0]) > 0)
            return TB_OK;
        queue->next++;
        shard->session = TB_BUFFER(SIZE_MAX / 2);
        tb_status status = open_shard(queue, shard, error);
        // Its place was chosen by its first session.
        if (status == TB_OK &&
            !tb_span_equal(shard->first, tb_buffer_span(&shard->session)))
            status = fail_changed(shard, error);
        if (status != TB_OK) {
            close_shard(shard);
            return status;
        }
        put_in_order(queue, shard);
    }
    return TB_OK;
}

static struct tb_hash128 hash_name(const struct tb_shard_queue *queue,
                                   const struct shard *shard)
{
    return tb_hash128(tb_buffer_span(&shard->session), queue->secret);
}

static tb_status fail_twice(const struct shard *shard,
                            const struct shard *earlier, struct tb_error *error)
{
    struct tb_span name = tb_buffer_span(&shard->session);
    int len = tb_span_shown(name, 80);
    const char *text = (const char *)name.ptr;
    if (shard == earlier)
        return tb_row_input_fail(
            &shard->input, TB_ERR_VALUE, error,
            "session '%.*s' goes on behind another one: rows of a session must "
            "stand together",
            len, text);
    return tb_row_input_fail(
        &shard->input, TB_ERR_VALUE, error,
        "session '%.*s' is in '%.90s' too: a trace was converted twice, or two "
        "have sessions of one name (--session-prefix)",
        len, text, earlier->path);
}

static tb_status note_session(struct tb_shard_queue *queue,
                              const struct shard *shard, struct tb_error *error)
{
    uint64_t number;
    bool is_new;
    struct tb_hash128 name = hash_name(queue, shard);
    tb_status status = tb_block_table_add(&queue->seen, name, &number, &is_new);
    if (status == TB_OK && !is_new)
        return fail_twice(shard, queue->owners[number], error);
    const struct shard **owners =
        status == TB_OK
            ? tb_array_grow(queue->owners, &queue->owner_capacity,
                            (size_t)number + 1, sizeof(*queue->owners))
            : NULL;
    if (!owners)
        return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    queue->owners = owners;
    owners[number] = shard;
    return TB_OK;
}

/* Reads on in the file whose row was given last; `*is_same`: the next row is of
 * the same session. */
static tb_status read_on(struct tb_shard_queue *queue, bool *is_same,
                         struct tb_error *error)
{
    struct shard *shard = queue->open[0];
    struct tb_hash128 before = hash_name(queue, shard);
    *is_same = false;
    TB_TRY(advance(shard, error));
    if (!shard->input.line.ptr) {
        close_shard(take_first(queue));
        return TB_OK;
    }
    struct tb_hash128 now = hash_name(queue, shard);
    *is_same = now.low == before.low && now.high == before.high;
    if (!*is_same)
        put_in_order(queue, take_first(queue));
    return TB_OK;
}

tb_status tb_shard_queue_next(struct tb_shard_queue *queue,
                              const struct tb_row_input **row,
                              struct tb_error *error)
{
    bool is_same = false;
    *row = NULL;
    if (queue->is_in_session)
        TB_TRY(read_on(queue, &is_same, error));
    queue->is_in_session = false;
    if (!is_same) {
        TB_TRY(open_next(queue, error));
        if (queue->open_count == 0)
            return TB_OK;
        TB_TRY(note_session(queue, queue->open[0], error));
    }
    queue->is_in_session = true;
    *row = &queue->open[0]->input;
    return TB_OK;
}
