#include "row_share.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "c_locale.h"
#include "memory.h"
#include "mooncake_row.h"
#include "record_fields.h"

/* ---- before ----------------------------------------------------------- */

static bool is_set(const struct tb_mooncake_record *record,
                   tb_mooncake_field field)
{
    return tb_mooncake_value_is_set(&record->fields[field]);
}

/* Of `extra` the request for just so many tokens, as the converter writes it
 * for aiperf: is it there, and how many? */
static tb_status read_extra(const struct tb_mooncake_value *extra, bool *has,
                            uint64_t *count)
{
    struct tb_json_reader reader;
    struct tb_arena arena = {0};
    struct tb_span ignored = {0};
    const struct tb_field fields[] = {
        TB_FIELD_RAW("ignore_eos", &ignored),
        TB_FIELD_COUNT("min_tokens", count, has),
    };
    *has = false;
    if (extra->kind != TB_MOONCAKE_OBJECT)
        return TB_OK;
    tb_json_reader_init_span(&reader, extra->text, 0, 1);
    tb_status status = TB_FIELDS_READ(&reader, &arena, fields);
    *has = *has && tb_span_equal(ignored, TB_SPAN("true"));
    tb_arena_release(&arena);
    return status;
}

tb_status tb_row_share_look(struct tb_row_share *share,
                            const struct tb_row_input *input,
                            struct tb_error *error)
{
    static const tb_mooncake_field texts[] = {
        TB_MOONCAKE_MESSAGES, TB_MOONCAKE_TEXT_INPUT, TB_MOONCAKE_PAYLOAD,
        TB_MOONCAKE_TOOLS};
    const struct tb_mooncake_record *record = &input->record;
    double ms;
    bool has_count;
    uint64_t length, count;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (is_set(record, texts[i]))
            return tb_row_input_fail(
                input, TB_ERR_VALUE, error,
                "the row holds the text of its prompt (%s), which cannot be "
                "shared",
                tb_mooncake_field_key(texts[i]));
    bool has_length =
        tb_mooncake_record_length(record, TB_MOONCAKE_INPUT_LENGTH,
                                  TB_MOONCAKE_INPUT_TOKENS, &length) &&
        length < UINT64_MAX; // else it is not written
    if (!has_length && !is_set(record, TB_MOONCAKE_HASH_IDS))
        return tb_row_input_fail(input, TB_ERR_VALUE, error,
                                 "the row has neither input_length nor "
                                 "hash_ids");
    tb_status status =
        read_extra(&record->fields[TB_MOONCAKE_EXTRA], &has_count, &count);
    if (status == TB_ERR_MEMORY)
        return tb_fail(error, status, "out of memory");
    if (status != TB_OK)
        return tb_row_input_fail(input, TB_ERR_VALUE, error,
                                 "extra: cannot be read (%s)",
                                 tb_status_name(status));
    if (is_set(record, TB_MOONCAKE_HASH_IDS))
        TB_TRY(tb_row_input_check_ids(input, error));
    if (tb_mooncake_record_time(record, TB_MOONCAKE_TIMESTAMP,
                                TB_MOONCAKE_CREATED_TIME, &ms) &&
        isfinite(ms)) {
        share->first_ms =
            share->has_time && share->first_ms < ms ? share->first_ms : ms;
        share->has_time = true;
    }
    return TB_OK;
}

/* ---- names and ids ---------------------------------------------------- */

// What the secret makes of a name; `kind` keeps equal names of two kinds apart.
static uint64_t keyed_number(const struct tb_row_share *share, const char *kind,
                             struct tb_span name)
{
    struct tb_keyed_hash key = *share->secret;
    tb_digest_add(&key.inner, tb_span_of(kind));
    tb_digest_add(&key.inner, TB_SPAN(": "));
    return tb_keyed_hash64(&key, name);
}

// A name of ours for `name`: s1, or s-0123456789abcdef with a secret.
static tb_status put_name(struct tb_row_share *share,
                          struct tb_name_table *table, const char *kind,
                          struct tb_span name, struct tb_buffer *text)
{
    uint32_t number;
    TB_TRY(tb_name_table_add(table, name, &number));
    if (!share->secret)
        return tb_buffer_printf(text, "\"%s%u\"", kind, number + 1);
    return tb_buffer_printf(
        text, "\"%s-%016llx\"", kind,
        (unsigned long long)keyed_number(share, kind, name));
}

