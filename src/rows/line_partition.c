#include "line_partition.h"

#include <string.h>

#include "hash.h"
#include "line_reader.h"
#include "memory.h"
#include "path.h"
#include "python_repr.h"

enum { FLUSH_LEN = 64 << 10 }; // bytes of a part that are written at once

/* ---- parts ------------------------------------------------------------ */

static tb_status open_part(struct tb_line_partition *partition,
                           const char *folder, uint32_t number,
                           const char *extension, struct tb_error *error)
{
    char path[TB_PATH_SIZE];
    struct tb_line_part *part = &partition->parts[number];
    part->text = TB_BUFFER(SIZE_MAX / 2);
    if (!tb_path_format(path, sizeof(path), "%s/part-%u-of-%u%s", folder,
                        number + 1, partition->part_count, extension))
        return tb_fail(error, TB_ERR_USAGE, "the output's path is too long");
    size_t size = strlen(path) + 1;
    part->path = tb_memory_resize(NULL, size);
    if (!part->path)
        return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    memcpy(part->path, path, size);
    if (number == 0)
        tb_path_make_folders(path, 0777);
    return tb_output_open_until(partition->stop.is_stopping,
                                partition->stop.context, path, &part->output,
                                error);
}

tb_status tb_line_partition_open(struct tb_line_partition *partition,
                                 const char *folder, uint32_t count,
                                 const char *extension, struct tb_row_stop stop,
                                 struct tb_error *error)
{
    *partition = (struct tb_line_partition){
        .stop = stop, .part_count = count, .name = TB_BUFFER(SIZE_MAX / 2)};
    partition->parts = tb_memory_zeroed(count, sizeof(*partition->parts));
    if (!partition->parts)
        return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    for (uint32_t i = 0; i < count; i++)
        TB_TRY(open_part(partition, folder, i, extension, error));
    return TB_OK;
}

tb_status tb_line_partition_spare(const struct tb_line_partition *partition,
                                  const char *path, struct tb_error *error)
{
    for (uint32_t i = 0; i < partition->part_count; i++)
        if (tb_output_is_same_file(partition->parts[i].path, path)) {
            tb_fail(error, TB_ERR_USAGE, "output would replace this input");
            tb_error_set_path(error, path);
            return TB_ERR_USAGE;
        }
    return TB_OK;
}

static tb_status flush(struct tb_line_part *part, size_t most,
                       struct tb_error *error)
{
    if (part->text.len <= most)
        return TB_OK;
    TB_TRY(tb_output_write(part->output, tb_buffer_span(&part->text), error));
    tb_buffer_clear(&part->text);
    return TB_OK;
}

/* ---- lines ------------------------------------------------------------ */

/* A text as it is, a number as the converter names a session by it; nothing
 * else is a name. */
static tb_status read_name(struct tb_line_partition *partition,
                           struct tb_json_reader *reader, struct tb_span *name)
{
    tb_json_type type;
    TB_TRY(tb_json_peek(reader, &type));
    if (type == TB_JSON_STRING)
        return tb_json_read_string(reader, &partition->arena, name);
    if (type != TB_JSON_NUMBER)
        return tb_json_skip(reader);
    TB_TRY(tb_json_read_raw(reader, name));
    tb_buffer_clear(&partition->name);
    TB_TRY(tb_python_repr(*name, &partition->name, &reader->error));
    return tb_arena_copy(&partition->arena, tb_buffer_span(&partition->name),
                         name);
}

static tb_status read_session(struct tb_line_partition *partition,
                              struct tb_span line, struct tb_span *name)
{
    struct tb_json_reader reader;
    tb_json_reader_init_span(&reader, line, 0, 1);
    TB_TRY(tb_json_enter_object(&reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(&reader, &key));
        if (!key.ptr)
            return tb_json_expect_end(&reader);
        TB_TRY(tb_json_decode_key(&reader, &partition->arena, &key));
        if (tb_span_equal(key, TB_SPAN("session_id")))
            TB_TRY(read_name(partition, &reader, name));
        else
            TB_TRY(tb_json_skip(&reader));
    }
}

static bool is_blank(struct tb_span line)
{
    for (size_t i = 0; i < line.len; i++)
        if (!strchr(" \t\r", line.ptr[i]) || line.ptr[i] == 0)
            return false;
    return true;
}

static tb_status add_line(struct tb_line_partition *partition,
                          struct tb_span line, struct tb_span end,
                          struct tb_error *error)
{
    struct tb_span name = {0};
    tb_arena_reset(&partition->arena);
    tb_status status = read_session(partition, line, &name);
    if (status == TB_ERR_MEMORY)
        return tb_fail(error, status, "out of memory");
    partition->line_count++;
    partition->broken_count += status != TB_OK;
    partition->nameless_count += status == TB_OK && !name.ptr;
    if (status != TB_OK || !name.ptr)
        name = line;
    struct tb_line_part *part =
        &partition->parts[tb_hash64(name, 0) % partition->part_count];
    part->line_count++;
    status = tb_buffer_append(&part->text, line);
    if (status == TB_OK)
        status = tb_buffer_append(&part->text, end);
    if (status != TB_OK)
        return tb_fail(error, status, "out of memory");
    return flush(part, FLUSH_LEN, error);
}

static tb_status add_lines(struct tb_line_partition *partition,
                           struct tb_line_reader *lines, struct tb_error *error)
{
    const struct tb_row_stop *stop = &partition->stop;
    for (;;) {
        struct tb_span line;
        if (stop->is_stopping && stop->is_stopping(stop->context))
            return tb_fail(error, TB_ERR_INTERRUPTED, "stopped");
        TB_TRY(tb_line_reader_next(lines, &line, error));
        if (!line.ptr)
            return TB_OK;
        if (lines->line == 1 &&
            tb_span_starts_with(line, TB_SPAN("\xEF\xBB\xBF")))
            line = tb_span_from(line, 3);
        if (is_blank(line))
            continue;
        // The end as it was; a last line without one gets one, since another
        // may follow.
        bool has_return = lines->has_return;
        TB_TRY(add_line(partition, line,
                        has_return ? TB_SPAN("\r\n") : TB_SPAN("\n"), error));
    }
}

tb_status tb_line_partition_add(struct tb_line_partition *partition,
                                const char *path, struct tb_error *error)
{
    struct tb_input *input;
    TB_TRY(tb_input_open_until(partition->stop.is_stopping,
                               partition->stop.context, path, &input, error));
    struct tb_line_reader lines = tb_line_reader_on(input);
    tb_status status = add_lines(partition, &lines, error);
    if (status != TB_OK)
        tb_error_set_path(error, tb_input_path(input));
    tb_line_reader_release(&lines);
    tb_input_close(input);
    return status;
}

tb_status tb_line_partition_commit(struct tb_line_partition *partition,
                                   struct tb_error *error)
{
    struct tb_output *outputs[TB_LINE_PARTS_MAX];
    for (uint32_t i = 0; i < partition->part_count; i++) {
        TB_TRY(flush(&partition->parts[i], 0, error));
        outputs[i] = partition->parts[i].output;
    }
    return tb_output_commit_all(outputs, partition->part_count, error);
}

void tb_line_partition_close(struct tb_line_partition *partition)
{
    for (uint32_t i = 0; partition->parts && i < partition->part_count; i++) {
        tb_output_close(partition->parts[i].output);
        tb_buffer_release(&partition->parts[i].text);
        tb_memory_free(partition->parts[i].path);
    }
    tb_memory_free(partition->parts);
    tb_arena_release(&partition->arena);
    tb_buffer_release(&partition->name);
    *partition = (struct tb_line_partition){0};
}
