#include "run_output.h"

#include <stdio.h>
#include <string.h>

#define META_EXTENSION ".meta.json"

struct meta_path {
    char text[sizeof(((struct tb_run_output *)0)->path) +
              sizeof(META_EXTENSION)];
};

static struct meta_path meta_path_of(const struct tb_run_output *output)
{
    struct meta_path path;
    (void)snprintf(path.text, sizeof(path.text), "%s" META_EXTENSION,
                   output->path);
    return path;
}

/* ---- where things go -------------------------------------------------- */

/* All that a run writes, by name. */
struct places {
    struct {
        const char *what, *path;
    } items[4];
    size_t count;
    struct meta_path meta;
};

static void add_place(struct places *places, const char *what, const char *path)
{
    if (!path)
        return;
    places->items[places->count].what = what;
    places->items[places->count++].path = path;
}

static void find_places(const struct tb_run_output *output,
                        struct places *places)
{
    *places = (struct places){.meta = meta_path_of(output)};
    add_place(places, "rows", output->path);
    add_place(places, "the rows' meta file", places->meta.text);
    add_place(places, "calls", output->calls_path);
    add_place(places, "a page", output->page_path);
}

tb_status tb_run_output_spare(const struct tb_run_output *output,
                              const char *input, struct tb_error *error)
{
    struct places places;
    bool is_kept = true;
    find_places(output, &places);
    for (size_t i = 0; i < places.count; i++)
        is_kept &= !tb_output_is_same_file(input, places.items[i].path);
    if (is_kept)
        return TB_OK;
    tb_fail(error, TB_ERR_USAGE, "output would replace this input");
    tb_error_set_path(error, input);
    return TB_ERR_USAGE;
}

// Do two go to one place?
static tb_status check_places(const struct tb_run_output *output,
                              struct tb_error *error)
{
    struct places places;
    find_places(output, &places);
    for (size_t i = 0; i < places.count; i++)
        for (size_t k = 0; k < i; k++) {
            const char *path = places.items[i].path;
            const char *other = places.items[k].path;
            if (strcmp(path, other) == 0 || tb_output_is_same_file(path, other))
                return tb_fail(
                    error, TB_ERR_USAGE, "%s and %s cannot both go to '%.200s'",
                    places.items[i].what, places.items[k].what, path);
        }
    return TB_OK;
}

static tb_status choose_paths(struct tb_run_output *output,
                              const struct tb_convert_options *options,
                              struct tb_error *error)
{
    output->calls_path = options->calls;
    output->page_path = options->report;
    if (options->output)
        (void)snprintf(output->path, sizeof(output->path), "%s",
                       options->output);
    else
        tb_convert_output_path(options->inputs[0], output->path,
                               sizeof(output->path));
    // A path that was cut would name another file.
    if (strlen(output->path) == sizeof(output->path) - 1)
        return tb_fail(error, TB_ERR_USAGE, "the output's path is too long");
    for (size_t i = 0; i < options->input_count; i++)
        TB_TRY(tb_run_output_spare(output, options->inputs[i], error));
    const char *others[] = {options->tokenizer, options->templates.path,
                            options->list, options->salt_file};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (others[i])
            TB_TRY(tb_run_output_spare(output, others[i], error));
    return check_places(output, error);
}

tb_status tb_run_output_open(struct tb_run_output *output,
                             const struct tb_convert_options *options,
                             bool (*is_stopping)(void *context), void *context,
                             struct tb_error *error)
{
    TB_TRY(choose_paths(output, options, error));
    if (options->is_dry_run)
        return TB_OK;
    TB_TRY(tb_output_open_until(is_stopping, context, output->path,
                                &output->rows, error));
    if (options->calls)
        TB_TRY(tb_output_open_until(is_stopping, context, options->calls,
                                    &output->calls, error));
    if (options->report)
        TB_TRY(tb_output_open_until(is_stopping, context, options->report,
                                    &output->page, error));
    return TB_OK;
}

/* ---- into place ------------------------------------------------------- */

static tb_status write_meta(struct tb_output *output,
                            const struct tb_meta *meta,
                            const struct tb_stats *stats,
                            struct tb_error *error)
{
    struct tb_buffer text = TB_BUFFER(SIZE_MAX / 2);
    tb_status status = tb_meta_json(meta, stats, &text);
    if (status == TB_OK)
        status = tb_output_write(output, tb_buffer_span(&text), error);
    tb_buffer_release(&text);
    TB_TRY(status);
    return tb_output_prepare(output, error);
}

tb_status tb_run_output_commit(struct tb_run_output *output,
                               const struct tb_meta *meta,
                               const struct tb_stats *stats,
                               struct tb_error *error)
{
    struct meta_path path = meta_path_of(output);
    struct tb_output *file = NULL;
    tb_status status = tb_output_prepare(output->rows, error);
    if (status == TB_OK && output->calls)
        status = tb_output_prepare(output->calls, error);
    if (status == TB_OK && output->page)
        status = tb_output_prepare(output->page, error);
    if (status == TB_OK && !tb_output_is_stream(output->rows)) {
        status = tb_output_open(path.text, &file, error);
        if (status == TB_OK)
            status = write_meta(file, meta, stats, error);
    }
    struct tb_output *files[] = {file, output->calls, output->page,
                                 output->rows};
    if (status == TB_OK)
        status = tb_output_commit_all(files, sizeof(files) / sizeof(files[0]),
                                      error);
    tb_output_close(file);
    return status;
}

void tb_run_output_close(struct tb_run_output *output)
{
    tb_output_close(output->rows);
    tb_output_close(output->calls);
    tb_output_close(output->page);
    output->rows = output->calls = output->page = NULL;
}