static tb_status make_id(struct tb_row_share *share, uint64_t id,
                         uint64_t *made)
{
    bool is_new;
    if (!share->seed)
        share->seed = tb_hash_secret() | 1;
    struct tb_hash128 block = tb_hash128(
        (struct tb_span){(const uint8_t *)&id, sizeof(id)}, share->seed);
    TB_TRY(tb_block_table_add(&share->blocks, block, made, &is_new));
    if (!share->secret)
        return TB_OK;
    if (is_new) {
        uint64_t *list = tb_array_grow(share->made, &share->made_capacity,
                                       share->made_count + 1, sizeof(*list));
        if (!list)
            return TB_ERR_MEMORY;
        share->made = list;
        uint8_t bytes[sizeof(id)];
        for (size_t i = 0; i < sizeof(id); i++)
            bytes[i] = (uint8_t)(id >> 8 * i);
        // 63 bits, as ids by content have them.
        list[share->made_count++] =
            keyed_number(share, "id", (struct tb_span){bytes, sizeof(bytes)}) >>
            1;
    }
    *made = share->made[*made];
    return TB_OK;
}

static tb_status put_ids(struct tb_row_share *share,
                         const struct tb_mooncake_record *record,
                         struct tb_buffer *text)
{
    uint64_t *ids = tb_array_grow(share->ids, &share->id_capacity,
                                  record->id_count + 1, sizeof(*ids));
    if (!ids)
        return TB_ERR_MEMORY;
    share->ids = ids;
    for (size_t i = 0; i < record->id_count; i++)
        TB_TRY(make_id(share, record->ids[i], &ids[i]));
    TB_TRY(tb_buffer_append(text, TB_SPAN(", \"hash_ids\": ")));
    return tb_mooncake_ids_write(ids, record->id_count, text);
}

/* ---- fields ----------------------------------------------------------- */

static tb_status put_length(const struct tb_mooncake_record *record,
                            tb_mooncake_field field, tb_mooncake_field other,
                            uint64_t *sum, struct tb_buffer *text)
{
    uint64_t length;
    if (!tb_mooncake_record_length(record, field, other, &length) ||
        length == UINT64_MAX)
        return TB_OK;
    *sum += length;
    return tb_buffer_printf(text, ", \"%s\": %llu",
                            tb_mooncake_field_key(field),
                            (unsigned long long)length);
}

// Milliseconds, down to a thousandth of one.
static tb_status put_time(const struct tb_mooncake_record *record,
                          tb_mooncake_field field, tb_mooncake_field other,
                          double origin_ms, struct tb_buffer *text)
{
    enum { DIGITS = 3 };
    char number[400];
    double ms;
    if (!tb_mooncake_record_time(record, field, other, &ms) || !isfinite(ms) ||
        ms - origin_ms < 0 || !isfinite(ms - origin_ms))
        return TB_OK;
    tb_real_to_text(number, sizeof(number), DIGITS, 'f', ms - origin_ms);
    size_t len = strlen(number);
    while (number[len - 1] == '0')
        len--;
    len -= number[len - 1] == '.';
    return tb_buffer_printf(text, ", \"%s\": %.*s",
                            tb_mooncake_field_key(field), (int)len, number);
}

// A number, or one of the names that priorities have.
static tb_status put_priority(struct tb_row_share *share,
                              const struct tb_mooncake_value *priority,
                              struct tb_buffer *text)
{
    static const char *const names[] = {"LOW", "MEDIUM", "HIGH", "CRITICAL"};
    struct tb_mooncake_integer integer;
    if (priority->kind == TB_MOONCAKE_NUMBER &&
        tb_mooncake_value_integer(priority, &integer) == TB_MOONCAKE_READ &&
        !integer.is_negative && integer.magnitude <= INT32_MAX)
        return tb_buffer_printf(text, ", \"priority\": %u",
                                (unsigned)integer.magnitude);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (priority->kind == TB_MOONCAKE_TEXT &&
            priority->text.len == strlen(names[i]) &&
            strncasecmp((const char *)priority->text.ptr, names[i],
                        priority->text.len) == 0)
            return tb_buffer_printf(text, ", \"priority\": \"%s\"", names[i]);
    share->dropped_priority += tb_mooncake_value_is_set(priority);
    return TB_OK;
}

