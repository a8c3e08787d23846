/* Filters by name; and tests, which are short. */
#include "jinja_filter.h"

#include <math.h>

#include "text_method.h"

/* ---- filters ---------------------------------------------------------- */

static const struct tb_filter *const tables[] = {
    tb_filters_text, tb_filters_list, tb_filters_order, tb_filters_choose};

enum {
    TABLE_COUNT = sizeof(tables) / sizeof(tables[0]),
    TABLE_SIZE = 100, /* numbers of each */
};

static int index_in(const struct tb_filter *table, struct tb_span name)
{
    for (int i = 0; table[i].name; i++)
        if (tb_span_equal(name, tb_span_of(table[i].name)))
            return table[i].apply ? i : TB_JINJA_UNBUILT;
    return TB_JINJA_UNKNOWN;
}

int tb_jinja_filter_index(struct tb_span name)
{
    for (int table = 0; table < TABLE_COUNT; table++) {
        int index = index_in(tables[table], name);
        if (index != TB_JINJA_UNKNOWN)
            return index < 0 ? index : index + table * TABLE_SIZE;
    }
    return TB_JINJA_UNKNOWN;
}

tb_status tb_filter_apply(struct tb_render *run, int index,
                          const struct tb_value *input,
                          const struct tb_given *given, struct tb_value *value)
{
    struct tb_value copy = *input, result = tb_value_none();
    const struct tb_filter *filter =
        &tables[index / TABLE_SIZE][index % TABLE_SIZE];
    TB_TRY(tb_render_step(run, 1));
    if (tb_value_is_text(input))
        TB_TRY(tb_render_scan(run, input->as.text.len));
    TB_TRY(filter->apply(run, &copy, given, &result));
    *value = result;
    return TB_OK;
}

/* ---- tests ------------------------------------------------------------ */

typedef enum test {
    TEST_DEFINED,
    TEST_UNDEFINED,
    TEST_NONE,
    TEST_STRING,
    TEST_MAPPING,
    TEST_ITERABLE,
    TEST_SEQUENCE,
    TEST_NUMBER,
    TEST_INTEGER,
    TEST_FLOAT,
    TEST_BOOLEAN,
    TEST_TRUE,
    TEST_FALSE,
    TEST_CALLABLE,
    TEST_ESCAPED,
    TEST_LOWER,
    TEST_UPPER,
    TEST_ODD,
    TEST_EVEN,
    TEST_DIVISIBLE,
    TEST_SAME,
    TEST_FILTER,
    TEST_TEST,
    TEST_EQ,
    TEST_NE,
    TEST_LT,
    TEST_LE,
    TEST_GT,
    TEST_GE,
    TEST_IN,
} test;

static const struct {
    const char *name;
    test test;
} tests[] = {
    {"defined", TEST_DEFINED},
    {"undefined", TEST_UNDEFINED},
    {"none", TEST_NONE},
    {"string", TEST_STRING},
    {"mapping", TEST_MAPPING},
    {"iterable", TEST_ITERABLE},
    {"sequence", TEST_SEQUENCE},
    {"number", TEST_NUMBER},
    {"integer", TEST_INTEGER},
    {"float", TEST_FLOAT},
    {"boolean", TEST_BOOLEAN},
    {"true", TEST_TRUE},
    {"false", TEST_FALSE},
    {"callable", TEST_CALLABLE},
    {"escaped", TEST_ESCAPED},
    {"lower", TEST_LOWER},
    {"upper", TEST_UPPER},
    {"odd", TEST_ODD},
    {"even", TEST_EVEN},
    {"divisibleby", TEST_DIVISIBLE},
    {"sameas", TEST_SAME},
    {"filter", TEST_FILTER},
    {"test", TEST_TEST},
    {"eq", TEST_EQ},
    {"==", TEST_EQ},
    {"equalto", TEST_EQ},
    {"ne", TEST_NE},
    {"!=", TEST_NE},
    {"lt", TEST_LT},
    {"<", TEST_LT},
    {"lessthan", TEST_LT},
    {"le", TEST_LE},
    {"<=", TEST_LE},
    {"gt", TEST_GT},
    {">", TEST_GT},
    {"greaterthan", TEST_GT},
    {"ge", TEST_GE},
    {">=", TEST_GE},
    {"in", TEST_IN},
};

int tb_jinja_test_index(struct tb_span name)
{
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
        if (tb_span_equal(name, tb_span_of(tests[i].name)))
            return (int)i;
    return TB_JINJA_UNKNOWN;
}

static bool is_callable(const struct tb_value *value)
{
    switch (value->kind) {
    case TB_VALUE_UNDEFINED: // it can be called, if only to fail
    case TB_VALUE_FUNCTION:
    case TB_VALUE_METHOD:
    case TB_VALUE_MACRO:
    case TB_VALUE_LOOP:
    case TB_VALUE_JOINER:
        return true;
    default:
        return false;
    }
}

