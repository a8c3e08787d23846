/* Arithmetic and comparisons as Python has them. */
#include <math.h>
#include <string.h>

#include "jinja_eval.h"

static tb_status fail_operands(struct tb_render *run, const char *sign,
                               const struct tb_value *a,
                               const struct tb_value *b)
{
    if (tb_value_is_undefined(a))
        return tb_render_fail_undefined(run, a);
    if (tb_value_is_undefined(b))
        return tb_render_fail_undefined(run, b);
    return tb_render_fail(run,
                          "unsupported operand type(s) for %s: '%s' and '%s'",
                          sign, tb_value_type(a), tb_value_type(b));
}

static tb_status fail_large(struct tb_render *run)
{
    return tb_render_fail_as(run, TB_ERR_LIMIT,
                             "an integer goes beyond 64 bits");
}

/* ---- joining and repeating -------------------------------------------- */

static tb_status write_escaped(struct tb_render *run, struct tb_span text)
{
    for (size_t i = 0; i < text.len; i++) {
        static const char special[] = "&<>'\"";
        static const char *const names[] = {"&amp;", "&lt;", "&gt;", "&#39;",
                                            "&#34;"};
        const char *found = text.ptr[i] ? strchr(special, text.ptr[i]) : NULL;
        if (found)
            TB_TRY(tb_render_write(run, tb_span_of(names[found - special])));
        else
            TB_TRY(tb_render_write_byte(run, text.ptr[i]));
    }
    return TB_OK;
}

// Markup escapes what is added to it.
static tb_status add_text(struct tb_render *run, const struct tb_value *a,
                          const struct tb_value *b, struct tb_value *value)
{
    bool is_safe = a->is_safe || b->is_safe;
    size_t mark = tb_render_mark(run);
    TB_TRY(is_safe && !a->is_safe ? write_escaped(run, a->as.text)
                                  : tb_render_write(run, a->as.text));
    TB_TRY(is_safe && !b->is_safe ? write_escaped(run, b->as.text)
                                  : tb_render_write(run, b->as.text));
    TB_TRY(tb_render_take_value(run, mark, value));
    value->is_safe = is_safe;
    return TB_OK;
}

static tb_status add_lists(struct tb_render *run, const struct tb_value *a,
                           const struct tb_value *b, struct tb_value *value)
{
    size_t count = a->as.list->count + b->as.list->count;
    TB_TRY(tb_render_list(run, a->kind, count, value));
    for (size_t i = 0; i < a->as.list->count; i++)
        TB_TRY(tb_list_append(run, value->as.list, &a->as.list->items[i]));
    for (size_t i = 0; i < b->as.list->count; i++)
        TB_TRY(tb_list_append(run, value->as.list, &b->as.list->items[i]));
    return TB_OK;
}

static tb_status repeat(struct tb_render *run, const struct tb_value *what,
                        int64_t times, struct tb_value *value)
{
    size_t mark = tb_render_mark(run);
    if (times < 0)
        times = 0;
    if (what->kind == TB_VALUE_STRING) {
        TB_TRY(tb_render_repeat(run, what->as.text, times));
        TB_TRY(tb_render_take_value(run, mark, value));
        value->is_safe = what->is_safe;
        return TB_OK;
    }
    TB_TRY(tb_render_list(run, what->kind, 0, value));
    if (what->as.list->count == 0)
        times = 0;
    for (; times > 0; times--)
        for (size_t i = 0; i < what->as.list->count; i++)
            TB_TRY(
                tb_list_append(run, value->as.list, &what->as.list->items[i]));
    return TB_OK;
}

/* ---- numbers ---------------------------------------------------------- */

static tb_status floor_divide(struct tb_render *run, int64_t a, int64_t b,
                              struct tb_value *value)
{
    if (b == -1 && a == INT64_MIN)
        return fail_large(run);
    int64_t quotient = a / b;
    if (a % b != 0 && (a < 0) != (b < 0))
        quotient--;
    *value = tb_value_int(quotient);
    return TB_OK;
}

