/* Reading the fields of a record as toolkits write them: any of them may be
 * null, absent or of another type, which is never an error here.
 *
 * Each function consumes the next value whole (or enters it, where its name
 * says so). Failures are those of json_reader.h: broken JSON, no memory.
 *
 * What a record looks like is written down as tables of its keys:
 *
 *     const struct tb_field usage[] = {
 *         TB_FIELD_COUNT("prompt_tokens", &prompt, &has_prompt),
 *     };
 *     const struct tb_field record[] = {
 *         TB_FIELD_TEXT("model", &model),
 *         TB_FIELD_OBJECT("usage", usage),
 *     };
 *     TB_TRY(TB_FIELDS_READ(&reader, arena, record));
 */
#ifndef TB_RECORD_FIELDS_H
#define TB_RECORD_FIELDS_H

#include "json_reader.h"

/* A string gives its text; anything else leaves `*text` alone. */
TB_NODISCARD tb_status tb_field_string(struct tb_json_reader *reader,
                                       struct tb_arena *arena,
                                       struct tb_span *text);

/* As tb_field_string, but a number gives its digits: for ids. */
TB_NODISCARD tb_status tb_field_id(struct tb_json_reader *reader,
                                   struct tb_arena *arena,
                                   struct tb_span *text);

/* A count: a number that is not negative, 12.0 and "12" too. Anything else
 * makes `*has` false. */
TB_NODISCARD tb_status tb_field_count(struct tb_json_reader *reader,
                                      struct tb_arena *arena, uint64_t *count,
                                      bool *has);

/* A finite number, or NAN. */
TB_NODISCARD tb_status tb_field_number(struct tb_json_reader *reader,
                                       double *value);

/* The raw bytes of a value, or an empty span for null. */
TB_NODISCARD tb_status tb_field_raw(struct tb_json_reader *reader,
                                    struct tb_span *json);

typedef enum tb_field_kind {
    TB_FIELD_KIND_TEXT,   /* tb_field_string */
    TB_FIELD_KIND_ID,     /* tb_field_id */
    TB_FIELD_KIND_COUNT,  /* tb_field_count */
    TB_FIELD_KIND_NUMBER, /* tb_field_number */
    TB_FIELD_KIND_RAW,    /* tb_field_raw */
    TB_FIELD_KIND_OBJECT, /* an object of which `fields` are wanted */
    TB_FIELD_KIND_READ,   /* what `read` makes of the value */
} tb_field_kind;

/* A key of an object, and where its value goes. */
struct tb_field {
    struct tb_span key;
    tb_field_kind kind;
    void *slot; /* span, count or number; of READ the context */
    bool *has;  /* of COUNT */
    tb_status (*read)(struct tb_json_reader *reader, void *context);
    const struct tb_field *fields; /* of OBJECT */
    size_t field_count;
};

#define TB_FIELD_TEXT(name, span)                                              \
    {                                                                          \
        .key = TB_SPAN(name), .kind = TB_FIELD_KIND_TEXT, .slot = (span)       \
    }
#define TB_FIELD_ID(name, span)                                                \
    {                                                                          \
        .key = TB_SPAN(name), .kind = TB_FIELD_KIND_ID, .slot = (span)         \
    }
#define TB_FIELD_COUNT(name, count, known)                                     \
    {                                                                          \
        .key = TB_SPAN(name), .kind = TB_FIELD_KIND_COUNT, .slot = (count),    \
        .has = (known)                                                         \
    }
#define TB_FIELD_NUMBER(name, number)                                          \
    {                                                                          \
        .key = TB_SPAN(name), .kind = TB_FIELD_KIND_NUMBER, .slot = (number)   \
    }
#define TB_FIELD_RAW(name, span)                                               \
    {                                                                          \
        .key = TB_SPAN(name), .kind = TB_FIELD_KIND_RAW, .slot = (span)        \
    }
#define TB_FIELD_OBJECT(name, table)                                           \
    {                                                                          \
        .key = TB_SPAN(name), .kind = TB_FIELD_KIND_OBJECT, .fields = (table), \
        .field_count = sizeof(table) / sizeof((table)[0])                      \
    }
#define TB_FIELD_READ(name, function, context)                                 \
    {                                                                          \
        .key = TB_SPAN(name), .kind = TB_FIELD_KIND_READ, .read = (function),  \
        .slot = (context)                                                      \
    }

/* Reads an object by its table; keys that are not in it are stepped over, and
 * so is a value that is no object. Of a key that comes twice the last counts.
 * No two fields have one key; keys in the order of the table are found fastest.
 */
TB_NODISCARD tb_status tb_fields_read(struct tb_json_reader *reader,
                                      struct tb_arena *arena,
                                      const struct tb_field *fields,
                                      size_t count);

#define TB_FIELDS_READ(reader, arena, table)                                   \
    tb_fields_read(reader, arena, table, sizeof(table) / sizeof((table)[0]))

/* TB_ERR_TYPE unless the next value, which stays, is an object. */
TB_NODISCARD tb_status tb_field_expect_object(struct tb_json_reader *reader);

/* Steps into an object; anything else is stepped over and `*entered` false. */
TB_NODISCARD tb_status tb_field_enter_object(struct tb_json_reader *reader,
                                             bool *entered);
TB_NODISCARD tb_status tb_field_enter_array(struct tb_json_reader *reader,
                                            bool *entered);

/* The string at `outer`.`inner` of the object `json`, without looking at
 * anything else of it; `*text` stays as it is when there is none. */
TB_NODISCARD tb_status tb_field_find(struct tb_span json, struct tb_span outer,
                                     struct tb_span inner,
                                     struct tb_arena *arena,
                                     struct tb_span *text);

/* Is this raw JSON a list or object with something in it? */
bool tb_field_is_filled(struct tb_span json, uint8_t opening);

#endif
