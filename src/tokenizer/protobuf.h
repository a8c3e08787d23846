/* Protocol Buffers, as far as a reader of one known message needs them: the
 * fields one by one, as they lie in the file. No schema, no copies.
 *
 *     struct tb_protobuf message = {.bytes = content};
 *     struct tb_protobuf_field field;
 *     TB_TRY(tb_protobuf_next(&message, &field, error));
 *     while (field.number) {
 *         ...
 *         TB_TRY(tb_protobuf_next(&message, &field, error));
 *     }
 *
 * Failures are TB_ERR_CUT or TB_ERR_SYNTAX, and their message tells the byte.
 */
#ifndef TB_PROTOBUF_H
#define TB_PROTOBUF_H

#include "status.h"

typedef enum tb_protobuf_type {
    TB_PROTOBUF_VARINT = 0,
    TB_PROTOBUF_FIXED64 = 1,
    TB_PROTOBUF_BYTES = 2, /* texts and messages in it */
    TB_PROTOBUF_FIXED32 = 5,
} tb_protobuf_type;

struct tb_protobuf {
    struct tb_span bytes;
    size_t at;     /* the next field */
    size_t offset; /* of `bytes` in the file */
};

struct tb_protobuf_field {
    uint32_t number; /* 0: there is no further field */
    tb_protobuf_type type;
    uint64_t value;       /* of a number, as its bits */
    struct tb_span bytes; /* of TB_PROTOBUF_BYTES; borrowed */
    size_t offset;        /* of the field in the file */
};

TB_NODISCARD tb_status tb_protobuf_next(struct tb_protobuf *message,
                                        struct tb_protobuf_field *field,
                                        struct tb_error *error);

/* The message in a field. */
struct tb_protobuf tb_protobuf_inside(const struct tb_protobuf *message,
                                      const struct tb_protobuf_field *field);

/* The text or message of a field; TB_ERR_TYPE when it is of another type. */
TB_NODISCARD tb_status tb_protobuf_bytes(const struct tb_protobuf_field *field,
                                         struct tb_span *bytes,
                                         struct tb_error *error);

/* ---- messages as tables ----
 *
 *     static const struct tb_protobuf_member members[] = {
 *         {1, TB_PROTOBUF_TEXT, offsetof(struct piece, text)},
 *         ...
 */

typedef enum tb_protobuf_kind {
    TB_PROTOBUF_TEXT,  /* struct tb_span; borrowed */
    TB_PROTOBUF_FLAG,  /* bool */
    TB_PROTOBUF_ENUM,  /* int32_t; -1 for what does not fit */
    TB_PROTOBUF_FLOAT, /* float */
} tb_protobuf_kind;

/* What a field of a message is read to: the member of a struct. */
struct tb_protobuf_member {
    uint32_t number;
    tb_protobuf_kind kind;
    size_t offset; /* of the member in the struct */
};

/* Reads all of a message. Members whose field is not there stay as they are;
 * fields that are no member are passed over; of one that comes twice the last
 * counts. TB_ERR_TYPE when a field is of another type. */
TB_NODISCARD tb_status tb_protobuf_read(
    struct tb_protobuf message, const struct tb_protobuf_member *members,
    size_t count, void *record, struct tb_error *error);

#endif
