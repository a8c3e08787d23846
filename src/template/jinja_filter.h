/* Filters and tests by name. Private to this layer. */
#ifndef TB_JINJA_FILTER_H
#define TB_JINJA_FILTER_H

#include "jinja_eval.h"

enum {
    TB_JINJA_UNKNOWN = -1, /* jinja2 has none of this name */
    TB_JINJA_UNBUILT = -2, /* jinja2 has it, we do not */
};

int tb_jinja_filter_index(struct tb_span name);
int tb_jinja_test_index(struct tb_span name);

TB_NODISCARD tb_status tb_filter_apply(struct tb_render *run, int index,
                                       const struct tb_value *input,
                                       const struct tb_given *given,
                                       struct tb_value *value);
TB_NODISCARD tb_status tb_test_apply(struct tb_render *run, int index,
                                     const struct tb_value *input,
                                     const struct tb_given *given,
                                     bool *is_true);

typedef tb_status (*tb_filter_fn)(struct tb_render *run,
                                  const struct tb_value *input,
                                  const struct tb_given *given,
                                  struct tb_value *value);

struct tb_filter {
    const char *name;
    tb_filter_fn apply;
};

/* The tables of filter_text.c, filter_list.c and so on, ended by a NULL name.
 */
extern const struct tb_filter tb_filters_text[];
extern const struct tb_filter tb_filters_list[];
extern const struct tb_filter tb_filters_order[];
extern const struct tb_filter tb_filters_choose[];

#endif
