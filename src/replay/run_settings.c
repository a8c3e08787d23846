#include "run_settings.h"

#include <stdio.h>

#include "input.h"
#include "record_fields.h"

#define SETTINGS_MAX_LEN ((size_t)256 << 20)

struct reading {
    struct tb_json_reader reader;
    struct tb_arena arena;
    struct tb_span rows, endpoint, tokenizer, version;
    struct tb_span was_cancelled; /* raw JSON */
    struct tb_run_settings *settings;
};

static tb_status read_dataset(struct reading *reading)
{
    bool is_said;
    const struct tb_field dataset[] = {
        TB_FIELD_TEXT("path", &reading->rows),
        TB_FIELD_COUNT("block_size", &reading->settings->block_size, &is_said),
    };
    return TB_FIELDS_READ(&reading->reader, &reading->arena, dataset);
}

// The phase that is measured.
static tb_status read_phase(struct reading *reading)
{
    struct tb_span kind = {0};
    uint64_t requests = 0, sessions = 0;
    bool is_said;
    const struct tb_field phase[] = {
        TB_FIELD_TEXT("kind", &kind),
        TB_FIELD_COUNT("requests", &requests, &is_said),
        TB_FIELD_COUNT("sessions", &sessions, &is_said),
    };
    TB_TRY(TB_FIELDS_READ(&reading->reader, &reading->arena, phase));
    if (tb_span_equal(kind, TB_SPAN("profiling"))) {
        reading->settings->request_count = requests;
        reading->settings->session_count = sessions;
    }
    return TB_OK;
}

static tb_status read_list(struct tb_json_reader *reader,
                           struct reading *reading,
                           tb_status (*read_item)(struct reading *))
{
    bool found;
    TB_TRY(tb_field_enter_array(reader, &found));
    while (found) {
        TB_TRY(tb_json_next_item(reader, &found));
        if (found)
            TB_TRY(read_item(reading));
    }
    return TB_OK;
}

static tb_status read_datasets(struct tb_json_reader *reader, void *context)
{
    return read_list(reader, context, read_dataset);
}

static tb_status read_phases(struct tb_json_reader *reader, void *context)
{
    return read_list(reader, context, read_phase);
}

static tb_status read_fields(struct reading *reading)
{
    const struct tb_field endpoint[] = {
        TB_FIELD_TEXT("type", &reading->endpoint)};
    const struct tb_field tokenizer[] = {
        TB_FIELD_TEXT("name", &reading->tokenizer)};
    const struct tb_field input[] = {
        TB_FIELD_OBJECT("endpoint", endpoint),
        TB_FIELD_OBJECT("tokenizer", tokenizer),
        TB_FIELD_READ("datasets", read_datasets, reading),
        TB_FIELD_READ("phases", read_phases, reading),
    };
    const struct tb_field fields[] = {
        TB_FIELD_OBJECT("input_config", input),
        TB_FIELD_TEXT("aiperf_version", &reading->version),
        TB_FIELD_RAW("was_cancelled", &reading->was_cancelled),
    };
    TB_TRY(tb_field_expect_object(&reading->reader));
    TB_TRY(TB_FIELDS_READ(&reading->reader, &reading->arena, fields));
    return tb_json_expect_end(&reading->reader);
}

// What does not fit is cut: it is compared and shown, not opened.
static void copy(struct tb_span text, char *to, size_t size)
{
    (void)snprintf(to, size, "%.*s", (int)(text.len < size ? text.len : size),
                   text.ptr ? (const char *)text.ptr : "");
}

static void keep_texts(const struct reading *reading)
{
    struct tb_run_settings *settings = reading->settings;
    copy(reading->rows, settings->rows, sizeof(settings->rows));
    copy(reading->endpoint, settings->endpoint, sizeof(settings->endpoint));
    copy(reading->tokenizer, settings->tokenizer, sizeof(settings->tokenizer));
    copy(reading->version, settings->version, sizeof(settings->version));
    settings->was_cancelled =
        tb_span_equal(reading->was_cancelled, TB_SPAN("true"));
    settings->is_found = true;
}

tb_status tb_run_settings_read(const char *path,
                               struct tb_run_settings *settings,
                               struct tb_error *error)
{
    struct tb_buffer content = TB_BUFFER(SETTINGS_MAX_LEN);
    struct reading reading = {.settings = settings};
    *settings = (struct tb_run_settings){0};
    tb_status status = tb_input_read_all(path, &content, error);
    if (status == TB_OK) {
        tb_json_reader_init_span(&reading.reader, tb_buffer_span(&content), 0,
                                 1);
        status = read_fields(&reading);
        if (status != TB_OK && error) {
            *error = reading.reader.error;
            error->status = status;
            tb_error_set_path(error, path);
        }
    }
    if (status == TB_OK)
        keep_texts(&reading);
    else
        *settings = (struct tb_run_settings){0};
    tb_arena_release(&reading.arena);
    tb_buffer_release(&content);
    return status;
}
