#include "mooncake_record.h"

#include <string.h>

#include "hash.h"
#include "memory.h"
#include "plain_row.h"

#define KEY(text)                                                              \
    {                                                                          \
        text, sizeof(text) - 1                                                 \
    }

static const struct {
    const char *text;
    size_t len;
} keys[] = {
    [TB_MOONCAKE_SESSION_ID] = KEY("session_id"),
    [TB_MOONCAKE_INPUT_LENGTH] = KEY("input_length"),
    [TB_MOONCAKE_OUTPUT_LENGTH] = KEY("output_length"),
    [TB_MOONCAKE_HASH_IDS] = KEY("hash_ids"),
    [TB_MOONCAKE_TIMESTAMP] = KEY("timestamp"),
    [TB_MOONCAKE_DELAY] = KEY("delay"),
    [TB_MOONCAKE_AGENT_TYPE] = KEY("agent_type"),
    [TB_MOONCAKE_PRIORITY] = KEY("priority"),
    [TB_MOONCAKE_TYPE] = KEY("type"),
    [TB_MOONCAKE_EXTRA] = KEY("extra"),
    [TB_MOONCAKE_TEXT_INPUT] = KEY("text_input"),
    [TB_MOONCAKE_MESSAGES] = KEY("messages"),
    [TB_MOONCAKE_TOOLS] = KEY("tools"),
    [TB_MOONCAKE_PAYLOAD] = KEY("payload"),
    [TB_MOONCAKE_PARENT_SESSION_ID] = KEY("parent_session_id"),
    [TB_MOONCAKE_REQUEST_ID] = KEY("request_id"),
    [TB_MOONCAKE_STRICT_PRIORITY] = KEY("strict_priority"),
    [TB_MOONCAKE_POLICY_CLASS] = KEY("policy_class"),
    [TB_MOONCAKE_INPUT_TOKENS] = KEY("input_tokens"),
    [TB_MOONCAKE_OUTPUT_TOKENS] = KEY("output_tokens"),
    [TB_MOONCAKE_CREATED_TIME] = KEY("created_time"),
    [TB_MOONCAKE_DELAY_MS] = KEY("delay_ms"),
};

const char *tb_mooncake_field_key(tb_mooncake_field field)
{
    return keys[field].text;
}

size_t tb_mooncake_field_of(struct tb_span key)
{
    size_t field = 0;
    while (field < TB_MOONCAKE_FIELD_COUNT &&
           (key.len != keys[field].len ||
            memcmp(key.ptr, keys[field].text, key.len) != 0))
        field++;
    return field;
}

tb_status tb_mooncake_record_reserve(struct tb_mooncake_record *record,
                                     size_t count)
{
    uint64_t *ids =
        tb_array_grow(record->ids, &record->id_capacity, count, sizeof(*ids));
    if (!ids)
        return TB_ERR_MEMORY;
    record->ids = ids;
    return TB_OK;
}

/* What stands for an id that need not be plain digits. */
static uint64_t id_of(const struct tb_mooncake_integer *integer)
{
    struct tb_span bytes = {(const uint8_t *)&integer->magnitude,
                            sizeof(integer->magnitude)};
    if (integer->is_negative || integer->is_beyond)
        return tb_hash64(bytes, integer->is_negative ? 2 : 1);
    return integer->magnitude;
}

static tb_status read_id(struct tb_mooncake_record *record,
                         struct tb_json_reader *reader, struct tb_arena *arena)
{
    struct tb_mooncake_value value = {0};
    struct tb_mooncake_integer integer;
    TB_TRY(tb_mooncake_value_read(reader, arena, &value));
    TB_TRY(tb_mooncake_record_reserve(record, record->id_count + 1));
    tb_mooncake_reading reading = tb_mooncake_value_integer(&value, &integer);
    if (reading != TB_MOONCAKE_READ &&
        record->bad_item == TB_MOONCAKE_NO_ITEM) {
        record->bad_item = record->id_count;
        record->bad_reading = reading;
    }
    if ((reading != TB_MOONCAKE_READ || integer.is_odd) &&
        record->odd_item == TB_MOONCAKE_NO_ITEM)
        record->odd_item = record->id_count;
    record->ids[record->id_count++] = id_of(&integer);
    return TB_OK;
}

