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

/* Values of a field; TB_ERR_TYPE when it is of another type. */
TB_NODISCARD tb_status tb_protobuf_bytes(const struct tb_protobuf_field *field,
                                         struct tb_span *bytes,
                                         struct tb_error *error);
TB_NODISCARD tb_status tb_protobuf_bool(const struct tb_protobuf_field *field,
                                        bool *flag, struct tb_error *error);
TB_NODISCARD tb_status tb_protobuf_enum(const struct tb_protobuf_field *field,
                                        int32_t *value, struct tb_error *error);
TB_NODISCARD tb_status tb_protobuf_float(const struct tb_protobuf_field *field,
                                         float *value, struct tb_error *error);

#endif