static bool is_sequence(const struct tb_value *value)
{
    size_t length;
    return value->kind != TB_VALUE_VIEW && tb_value_length(value, &length);
}

static bool is_truth(const struct tb_value *value, bool truth)
{
    return value->kind == TB_VALUE_BOOL && value->as.boolean == truth;
}

static bool is_of_kind(test which, const struct tb_value *value)
{
    switch (which) {
    case TEST_DEFINED:
        return value->kind != TB_VALUE_UNDEFINED;
    case TEST_UNDEFINED:
        return value->kind == TB_VALUE_UNDEFINED;
    case TEST_NONE:
        return value->kind == TB_VALUE_NONE;
    case TEST_STRING:
        return tb_value_is_text(value);
    case TEST_MAPPING:
        return value->kind == TB_VALUE_DICT;
    case TEST_ITERABLE:
        return tb_value_is_iterable(value);
    case TEST_SEQUENCE:
        return is_sequence(value);
    case TEST_NUMBER:
        return tb_value_is_number(value);
    case TEST_INTEGER:
        return value->kind == TB_VALUE_INT || value->kind == TB_VALUE_BIG;
    case TEST_FLOAT:
        return value->kind == TB_VALUE_FLOAT;
    case TEST_BOOLEAN:
        return value->kind == TB_VALUE_BOOL;
    case TEST_TRUE:
        return is_truth(value, true);
    case TEST_FALSE:
        return is_truth(value, false);
    case TEST_CALLABLE:
        return is_callable(value);
    default:
        return tb_value_is_text(value) && value->is_safe; // escaped
    }
}

static tb_status test_case(struct tb_render *run, const struct tb_value *input,
                           bool is_upper, bool *is_true)
{
    struct tb_span text;
    TB_TRY(tb_render_str(run, input, &text));
    *is_true = tb_text_is_cased(text, is_upper);
    return TB_OK;
}

static tb_status test_rest(struct tb_render *run, const struct tb_value *input,
                           const struct tb_value *by, int64_t rest,
                           bool *is_true)
{
    struct tb_value modulo, expected = tb_value_int(rest);
    TB_TRY(tb_eval_binary(run, TB_OP_MOD, input, by, &modulo));
    return tb_render_equal(run, &modulo, &expected, is_true);
}

// Python's `is`, for what templates can tell apart.
static tb_status test_same(struct tb_render *run, const struct tb_value *input,
                           const struct tb_value *other, bool *is_true)
{
    *is_true = false;
    if (input->kind != other->kind)
        return TB_OK;
    if (tb_value_is_text(input) || tb_value_is_number(input))
        return tb_render_equal(run, input, other, is_true);
    *is_true = input->kind == TB_VALUE_NONE || input->as.list == other->as.list;
    return TB_OK;
}

static tb_status test_known(struct tb_render *run, const struct tb_value *input,
                            bool is_filter, bool *is_true)
{
    if (!tb_value_is_text(input))
        return tb_render_fail(run, "the name of a filter or test must be a "
                                   "string");
    int index = is_filter ? tb_jinja_filter_index(input->as.text)
                          : tb_jinja_test_index(input->as.text);
    *is_true = index != TB_JINJA_UNKNOWN;
    return TB_OK;
}

tb_status tb_test_apply(struct tb_render *run, int index,
                        const struct tb_value *input,
                        const struct tb_given *given, bool *is_true)
{
    test which = tests[index].test;
    struct tb_value two = tb_value_int(2), other;
    bool has_other =
        which >= TEST_EQ || which == TEST_DIVISIBLE || which == TEST_SAME;
    TB_TRY(tb_given_bind(run, given, tests[index].name,
                         has_other ? "other" : "", has_other, &other));
    if (which <= TEST_ESCAPED) {
        *is_true = is_of_kind(which, input);
        return TB_OK;
    }
    switch (which) {
    case TEST_LOWER:
    case TEST_UPPER:
        return test_case(run, input, which == TEST_UPPER, is_true);
    case TEST_ODD:
    case TEST_EVEN:
        return test_rest(run, input, &two, which == TEST_ODD, is_true);
    case TEST_DIVISIBLE:
        return test_rest(run, input, &other, 0, is_true);
    case TEST_SAME:
        return test_same(run, input, &other, is_true);
    case TEST_FILTER:
    case TEST_TEST:
        return test_known(run, input, which == TEST_FILTER, is_true);
    default:
        return tb_eval_relation(run,
                                (tb_operator)(TB_OP_EQ + (which - TEST_EQ)),
                                input, &other, is_true);
    }
}