static tb_status read_any_ids(struct tb_mooncake_record *record,
                              struct tb_span list, struct tb_arena *arena)
{
    struct tb_json_reader reader;
    tb_json_reader_init_span(&reader, list, 0, 1);
    record->id_count = 0;
    TB_TRY(tb_json_enter_array(&reader));
    for (;;) {
        bool found;
        TB_TRY(tb_json_next_item(&reader, &found));
        if (!found)
            return TB_OK;
        TB_TRY(read_id(record, &reader, arena));
    }
}

static tb_status read_ids(struct tb_mooncake_record *record,
                          struct tb_arena *arena, struct tb_error *error)
{
    struct tb_span list = record->fields[TB_MOONCAKE_HASH_IDS].text;
    size_t len;
    if (record->fields[TB_MOONCAKE_HASH_IDS].kind != TB_MOONCAKE_LIST)
        return TB_OK;
    tb_status status = tb_plain_ids_read(list, record, &len);
    if (status == TB_OK && len != list.len)
        status = read_any_ids(record, list, arena);
    if (status == TB_OK)
        return TB_OK;
    return tb_fail(error, status,
                   status == TB_ERR_MEMORY ? "out of memory"
                                           : "hash_ids cannot be read");
}

static tb_status read_fields(struct tb_mooncake_record *record,
                             struct tb_json_reader *reader,
                             struct tb_arena *arena)
{
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            return tb_json_expect_end(reader);
        TB_TRY(tb_json_decode_key(reader, arena, &key));
        size_t field = tb_mooncake_field_of(key);
        if (field == TB_MOONCAKE_FIELD_COUNT)
            TB_TRY(tb_json_skip(reader));
        else
            TB_TRY(
                tb_mooncake_value_read(reader, arena, &record->fields[field]));
    }
}

static void clear(struct tb_mooncake_record *record)
{
    memset(record->fields, 0, sizeof(record->fields));
    record->id_count = 0;
    record->odd_item = record->bad_item = TB_MOONCAKE_NO_ITEM;
}

tb_status tb_mooncake_record_read(struct tb_mooncake_record *record,
                                  struct tb_span line, uint64_t offset,
                                  uint64_t line_number, struct tb_arena *arena,
                                  struct tb_error *error)
{
    struct tb_json_reader reader;
    clear(record);
    if (tb_plain_row_read(line, record))
        return TB_OK;
    clear(record);
    tb_json_reader_init_span(&reader, line, offset, line_number);
    tb_status status = read_fields(record, &reader, arena);
    if (status == TB_OK)
        return read_ids(record, arena, error);
    if (error)
        *error = reader.error;
    return status;
}

static const struct tb_mooncake_value *
set_field(const struct tb_mooncake_record *record, tb_mooncake_field field,
          tb_mooncake_field other)
{
    return tb_mooncake_value_is_set(&record->fields[field])
               ? &record->fields[field]
               : &record->fields[other];
}

bool tb_mooncake_record_length(const struct tb_mooncake_record *record,
                               tb_mooncake_field field, tb_mooncake_field other,
                               uint64_t *length)
{
    struct tb_mooncake_integer integer;
    const struct tb_mooncake_value *value = set_field(record, field, other);
    tb_mooncake_reading reading = tb_mooncake_value_integer(value, &integer);
    bool is_beyond = reading == TB_MOONCAKE_OUT_OF_RANGE
                         ? value->text.len > 0 && value->text.ptr[0] != '-'
                         : integer.is_beyond && !integer.is_negative;
    bool is_read = reading == TB_MOONCAKE_READ && !integer.is_negative;
    *length = is_beyond ? UINT64_MAX : is_read ? integer.magnitude : 0;
    return is_beyond || is_read;
}

bool tb_mooncake_record_time(const struct tb_mooncake_record *record,
                             tb_mooncake_field field, tb_mooncake_field other,
                             double *ms)
{
    return tb_mooncake_value_real(set_field(record, field, other), ms) ==
           TB_MOONCAKE_READ;
}

struct tb_span tb_mooncake_record_name(const struct tb_mooncake_record *record,
                                       tb_mooncake_field field)
{
    const struct tb_mooncake_value *value = &record->fields[field];
    bool is_name =
        value->kind == TB_MOONCAKE_TEXT || value->kind == TB_MOONCAKE_NUMBER;
    return is_name ? value->text : (struct tb_span){0};
}

void tb_mooncake_record_release(struct tb_mooncake_record *record)
{
    tb_memory_free(record->ids);
    *record = (struct tb_mooncake_record){0};
}
