/* The values of a template: what Python's values are to jinja2.
 *
 * A value is small and copied; what it points to lives in an arena and does
 * not change once made, but for namespaces, iterators, cyclers and joiners.
 * Strings are UTF-8 and may borrow from the input.
 */
#ifndef TB_VALUE_H
#define TB_VALUE_H

#include "span.h"
#include "status.h"

typedef enum tb_value_kind {
    TB_VALUE_UNDEFINED, /* as.undefined: whose absence it is, or NULL */
    TB_VALUE_NONE,
    TB_VALUE_BOOL,
    TB_VALUE_INT,
    TB_VALUE_BIG, /* an integer beyond 64 bits: its digits in as.text */
    TB_VALUE_FLOAT,
    TB_VALUE_STRING,
    TB_VALUE_LIST,
    TB_VALUE_TUPLE,
    TB_VALUE_DICT,
    TB_VALUE_VIEW, /* keys(), values() or items() of a dict */
    TB_VALUE_RANGE,
    TB_VALUE_SLICE,     /* between the brackets of x[a:b:c] only */
    TB_VALUE_ITERATOR,  /* what map, select, reverse, ... give: used up once */
    TB_VALUE_NAMESPACE, /* as.dict, which changes */
    TB_VALUE_FUNCTION,  /* as.function: a global function */
    TB_VALUE_METHOD,    /* of a string, list, dict, ... */
    TB_VALUE_MACRO,
    TB_VALUE_LOOP,
    TB_VALUE_CYCLER,
    TB_VALUE_JOINER,
    TB_VALUE_ABSENT, /* no value: an argument that was not given */
} tb_value_kind;

struct tb_value {
    tb_value_kind kind;
    bool is_safe; /* a string that HTML escaping leaves alone (Markup) */
    union {
        bool boolean;
        int64_t integer;
        double number;
        struct tb_span text;
        struct tb_list *list; /* LIST and TUPLE */
        struct tb_dict *dict; /* DICT and NAMESPACE */
        struct tb_view *view;
        struct tb_range *range;
        struct tb_slice *slice;
        struct tb_iterator *iterator;
        struct tb_method *method;
        struct tb_macro *macro;
        struct tb_loop *loop;
        struct tb_cycler *cycler;
        struct tb_joiner *joiner;
        const struct tb_undefined *undefined;
        int function;
    } as;
};

struct tb_list {
    struct tb_value *items;
    size_t count, capacity;
};

struct tb_pair {
    struct tb_value key, value;
    uint64_t hash;
};

/* Pairs in order of insertion; `slots` finds them once they are many. */
struct tb_dict {
    struct tb_pair *pairs;
    size_t count, capacity;
    uint32_t *slots; /* index + 1 or 0; open addressing */
    size_t slot_count;
};

typedef enum tb_view_kind {
    TB_VIEW_KEYS,
    TB_VIEW_VALUES,
    TB_VIEW_ITEMS,
} tb_view_kind;

struct tb_view {
    tb_view_kind kind;
    const struct tb_dict *dict;
};

struct tb_range {
    int64_t start, stop, step;
    int64_t count;
};

struct tb_slice {
    struct tb_value start, stop, step;
};

/* What a Python generator would still give. What went wrong while the items
 * were made is told to whoever comes to that place. */
struct tb_iterator {
    const struct tb_value *items;
    size_t count, at;
    tb_status status; /* behind the last item */
    char message[160];
    const char *name; /* of Python's type */
};

struct tb_method {
    struct tb_value self;
    struct tb_span name;
};

struct tb_cycler {
    const struct tb_list *items;
    size_t at;
};

struct tb_joiner {
    struct tb_value separator;
    bool is_used;
};

/* What an undefined value tells when it is used after all. */
struct tb_undefined {
    struct tb_span message;
    bool is_unsafe; /* an attribute that the sandbox forbids */
};

/* ---- making ----------------------------------------------------------- */

static inline struct tb_value tb_value_none(void)
{
    return (struct tb_value){.kind = TB_VALUE_NONE};
}

static inline struct tb_value tb_value_bool(bool boolean)
{
    return (struct tb_value){.kind = TB_VALUE_BOOL, .as.boolean = boolean};
}

static inline struct tb_value tb_value_int(int64_t integer)
{
    return (struct tb_value){.kind = TB_VALUE_INT, .as.integer = integer};
}

static inline struct tb_value tb_value_float(double number)
{
    return (struct tb_value){.kind = TB_VALUE_FLOAT, .as.number = number};
}

static inline struct tb_value tb_value_text(struct tb_span text)
{
    return (struct tb_value){.kind = TB_VALUE_STRING, .as.text = text};
}

static inline struct tb_value tb_value_undefined(void)
{
    return (struct tb_value){.kind = TB_VALUE_UNDEFINED};
}

static inline bool tb_value_is_text(const struct tb_value *value)
{
    return value->kind == TB_VALUE_STRING;
}

static inline bool tb_value_is_undefined(const struct tb_value *value)
{
    return value->kind == TB_VALUE_UNDEFINED;
}

/* int in Python's sense, so that True is 1; BIG is none of ours. */
static inline bool tb_value_is_integer(const struct tb_value *value)
{
    return value->kind == TB_VALUE_INT || value->kind == TB_VALUE_BOOL;
}

/* The value of what tb_value_is_integer. */
static inline int64_t tb_value_integer(const struct tb_value *value)
{
    return value->kind == TB_VALUE_BOOL ? value->as.boolean : value->as.integer;
}

static inline bool tb_value_is_number(const struct tb_value *value)
{
    return value->kind == TB_VALUE_FLOAT || value->kind == TB_VALUE_BIG ||
           tb_value_is_integer(value);
}

/* The item of a range at `index`; wraps where Python's would not fit. */
static inline struct tb_value tb_range_item(const struct tb_range *range,
                                            int64_t index)
{
    return tb_value_int((int64_t)((uint64_t)range->start +
                                  (uint64_t)index * (uint64_t)range->step));
}

/* ---- asking ----------------------------------------------------------- */

/* Python's name of the type: "str", "dict", "NoneType", ... */
const char *tb_value_type(const struct tb_value *value);

/* As a double, whatever kind of number it is. */
double tb_value_number(const struct tb_value *value);

/* bool(value). */
bool tb_value_is_true(const struct tb_value *value);

/* Has it a len()? Then gives it. */
bool tb_value_length(const struct tb_value *value, size_t *length);

/* The value behind a key that is a string, or NULL. */
const struct tb_value *tb_dict_find_text(const struct tb_dict *dict,
                                         struct tb_span key);

#endif