static tb_status put_extra(const struct tb_mooncake_value *extra,
                           struct tb_buffer *text)
{
    uint64_t count;
    bool has_count;
    TB_TRY(read_extra(extra, &has_count, &count));
    if (!has_count)
        return TB_OK;
    return tb_buffer_printf(
        text, ", \"extra\": {\"ignore_eos\": true, \"min_tokens\": %llu}",
        (unsigned long long)count);
}

static tb_status put_session(struct tb_row_share *share,
                             const struct tb_mooncake_record *record,
                             tb_mooncake_field field, struct tb_buffer *text)
{
    struct tb_span name = tb_mooncake_record_name(record, field);
    if (name.len == 0)
        return TB_OK;
    TB_TRY(tb_buffer_printf(text, ", \"%s\": ", tb_mooncake_field_key(field)));
    return put_name(share, &share->sessions, "s", name, text);
}

static tb_status put_agent(struct tb_row_share *share,
                           const struct tb_mooncake_record *record,
                           struct tb_buffer *text)
{
    struct tb_span name =
        tb_mooncake_record_name(record, TB_MOONCAKE_AGENT_TYPE);
    if (name.len == 0)
        return TB_OK;
    TB_TRY(tb_buffer_append(text, TB_SPAN(", \"agent_type\": ")));
    return put_name(share, &share->agents, "agent", name, text);
}

// Each field with a comma in front.
static tb_status put_fields(struct tb_row_share *share,
                            const struct tb_mooncake_record *record,
                            struct tb_buffer *text)
{
    TB_TRY(put_session(share, record, TB_MOONCAKE_SESSION_ID, text));
    TB_TRY(put_agent(share, record, text));
    TB_TRY(put_length(record, TB_MOONCAKE_INPUT_LENGTH,
                      TB_MOONCAKE_INPUT_TOKENS, &share->counts.input_tokens,
                      text));
    TB_TRY(put_length(record, TB_MOONCAKE_OUTPUT_LENGTH,
                      TB_MOONCAKE_OUTPUT_TOKENS, &share->counts.output_tokens,
                      text));
    if (is_set(record, TB_MOONCAKE_HASH_IDS))
        TB_TRY(put_ids(share, record, text));
    TB_TRY(put_priority(share, &record->fields[TB_MOONCAKE_PRIORITY], text));
    TB_TRY(put_time(record, TB_MOONCAKE_TIMESTAMP, TB_MOONCAKE_CREATED_TIME,
                    share->first_ms, text));
    TB_TRY(put_time(record, TB_MOONCAKE_DELAY, TB_MOONCAKE_DELAY_MS, 0, text));
    TB_TRY(put_extra(&record->fields[TB_MOONCAKE_EXTRA], text));
    return put_session(share, record, TB_MOONCAKE_PARENT_SESSION_ID, text);
}

tb_status tb_row_share_add(struct tb_row_share *share,
                           const struct tb_row_input *input,
                           struct tb_buffer *text, struct tb_error *error)
{
    const struct tb_mooncake_record *record = &input->record;
    size_t begin = text->len;
    share->counts.rows++;
    share->nameless_count +=
        tb_mooncake_record_name(record, TB_MOONCAKE_SESSION_ID).len == 0;
    tb_status status = put_fields(share, record, text);
    if (status == TB_OK)
        status = tb_buffer_append(text, TB_SPAN("}\n"));
    if (status != TB_OK)
        return tb_row_input_fail(input, status, error,
                                 "cannot write the row: %s",
                                 tb_status_name(status));
    // The first comma and the space behind it become what opens the object.
    text->ptr[begin + 1] = '{';
    memmove(text->ptr + begin, text->ptr + begin + 1, text->len - begin - 1);
    text->len--;
    return TB_OK;
}

void tb_row_share_release(struct tb_row_share *share)
{
    tb_name_table_release(&share->sessions);
    tb_name_table_release(&share->agents);
    tb_block_table_release(&share->blocks);
    tb_memory_free(share->made);
    tb_memory_free(share->ids);
    *share = (struct tb_row_share){0};
}
