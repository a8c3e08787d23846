#include "protobuf.h"

#include <string.h>

static tb_status fail(const struct tb_protobuf *message, tb_status status,
                      const char *what, struct tb_error *error)
{
    return tb_fail(error, status, "byte %zu: %s", message->offset + message->at,
                   what);
}

static tb_status read_varint(struct tb_protobuf *message, uint64_t *value,
                             struct tb_error *error)
{
    *value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (message->at == message->bytes.len)
            return fail(message, TB_ERR_CUT, "a number is cut off", error);
        uint8_t byte = message->bytes.ptr[message->at++];
        *value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            return TB_OK;
    }
    return fail(message, TB_ERR_SYNTAX, "a number is longer than ten bytes",
                error);
}

static tb_status read_fixed(struct tb_protobuf *message, unsigned len,
                            uint64_t *value, struct tb_error *error)
{
    if (message->bytes.len - message->at < len)
        return fail(message, TB_ERR_CUT, "a number is cut off", error);
    *value = 0;
    for (unsigned i = 0; i < len; i++)
        *value |= (uint64_t)message->bytes.ptr[message->at++] << (8 * i);
    return TB_OK;
}

static tb_status read_bytes(struct tb_protobuf *message, struct tb_span *bytes,
                            struct tb_error *error)
{
    uint64_t len;
    TB_TRY(read_varint(message, &len, error));
    if (len > message->bytes.len - message->at)
        return fail(message, TB_ERR_CUT, "a field is longer than what is left",
                    error);
    *bytes = (struct tb_span){message->bytes.ptr + message->at, (size_t)len};
    message->at += (size_t)len;
    return TB_OK;
}

tb_status tb_protobuf_next(struct tb_protobuf *message,
                           struct tb_protobuf_field *field,
                           struct tb_error *error)
{
    uint64_t key;
    *field =
        (struct tb_protobuf_field){.offset = message->offset + message->at};
    if (message->at == message->bytes.len)
        return TB_OK;
    TB_TRY(read_varint(message, &key, error));
    if (key >> 3 == 0 || key >> 3 > UINT32_MAX >> 3)
        return fail(message, TB_ERR_SYNTAX, "no field has this number", error);
    field->number = (uint32_t)(key >> 3);
    field->type = (tb_protobuf_type)(key & 7);
    switch (field->type) {
    case TB_PROTOBUF_VARINT:
        return read_varint(message, &field->value, error);
    case TB_PROTOBUF_FIXED64:
        return read_fixed(message, 8, &field->value, error);
    case TB_PROTOBUF_FIXED32:
        return read_fixed(message, 4, &field->value, error);
    case TB_PROTOBUF_BYTES:
        return read_bytes(message, &field->bytes, error);
    default:
        return fail(message, TB_ERR_SYNTAX, "no field has this type", error);
    }
}

struct tb_protobuf tb_protobuf_inside(const struct tb_protobuf *message,
                                      const struct tb_protobuf_field *field)
{
    size_t at = field->bytes.len
                    ? (size_t)(field->bytes.ptr - message->bytes.ptr)
                    : message->at;
    return (struct tb_protobuf){field->bytes, 0, message->offset + at};
}

static tb_status expect(const struct tb_protobuf_field *field,
                        tb_protobuf_type type, struct tb_error *error)
{
    if (field->type == type)
        return TB_OK;
    return tb_fail(error, TB_ERR_TYPE,
                   "byte %zu: field %u is of type %d, expected %d",
                   field->offset, field->number, (int)field->type, (int)type);
}

tb_status tb_protobuf_bytes(const struct tb_protobuf_field *field,
                            struct tb_span *bytes, struct tb_error *error)
{
    TB_TRY(expect(field, TB_PROTOBUF_BYTES, error));
    *bytes = field->bytes;
    return TB_OK;
}

static tb_status read_number(const struct tb_protobuf_field *field,
                             const struct tb_protobuf_member *member,
                             void *place, struct tb_error *error)
{
    uint32_t bits = (uint32_t)field->value;
    int32_t number = field->value <= INT32_MAX ? (int32_t)field->value : -1;
    bool flag = field->value != 0;
    if (member->kind == TB_PROTOBUF_FLOAT) {
        TB_TRY(expect(field, TB_PROTOBUF_FIXED32, error));
        memcpy(place, &bits, sizeof(float));
        return TB_OK;
    }
    TB_TRY(expect(field, TB_PROTOBUF_VARINT, error));
    if (member->kind == TB_PROTOBUF_FLAG)
        memcpy(place, &flag, sizeof(flag));
    else
        memcpy(place, &number, sizeof(number));
    return TB_OK;
}

static const struct tb_protobuf_member *
find_member(const struct tb_protobuf_member *members, size_t count,
            uint32_t number)
{
    for (size_t i = 0; i < count; i++)
        if (members[i].number == number)
            return &members[i];
    return NULL;
}

tb_status tb_protobuf_read(struct tb_protobuf message,
                           const struct tb_protobuf_member *members,
                           size_t count, void *record, struct tb_error *error)
{
    for (;;) {
        struct tb_protobuf_field field;
        TB_TRY(tb_protobuf_next(&message, &field, error));
        if (field.number == 0)
            return TB_OK;
        const struct tb_protobuf_member *member =
            find_member(members, count, field.number);
        if (!member)
            continue;
        void *place = (char *)record + member->offset;
        TB_TRY(member->kind == TB_PROTOBUF_TEXT
                   ? tb_protobuf_bytes(&field, place, error)
                   : read_number(&field, member, place, error));
    }
}
