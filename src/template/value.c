#include "value.h"

#include <math.h>

#include "c_locale.h"
#include "hash.h"
#include "text.h"

const char *tb_value_type(const struct tb_value *value)
{
    static const char *const names[] = {
        [TB_VALUE_UNDEFINED] = "Undefined",
        [TB_VALUE_NONE] = "NoneType",
        [TB_VALUE_BOOL] = "bool",
        [TB_VALUE_INT] = "int",
        [TB_VALUE_BIG] = "int",
        [TB_VALUE_FLOAT] = "float",
        [TB_VALUE_STRING] = "str",
        [TB_VALUE_LIST] = "list",
        [TB_VALUE_TUPLE] = "tuple",
        [TB_VALUE_DICT] = "dict",
        [TB_VALUE_RANGE] = "range",
        [TB_VALUE_SLICE] = "slice",
        [TB_VALUE_NAMESPACE] = "TemplateNamespace",
        [TB_VALUE_FUNCTION] = "function",
        [TB_VALUE_METHOD] = "builtin_function_or_method",
        [TB_VALUE_MACRO] = "Macro",
        [TB_VALUE_LOOP] = "LoopContext",
        [TB_VALUE_CYCLER] = "Cycler",
        [TB_VALUE_JOINER] = "Joiner",
    };
    static const char *const views[] = {"dict_keys", "dict_values",
                                        "dict_items"};
    if (value->kind == TB_VALUE_VIEW)
        return views[value->as.view->kind];
    if (value->kind == TB_VALUE_ITERATOR)
        return value->as.iterator->name;
    return value->is_safe ? "Markup" : names[value->kind];
}

double tb_value_number(const struct tb_value *value)
{
    switch (value->kind) {
    case TB_VALUE_FLOAT:
        return value->as.number;
    case TB_VALUE_BIG: {
        char digits[400];
        size_t len = value->as.text.len;
        if (len >= sizeof(digits))
            return value->as.text.ptr[0] == '-' ? -HUGE_VAL : HUGE_VAL;
        for (size_t i = 0; i < len; i++)
            digits[i] = (char)value->as.text.ptr[i];
        digits[len] = '\0';
        return tb_real_of_text(digits, NULL);
    }
    default:
        return (double)tb_value_integer(value);
    }
}

bool tb_value_is_true(const struct tb_value *value)
{
    size_t length;
    switch (value->kind) {
    case TB_VALUE_UNDEFINED:
    case TB_VALUE_NONE:
        return false;
    case TB_VALUE_BOOL:
        return value->as.boolean;
    case TB_VALUE_INT:
        return value->as.integer != 0;
    case TB_VALUE_FLOAT:
        return value->as.number != 0;
    case TB_VALUE_STRING:
        return value->as.text.len > 0;
    default:
        return !tb_value_length(value, &length) || length > 0;
    }
}

bool tb_value_length(const struct tb_value *value, size_t *length)
{
    switch (value->kind) {
    case TB_VALUE_UNDEFINED:
        *length = 0;
        return true;
    case TB_VALUE_STRING:
        *length = tb_text_count(value->as.text);
        return true;
    case TB_VALUE_LIST:
    case TB_VALUE_TUPLE:
        *length = value->as.list->count;
        return true;
    case TB_VALUE_DICT:
        *length = value->as.dict->count;
        return true;
    case TB_VALUE_VIEW:
        *length = value->as.view->dict->count;
        return true;
    case TB_VALUE_RANGE:
        *length = (size_t)value->as.range->count;
        return true;
    default:
        return false;
    }
}

const struct tb_value *tb_dict_find_text(const struct tb_dict *dict,
                                         struct tb_span key)
{
    uint64_t hash = tb_hash64(key, 0);
    if (!dict->slots) {
        for (size_t i = 0; i < dict->count; i++) {
            const struct tb_pair *pair = &dict->pairs[i];
            if (pair->hash == hash && pair->key.kind == TB_VALUE_STRING &&
                tb_span_equal(pair->key.as.text, key))
                return &pair->value;
        }
        return NULL;
    }
    size_t mask = dict->slot_count - 1;
    for (size_t at = hash & mask; dict->slots[at]; at = (at + 1) & mask) {
        const struct tb_pair *pair = &dict->pairs[dict->slots[at] - 1];
        if (pair->hash == hash && pair->key.kind == TB_VALUE_STRING &&
            tb_span_equal(pair->key.as.text, key))
            return &pair->value;
    }
    return NULL;
}
