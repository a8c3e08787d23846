#include "meta_shared.h"

#include <stdio.h>
#include <string.h>

#include "meta.h"
#include "meta_rows.h"
#include "record_fields.h"

// 32 hex digits are no text that says anything.
static bool is_fingerprint(struct tb_span text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!memchr("0123456789abcdef", text.ptr[i], 16))
            return false;
    return text.len == 32;
}

tb_status tb_meta_shared_read(struct tb_meta_shared *shared,
                              struct tb_span content, struct tb_arena *arena)
{
    struct tb_json_reader reader;
    struct tb_span fingerprint = {0}, ids = {0};
    uint64_t first_ms;
    const struct tb_field tokenizer[] = {
        TB_FIELD_TEXT("fingerprint", &fingerprint)};
    const struct tb_field fields[] = {
        TB_FIELD_OBJECT("tokenizer", tokenizer),
        TB_FIELD_TEXT("ids", &ids),
        TB_FIELD_TEXT("salt", &shared->salt),
        TB_FIELD_COUNT("first_ms", &first_ms, &shared->has_first_ms),
    };
    tb_json_reader_init_span(&reader, content, 0, 1);
    tb_status status = tb_field_expect_object(&reader);
    if (status == TB_OK)
        status = TB_FIELDS_READ(&reader, arena, fields);
    if (status != TB_OK)
        return status == TB_ERR_MEMORY ? status : TB_OK;
    if (is_fingerprint(fingerprint))
        memcpy(shared->fingerprint, fingerprint.ptr, fingerprint.len);
    shared->has_content_ids = tb_span_equal(ids, TB_SPAN("content"));
    return TB_OK;
}

void tb_meta_shared_set_secret(struct tb_meta_shared *shared,
                               const struct tb_keyed_hash *secret)
{
    struct tb_keyed_hash key = *secret;
    tb_keyed_hash_name(&key, shared->shared_salt);
    if (shared->salt.len == 0)
        return;
    tb_digest_add(&key.inner, shared->salt);
    tb_keyed_hash_name(&key, shared->shared_salt);
}

tb_status tb_meta_shared_json(const struct tb_meta_shared *shared,
                              struct tb_buffer *buffer)
{
    struct tb_json_form form = tb_json_form_on(buffer, true);
    tb_json_form_open(&form, NULL, '{');
    tb_json_form_number(&form, "meta_format", TB_META_FORMAT);
    tb_json_form_text(&form, "tracebake", tb_span_of(shared->version));
    if (shared->has_rows) {
        tb_json_form_open(&form, "rows", '{');
        tb_meta_rows_put(&form, shared->rows);
        tb_json_form_close(&form, '}');
    }
    if (shared->shared_salt[0]) {
        tb_json_form_text(&form, "ids", TB_SPAN("content"));
        tb_json_form_text(&form, "salt", tb_span_of(shared->shared_salt));
        if (shared->has_first_ms)
            tb_json_form_number(&form, "first_ms", 0);
    }
    if (shared->block_size)
        tb_json_form_number(&form, "block_size", shared->block_size);
    if (shared->fingerprint[0]) {
        tb_json_form_open(&form, "tokenizer", '{');
        tb_json_form_text(&form, "fingerprint",
                          tb_span_of(shared->fingerprint));
        tb_json_form_close(&form, '}');
    }
    tb_json_form_open(&form, "counts", '{');
    tb_meta_counts_put(&form, &shared->counts);
    tb_json_form_close(&form, '}');
    tb_json_form_close(&form, '}');
    return form.status;
}
