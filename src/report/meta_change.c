#include "meta_change.h"

#include "meta.h"
#include "meta_rows.h"
#include "record_fields.h"

/* The old file, and the new one. */
struct copying {
    struct tb_json_form form;
    struct tb_arena arena;
    const struct tb_meta_change *change;
    struct tb_span command;                           // a text
    struct tb_span earlier, rows, block_size, counts; // raw; empty: none
};

static tb_status read_old(struct copying *copying, struct tb_span old)
{
    struct tb_json_reader reader;
    const struct tb_field fields[] = {
        TB_FIELD_TEXT("command", &copying->command),
        TB_FIELD_RAW("earlier_commands", &copying->earlier),
        TB_FIELD_RAW("rows", &copying->rows),
        TB_FIELD_RAW("block_size", &copying->block_size),
        TB_FIELD_RAW("counts", &copying->counts),
    };
    tb_json_reader_init_span(&reader, old, 0, 1);
    TB_TRY(tb_field_expect_object(&reader));
    return TB_FIELDS_READ(&reader, &copying->arena, fields);
}

static void put_raw(struct copying *copying, const char *key,
                    struct tb_span json)
{
    struct tb_json_reader reader;
    tb_json_reader_init_span(&reader, json, 0, 1);
    if (json.len > 0)
        tb_json_form_copy(&copying->form, key, &reader, &copying->arena);
}

/* Puts the values of the object `json` but for those of the `count` keys in
 * `left_out`. */
static tb_status put_rest(struct copying *copying, struct tb_span json,
                          const char *const *left_out, size_t count)
{
    struct tb_json_reader reader;
    tb_json_reader_init_span(&reader, json, 0, 1);
    TB_TRY(tb_json_enter_object(&reader));
    for (;;) {
        struct tb_span key;
        size_t i = 0;
        TB_TRY(tb_json_next_key(&reader, &key));
        if (!key.ptr)
            return TB_OK;
        struct tb_span name = key; // as read_old has it, without escapes
        TB_TRY(tb_json_decode_key(&reader, &copying->arena, &name));
        while (i < count && !tb_span_equal(name, tb_span_of(left_out[i])))
            i++;
        if (i < count) {
            TB_TRY(tb_json_skip(&reader));
            continue;
        }
        TB_TRY(tb_json_form_copy_member(&copying->form, key, &reader,
                                        &copying->arena));
    }
}

static tb_status put_earlier(struct copying *copying)
{
    struct tb_json_form *form = &copying->form;
    struct tb_json_reader reader;
    bool found = tb_field_is_filled(copying->earlier, '[');
    if (!found && copying->command.len == 0)
        return TB_OK;
    tb_json_form_open(form, "earlier_commands", '[');
    if (found) {
        tb_json_reader_init_span(&reader, copying->earlier, 0, 1);
        TB_TRY(tb_json_enter_array(&reader));
        TB_TRY(tb_json_next_item(&reader, &found));
        for (; found;) {
            tb_json_form_copy(form, NULL, &reader, &copying->arena);
            TB_TRY(form->status);
            TB_TRY(tb_json_next_item(&reader, &found));
        }
    }
    if (copying->command.len > 0)
        tb_json_form_text(form, NULL, copying->command);
    tb_json_form_close(form, ']');
    return TB_OK;
}

static tb_status put_rows(struct copying *copying)
{
    static const char *const said[] = {"prompt", "explanation", "delay_ms"};
    const struct tb_meta_change *change = copying->change;
    if (!change->has_rows) {
        put_raw(copying, "rows", copying->rows);
        return TB_OK;
    }
    tb_json_form_open(&copying->form, "rows", '{');
    tb_meta_rows_put(&copying->form, change->rows);
    if (tb_field_is_filled(copying->rows, '{'))
        TB_TRY(put_rest(copying, copying->rows, said,
                        sizeof(said) / sizeof(said[0])));
    tb_json_form_close(&copying->form, '}');
    return TB_OK;
}

static tb_status put_counts(struct copying *copying)
{
    static const char *const said[] = {"sessions", "rows", "input_tokens",
                                       "output_tokens"};
    const struct tb_meta_change *change = copying->change;
    if (!change->counts) {
        put_raw(copying, "counts", copying->counts);
        return TB_OK;
    }
    tb_json_form_open(&copying->form, "counts", '{');
    tb_meta_counts_put(&copying->form, change->counts);
    if (change->keeps_losses && tb_field_is_filled(copying->counts, '{'))
        TB_TRY(put_rest(copying, copying->counts, said,
                        sizeof(said) / sizeof(said[0])));
    tb_json_form_close(&copying->form, '}');
    return TB_OK;
}

static tb_status put_all(struct copying *copying, struct tb_span old)
{
    static const char *const said[] = {
        "meta_format",      "tracebake", "command",
        "earlier_commands", "rows",      "block_size",
        "counts",           "ids",       "salt"};
    enum { SAID_COUNT = sizeof(said) / sizeof(said[0]), OF_IDS = 2 };
    struct tb_json_form *form = &copying->form;
    const struct tb_meta_change *change = copying->change;
    tb_json_form_open(form, NULL, '{');
    tb_json_form_number(form, "meta_format", TB_META_FORMAT);
    tb_json_form_text(form, "tracebake", tb_span_of(change->version));
    if (change->command)
        tb_json_form_text(form, "command", tb_span_of(change->command));
    TB_TRY(put_earlier(copying));
    TB_TRY(put_rows(copying));
    if (change->block_size)
        tb_json_form_number(form, "block_size", change->block_size);
    else
        put_raw(copying, "block_size", copying->block_size);
    if (old.len > 0)
        TB_TRY(
            put_rest(copying, old, said,
                     change->has_new_ids ? SAID_COUNT : SAID_COUNT - OF_IDS));
    TB_TRY(put_counts(copying));
    tb_json_form_close(form, '}');
    return form->status;
}

tb_status tb_meta_change(const struct tb_meta_change *change,
                         struct tb_span old, struct tb_buffer *buffer)
{
    struct copying copying = {.form = tb_json_form_on(buffer, true),
                              .change = change};
    tb_status status = old.len > 0 ? read_old(&copying, old) : TB_OK;
    if (status == TB_OK)
        status = put_all(&copying, old);
    tb_arena_release(&copying.arena);
    return status;
}
