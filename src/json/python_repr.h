/* A JSON value as Python shows it.
 *
 * The Python converters take str() of message contents that are no strings, so
 * whoever must write the same rows has to know what CPython 3.11 prints for
 * what json.loads made of the value:
 *
 *     [{"type": "text", "text": "it's"}]  ->  [{'type': 'text', 'text':
 * "it's"}]
 *
 * Leaves out what json.loads refuses; the input is judged as json_reader.h
 * judges it. Pure: any thread.
 */
#ifndef TB_PYTHON_REPR_H
#define TB_PYTHON_REPR_H

#include "buffer.h"

/* Appends repr() of the one value in `json`, which is str() of it for all but
 * a string at the top. A key that an object has twice stands where it first
 * stood, with its last value. A lone surrogate is shown as its escape, as
 * Python does. TB_ERR_SYNTAX, TB_ERR_CUT, TB_ERR_LIMIT (nested deeper than
 * TB_JSON_MAX_DEPTH, or `out` is full) or TB_ERR_MEMORY leave a part of the
 * text in `out`. */
TB_NODISCARD tb_status tb_python_repr(struct tb_span json,
                                      struct tb_buffer *out,
                                      struct tb_error *error);

#endif
