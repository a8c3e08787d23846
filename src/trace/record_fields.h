/* Reading the fields of a record as toolkits write them: any of them may be
 * null, absent or of another type, which is never an error here. Private to
 * this layer.
 *
 * Each function consumes the next value whole (or enters it, where its name
 * says so). Failures are those of json_reader.h: broken JSON, no memory. */
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
