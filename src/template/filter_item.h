/* What filters over things with items have in common. Private to this layer. */
#ifndef TB_FILTER_ITEM_H
#define TB_FILTER_ITEM_H

#include "jinja_filter.h"

/* ---- what a filter was given ---- */

static inline bool tb_filter_is_absent(const struct tb_value *value)
{
    return value->kind == TB_VALUE_ABSENT;
}

static inline bool tb_filter_is_given(const struct tb_value *value)
{
    return !tb_filter_is_absent(value) && value->kind != TB_VALUE_NONE;
}

static inline bool tb_filter_is_on(const struct tb_value *value)
{
    return !tb_filter_is_absent(value) && tb_value_is_true(value);
}

/* ---- items ---- */

/* A list of its own with the items of `input`, or of a dict's pairs. */
TB_NODISCARD tb_status tb_filter_copy_items(struct tb_render *run,
                                            const struct tb_value *input,
                                            struct tb_value *value);
TB_NODISCARD tb_status tb_filter_dict_items(struct tb_render *run,
                                            const struct tb_value *input,
                                            struct tb_value *value);

/* item.a.0.b for an attribute "a.0.b"; none or absent is the item itself. What
 * is undefined is `absent`, if that is given. */
TB_NODISCARD tb_status tb_filter_attribute(struct tb_render *run,
                                           const struct tb_value *item,
                                           const struct tb_value *attribute,
                                           const struct tb_value *absent,
                                           struct tb_value *value);

/* A text in lower case, unless case counts; anything else as it is. */
TB_NODISCARD tb_status tb_filter_fold_case(struct tb_render *run,
                                           bool is_case_sensitive,
                                           struct tb_value *value);

/* ---- generators ---- */

/* An iterator over what `list` got before `status`; what was being done when
 * it failed, from `depth` and `mark` on, is undone. */
TB_NODISCARD tb_status tb_filter_finish(struct tb_render *run, tb_status status,
                                        unsigned depth, size_t mark,
                                        const struct tb_list *list,
                                        struct tb_value *value);

typedef tb_status (*tb_filter_make)(struct tb_render *run,
                                    const struct tb_value *input,
                                    const struct tb_given *given,
                                    struct tb_list *made);

/* An iterator over what `make` makes. */
TB_NODISCARD tb_status tb_filter_generate(struct tb_render *run,
                                          const struct tb_value *input,
                                          const struct tb_given *given,
                                          tb_filter_make make,
                                          struct tb_value *value);

#endif
