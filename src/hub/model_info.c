#include "model_info.h"

#include <string.h>

#include "json_reader.h"

static bool is_match(struct tb_span file, const char *wanted)
{
    if (wanted[0] == '*')
        return tb_span_ends_with(file, tb_span_of(wanted + 1));
    return tb_span_equal(file, tb_span_of(wanted));
}

// The place in the list, or its length when it is not in it.
static size_t rank(struct tb_span file, const char *const *names)
{
    size_t i = 0;
    while (names[i] && !is_match(file, names[i]))
        i++;
    return i;
}

static void copy_name(char *name, struct tb_span file)
{
    memcpy(name, file.ptr, file.len);
    name[file.len] = '\0';
}

static void offer_main(struct tb_model_info *info, struct tb_span file,
                       const char *const *names)
{
    size_t place = rank(file, names);
    size_t best =
        info->main[0] ? rank(tb_span_of(info->main), names) : SIZE_MAX;
    if (!names[place] || place > best)
        return;
    if (place == best) {
        info->main_count++;
        return;
    }
    copy_name(info->main, file);
    info->main_count = 1;
}

void tb_model_info_offer(struct tb_model_info *info, struct tb_span file,
                         const struct tb_hub_files *files)
{
    if (!tb_hub_is_file_name(file) || file.len > TB_HUB_FILE_MAX)
        return;
    offer_main(info, file, files->main);
    if (files->beside[rank(file, files->beside)] &&
        info->beside_count < TB_HUB_FILES_MAX)
        copy_name(info->beside[info->beside_count++], file);
}

static tb_status read_file(struct tb_json_reader *reader,
                           struct tb_arena *arena,
                           const struct tb_hub_files *files,
                           struct tb_model_info *info)
{
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key, name;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            return TB_OK;
        if (!tb_span_equal(key, TB_SPAN("rfilename"))) {
            TB_TRY(tb_json_skip(reader));
            continue;
        }
        TB_TRY(tb_json_read_string(reader, arena, &name));
        tb_model_info_offer(info, name, files);
    }
}

static tb_status read_files(struct tb_json_reader *reader,
                            struct tb_arena *arena,
                            const struct tb_hub_files *files,
                            struct tb_model_info *info)
{
    info->main[0] = '\0'; // should the key come twice
    info->beside_count = 0;
    TB_TRY(tb_json_enter_array(reader));
    for (;;) {
        bool found;
        TB_TRY(tb_json_next_item(reader, &found));
        if (!found)
            return TB_OK;
        TB_TRY(read_file(reader, arena, files, info));
    }
}

static tb_status read_commit(struct tb_json_reader *reader,
                             struct tb_arena *arena, struct tb_model_info *info)
{
    struct tb_span commit;
    TB_TRY(tb_json_read_string(reader, arena, &commit));
    if (!tb_hub_is_commit(commit))
        return tb_json_fail(reader, TB_ERR_VALUE, "'sha' is no commit");
    copy_name(info->commit, commit);
    return TB_OK;
}

static tb_status read_info(struct tb_json_reader *reader,
                           struct tb_arena *arena,
                           const struct tb_hub_files *files,
                           struct tb_model_info *info)
{
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            break;
        if (tb_span_equal(key, TB_SPAN("sha")))
            TB_TRY(read_commit(reader, arena, info));
        else if (tb_span_equal(key, TB_SPAN("siblings")))
            TB_TRY(read_files(reader, arena, files, info));
        else
            TB_TRY(tb_json_skip(reader));
    }
    TB_TRY(tb_json_expect_end(reader));
    if (!info->commit[0])
        return tb_json_fail(reader, TB_ERR_VALUE, "there is no 'sha'");
    return TB_OK;
}

tb_status tb_model_info_read(struct tb_span json,
                             const struct tb_hub_files *files,
                             struct tb_model_info *info, struct tb_error *error)
{
    struct tb_json_reader reader;
    struct tb_arena arena = {0};
    *info = (struct tb_model_info){0};
    tb_json_reader_init_span(&reader, json, 0, 1);
    tb_status status = read_info(&reader, &arena, files, info);
    if (status != TB_OK && error) {
        *error = reader.error;
        error->status = status;
    }
    tb_json_reader_release(&reader);
    tb_arena_release(&arena);
    return status;
}