static int64_t floor_modulo(int64_t a, int64_t b)
{
    if (b == -1)
        return 0;
    int64_t rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static tb_status power(struct tb_render *run, int64_t a, int64_t b,
                       struct tb_value *value)
{
    if (b < 0) {
        if (a == 0)
            return tb_render_fail(run,
                                  "0.0 cannot be raised to a negative power");
        *value = tb_value_float(pow((double)a, (double)b));
        return TB_OK;
    }
    int64_t result = 1;
    if (a == 0 || a == 1 || a == -1)
        b = b == 0 ? 0 : 2 - b % 2;
    for (; b > 0; b--)
        if (__builtin_mul_overflow(result, a, &result))
            return fail_large(run);
    *value = tb_value_int(result);
    return TB_OK;
}

static tb_status fail_zero(struct tb_render *run)
{
    return tb_render_fail(run, "division by zero");
}

static tb_status integers(struct tb_render *run, tb_operator op, int64_t a,
                          int64_t b, struct tb_value *value)
{
    int64_t result = 0;
    bool is_large = false;
    if (b == 0 && (op == TB_OP_DIV || op == TB_OP_FLOORDIV || op == TB_OP_MOD))
        return fail_zero(run);
    switch (op) {
    case TB_OP_ADD:
        is_large = __builtin_add_overflow(a, b, &result);
        break;
    case TB_OP_SUB:
        is_large = __builtin_sub_overflow(a, b, &result);
        break;
    case TB_OP_MUL:
        is_large = __builtin_mul_overflow(a, b, &result);
        break;
    case TB_OP_DIV:
        *value = tb_value_float((double)a / (double)b);
        return TB_OK;
    case TB_OP_FLOORDIV:
        return floor_divide(run, a, b, value);
    case TB_OP_MOD:
        result = floor_modulo(a, b);
        break;
    default:
        return power(run, a, b, value);
    }
    if (is_large)
        return fail_large(run);
    *value = tb_value_int(result);
    return TB_OK;
}

static double float_modulo(double a, double b)
{
    double rest = fmod(a, b);
    if (rest == 0)
        return copysign(0.0, b);
    return (rest < 0) != (b < 0) ? rest + b : rest;
}

// As CPython: from the remainder, so that both fit each other.
static double float_floor_divide(double a, double b)
{
    double rest = fmod(a, b);
    double quotient = (a - rest) / b;
    if (rest != 0 && (rest < 0) != (b < 0))
        quotient -= 1;
    if (quotient == 0)
        return copysign(0.0, a / b);
    double result = floor(quotient);
    return quotient - result > 0.5 ? result + 1 : result;
}

static tb_status float_power(struct tb_render *run, double a, double b,
                             struct tb_value *value)
{
    if (a == 0 && b < 0)
        return tb_render_fail(run, "0.0 cannot be raised to a negative power");
    double result = pow(a, b);
    if (isnan(result) && !isnan(a) && !isnan(b))
        return tb_render_fail_as(run, TB_ERR_UNSUPPORTED, "complex numbers");
    if (isinf(result) && isfinite(a) && isfinite(b))
        return tb_render_fail(run, "Numerical result out of range");
    *value = tb_value_float(result);
    return TB_OK;
}

static tb_status floats(struct tb_render *run, tb_operator op, double a,
                        double b, struct tb_value *value)
{
    if (b == 0 && (op == TB_OP_DIV || op == TB_OP_FLOORDIV || op == TB_OP_MOD))
        return fail_zero(run);
    switch (op) {
    case TB_OP_ADD:
        *value = tb_value_float(a + b);
        return TB_OK;
    case TB_OP_SUB:
        *value = tb_value_float(a - b);
        return TB_OK;
    case TB_OP_MUL:
        *value = tb_value_float(a * b);
        return TB_OK;
    case TB_OP_DIV:
        *value = tb_value_float(a / b);
        return TB_OK;
    case TB_OP_FLOORDIV:
        *value = tb_value_float(float_floor_divide(a, b));
        return TB_OK;
    case TB_OP_MOD:
        *value = tb_value_float(float_modulo(a, b));
        return TB_OK;
    default:
        return float_power(run, a, b, value);
    }
}

static tb_status numbers(struct tb_render *run, tb_operator op,
                         const struct tb_value *a, const struct tb_value *b,
                         struct tb_value *value)
{
    if (tb_value_is_integer(a) && tb_value_is_integer(b))
        return integers(run, op, tb_value_integer(a), tb_value_integer(b),
                        value);
    if (a->kind != TB_VALUE_FLOAT && b->kind != TB_VALUE_FLOAT)
        return fail_large(run);
    return floats(run, op, tb_value_number(a), tb_value_number(b), value);
}

/* ---- all together ----------------------------------------------------- */

static bool is_list(const struct tb_value *value)
{
    return value->kind == TB_VALUE_LIST || value->kind == TB_VALUE_TUPLE;
}

static tb_status combine(struct tb_render *run, tb_operator op,
                         const struct tb_value *a, const struct tb_value *b,
                         struct tb_value *value)
{
    static const char *const signs[] = {"+",  "-", "*",          "/",
                                        "//", "%", "** or pow()"};
    if (tb_value_is_number(a) && tb_value_is_number(b))
        return numbers(run, op, a, b, value);
    if (op == TB_OP_ADD && tb_value_is_text(a) && tb_value_is_text(b))
        return add_text(run, a, b, value);
    if (op == TB_OP_ADD && is_list(a) && a->kind == b->kind)
        return add_lists(run, a, b, value);
    if (op == TB_OP_MOD && tb_value_is_text(a))
        return tb_text_percent(run, a, b, value);
    if (op == TB_OP_MUL && (is_list(a) || tb_value_is_text(a)) &&
        tb_value_is_integer(b))
        return repeat(run, a, tb_value_integer(b), value);
    if (op == TB_OP_MUL && (is_list(b) || tb_value_is_text(b)) &&
        tb_value_is_integer(a))
        return repeat(run, b, tb_value_integer(a), value);
    if (op == TB_OP_ADD && tb_value_is_text(a) && !tb_value_is_undefined(b))
        return tb_render_fail(run,
                              "can only concatenate str (not \"%s\") to "
                              "str",
                              tb_value_type(b));
    if (op == TB_OP_SUB && a->kind == TB_VALUE_VIEW)
        return tb_render_fail_as(run, TB_ERR_UNSUPPORTED, "sets");
    return fail_operands(run, signs[op], a, b);
}

tb_status tb_eval_binary(struct tb_render *run, tb_operator op,
                         const struct tb_value *a, const struct tb_value *b,
                         struct tb_value *value)
{
    struct tb_value result;
    TB_TRY(combine(run, op, a, b, &result));
    *value = result;
    return TB_OK;
}

tb_status tb_eval_sign(struct tb_render *run, bool is_minus,
                       const struct tb_value *a, struct tb_value *value)
{
    if (tb_value_is_undefined(a))
        return tb_render_fail_undefined(run, a);
    if (a->kind == TB_VALUE_FLOAT) {
        *value = tb_value_float(is_minus ? -a->as.number : a->as.number);
        return TB_OK;
    }
    if (!tb_value_is_number(a))
        return tb_render_fail(run, "bad operand type for unary %c: '%s'",
                              is_minus ? '-' : '+', tb_value_type(a));
    if (!tb_value_is_integer(a) ||
        (is_minus && tb_value_integer(a) == INT64_MIN))
        return fail_large(run);
    int64_t integer = tb_value_integer(a);
    *value = tb_value_int(is_minus ? -integer : integer);
    return TB_OK;
}

tb_status tb_eval_relation(struct tb_render *run, tb_operator op,
                           const struct tb_value *a, const struct tb_value *b,
                           bool *is_true)
{
    static const char *const signs[] = {[TB_OP_LT] = "<",
                                        [TB_OP_LE] = "<=",
                                        [TB_OP_GT] = ">",
                                        [TB_OP_GE] = ">="};
    int order;
    if (op == TB_OP_EQ || op == TB_OP_NE) {
        TB_TRY(tb_render_equal(run, a, b, is_true));
        *is_true = *is_true == (op == TB_OP_EQ);
        return TB_OK;
    }
    if (op == TB_OP_IN || op == TB_OP_NOT_IN) {
        TB_TRY(tb_render_contains(run, b, a, is_true));
        *is_true = *is_true == (op == TB_OP_IN);
        return TB_OK;
    }
    TB_TRY(tb_render_compare(run, a, b, signs[op], &order));
    *is_true = order != 2 && (op == TB_OP_LT   ? order < 0
                              : op == TB_OP_LE ? order <= 0
                              : op == TB_OP_GT ? order > 0
                                               : order >= 0);
    return TB_OK;
}
