#include "render.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "hash.h"
#include "text.h"
#include "utf8.h"

enum {
    SLOTS_FROM = 12, /* pairs; below, looking at each is as fast */
    SCAN_LEN = 64    /* bytes of a string that cost as much as a step */
};

/* ---- failing and limits ----------------------------------------------- */

static tb_status fail(struct tb_render *run, tb_status status,
                      const char *format, va_list arguments)
{
    run->error = (struct tb_error){.status = status};
    char *text = run->error.message;
    size_t size = sizeof(run->error.message);
    int len = vsnprintf(text, size, format, arguments);
    // A message that was cut ends with a whole character.
    if (len >= (int)size) {
        struct tb_span all = tb_span_of(text);
        text[tb_utf8_valid_len(all)] = '\0';
    }
    return status;
}

tb_status tb_render_fail(struct tb_render *run, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail(run, TB_ERR_VALUE, format, arguments);
    va_end(arguments);
    return TB_ERR_VALUE;
}

tb_status tb_render_fail_as(struct tb_render *run, tb_status status,
                            const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail(run, status, format, arguments);
    va_end(arguments);
    return status;
}

tb_status tb_render_fail_undefined(struct tb_render *run,
                                   const struct tb_value *value)
{
    const struct tb_undefined *undefined = value->as.undefined;
    if (!undefined)
        return tb_render_fail(run, "a value is undefined");
    return tb_render_fail(run, "%.*s", (int)undefined->message.len,
                          (const char *)undefined->message.ptr);
}

tb_status tb_render_step(struct tb_render *run, size_t count)
{
    run->steps += count;
    if (run->steps <= TB_RENDER_MAX_STEPS)
        return TB_OK;
    return tb_render_fail_as(run, TB_ERR_LIMIT, "template runs too long");
}

tb_status tb_render_scan(struct tb_render *run, size_t len)
{
    return tb_render_step(run, len / SCAN_LEN);
}

tb_status tb_render_enter(struct tb_render *run)
{
    if (run->depth >= TB_RENDER_MAX_DEPTH)
        return tb_render_fail_as(run, TB_ERR_LIMIT,
                                 "template nests or recurses too deeply");
    run->depth++;
    return TB_OK;
}

static bool is_memory_left(const struct tb_render *run, size_t size)
{
    size_t used = run->arena->used_len - run->arena_mark;
    return size <= TB_RENDER_MAX_MEMORY && used <= TB_RENDER_MAX_MEMORY - size;
}

void *tb_render_alloc(struct tb_render *run, size_t count, size_t size)
{
    run->error.status = TB_OK;
    if (size != 0 && count > TB_RENDER_MAX_MEMORY / size)
        count = TB_RENDER_MAX_MEMORY / size + 1;
    if (!is_memory_left(run, count * size)) {
        tb_render_fail_as(run, TB_ERR_LIMIT, "values of a template too large");
        return NULL;
    }
    void *memory = tb_arena_zeroed(run->arena, count, size);
    if (!memory)
        tb_render_fail_as(run, TB_ERR_MEMORY, "out of memory");
    return memory;
}

tb_status tb_render_no_memory(struct tb_render *run)
{
    return run->error.status;
}

/* ---- text ------------------------------------------------------------- */

static tb_status fail_write(struct tb_render *run, tb_status status)
{
    if (status == TB_ERR_LIMIT)
        return tb_render_fail_as(run, status, "rendered text too long");
    return tb_render_fail_as(run, status, "out of memory");
}

tb_status tb_render_write(struct tb_render *run, struct tb_span text)
{
    size_t len = run->out->len - run->out_mark;
    if (text.len > TB_RENDER_MAX_LEN || len > TB_RENDER_MAX_LEN - text.len)
        return fail_write(run, TB_ERR_LIMIT);
    tb_status status = tb_buffer_append(run->out, text);
    return status == TB_OK ? tb_render_scan(run, text.len)
                           : fail_write(run, status);
}

tb_status tb_render_repeat(struct tb_render *run, struct tb_span text,
                           int64_t times)
{
    size_t mark = run->out->len;
    if (times <= 0 || text.len == 0)
        return TB_OK;
    if ((uint64_t)times > TB_RENDER_MAX_LEN / text.len)
        return fail_write(run, TB_ERR_LIMIT);
    size_t len = text.len * (size_t)times;
    tb_status status = tb_buffer_reserve(run->out, len);
    if (status != TB_OK)
        return fail_write(run, status);
    TB_TRY(tb_render_write(run, text));
    // Each time what is there already; nothing moves, room is reserved.
    for (size_t done = text.len; done < len; done = run->out->len - mark) {
        size_t more = done < len - done ? done : len - done;
        TB_TRY(
            tb_render_write(run, (struct tb_span){run->out->ptr + mark, more}));
    }
    return TB_OK;
}

tb_status tb_render_write_byte(struct tb_render *run, uint8_t byte)
{
    return tb_render_write(run, (struct tb_span){&byte, 1});
}

tb_status tb_render_write_cp(struct tb_render *run, uint32_t cp)
{
    uint8_t bytes[TB_UTF8_MAX_LEN];
    size_t len = tb_utf8_encode(cp, bytes);
    return tb_render_write(run, (struct tb_span){bytes, len});
}

tb_status tb_render_printf(struct tb_render *run, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int len = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (len < 0 || (size_t)len >= sizeof(text))
        return tb_render_fail_as(run, TB_ERR_LIMIT, "number too long");
    return tb_render_write(run, tb_span_of(text));
}

tb_status tb_render_take(struct tb_render *run, size_t mark,
                         struct tb_span *text)
{
    size_t len = run->out->len - mark;
    *text = (struct tb_span){0};
    if (len == 0)
        return TB_OK;
    uint8_t *copy = TB_RENDER_NEW(run, uint8_t, len);
    if (!copy)
        return tb_render_no_memory(run);
    memcpy(copy, run->out->ptr + mark, len);
    run->out->len = mark;
    *text = (struct tb_span){copy, len};
    return TB_OK;
}

tb_status tb_render_take_value(struct tb_render *run, size_t mark,
                               struct tb_value *value)
{
    struct tb_span text;
    TB_TRY(tb_render_take(run, mark, &text));
    *value = tb_value_text(text);
    return TB_OK;
}

tb_status tb_render_str(struct tb_render *run, const struct tb_value *value,
                        struct tb_span *text)
{
    if (tb_value_is_text(value)) {
        *text = value->as.text;
        return TB_OK;
    }
    size_t mark = tb_render_mark(run);
    TB_TRY(tb_render_write_str(run, value));
    return tb_render_take(run, mark, text);
}

/* ---- lists ------------------------------------------------------------ */

tb_status tb_render_list(struct tb_render *run, tb_value_kind kind,
                         size_t capacity, struct tb_value *value)
{
    struct tb_list *list = TB_RENDER_NEW(run, struct tb_list, 1);
    if (!list)
        return tb_render_no_memory(run);
    if (capacity > 0) {
        list->items = TB_RENDER_NEW(run, struct tb_value, capacity);
        if (!list->items)
            return tb_render_no_memory(run);
    }
    list->capacity = capacity;
    *value = (struct tb_value){.kind = kind, .as.list = list};
    return TB_OK;
}

tb_status tb_list_append(struct tb_render *run, struct tb_list *list,
                         const struct tb_value *item)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity * 2 : 8;
        struct tb_value *items = TB_RENDER_NEW(run, struct tb_value, capacity);
        if (!items)
            return tb_render_no_memory(run);
        if (list->count > 0)
            memcpy(items, list->items, list->count * sizeof(*items));
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = *item;
    return tb_render_step(run, 1);
}

tb_status tb_render_pair(struct tb_render *run, const struct tb_value *first,
                         const struct tb_value *second, struct tb_value *value)
{
    TB_TRY(tb_render_list(run, TB_VALUE_TUPLE, 2, value));
    TB_TRY(tb_list_append(run, value->as.list, first));
    return tb_list_append(run, value->as.list, second);
}

tb_status tb_render_iterator(struct tb_render *run, const char *name,
                             const struct tb_list *list, tb_status status,
                             struct tb_value *value)
{
    struct tb_error error = run->error;
    struct tb_iterator *iterator = TB_RENDER_NEW(run, struct tb_iterator, 1);
    if (!iterator)
        return tb_render_no_memory(run);
    iterator->items = list->items;
    iterator->count = list->count;
    iterator->status = status;
    iterator->name = name;
    if (status != TB_OK)
        (void)snprintf(iterator->message, sizeof(iterator->message), "%.150s",
                       error.message);
    *value =
        (struct tb_value){.kind = TB_VALUE_ITERATOR, .as.iterator = iterator};
    return TB_OK;
}

static tb_status text_items(struct tb_render *run, struct tb_span text,
                            struct tb_list *items)
{
    for (size_t at = 0; at < text.len;) {
        uint32_t cp;
        size_t len = tb_text_decode(text, at, &cp);
        struct tb_value item =
            tb_value_text((struct tb_span){text.ptr + at, len});
        TB_TRY(tb_list_append(run, items, &item));
        at += len;
    }
    return TB_OK;
}

static tb_status view_items(struct tb_render *run, tb_view_kind kind,
                            const struct tb_dict *dict, struct tb_list *items)
{
    for (size_t i = 0; i < dict->count; i++) {
        const struct tb_pair *pair = &dict->pairs[i];
        struct tb_value item = kind == TB_VIEW_KEYS ? pair->key : pair->value;
        if (kind == TB_VIEW_ITEMS)
            TB_TRY(tb_render_pair(run, &pair->key, &pair->value, &item));
        TB_TRY(tb_list_append(run, items, &item));
    }
    return TB_OK;
}

static tb_status iterator_items(struct tb_render *run,
                                struct tb_iterator *iterator,
                                struct tb_list *items)
{
    *items = (struct tb_list){
        .items = (struct tb_value *)iterator->items + iterator->at,
        .count = iterator->count - iterator->at,
    };
    if (iterator->count == iterator->at)
        items->items = NULL;
    iterator->at = iterator->count;
    if (iterator->status == TB_OK)
        return TB_OK;
    return tb_render_fail_as(run, iterator->status, "%s", iterator->message);
}

bool tb_value_is_iterable(const struct tb_value *value)
{
    size_t length;
    return value->kind == TB_VALUE_ITERATOR || value->kind == TB_VALUE_LOOP ||
           tb_value_length(value, &length);
}

tb_status tb_render_items(struct tb_render *run, const struct tb_value *value,
                          struct tb_list *items)
{
    *items = (struct tb_list){0};
    switch (value->kind) {
    case TB_VALUE_UNDEFINED:
        if (value->as.undefined && value->as.undefined->is_unsafe)
            return tb_render_fail_undefined(run, value);
        return TB_OK;
    case TB_VALUE_LIST:
    case TB_VALUE_TUPLE:
        *items = *value->as.list;
        items->capacity = items->count; // appending makes a copy
        return TB_OK;
    case TB_VALUE_STRING:
        return text_items(run, value->as.text, items);
    case TB_VALUE_DICT:
        return view_items(run, TB_VIEW_KEYS, value->as.dict, items);
    case TB_VALUE_VIEW:
        return view_items(run, value->as.view->kind, value->as.view->dict,
                          items);
    case TB_VALUE_ITERATOR:
        return iterator_items(run, value->as.iterator, items);
    case TB_VALUE_RANGE:
        for (int64_t i = 0; i < value->as.range->count; i++) {
            struct tb_value item = tb_range_item(value->as.range, i);
            TB_TRY(tb_list_append(run, items, &item));
        }
        return TB_OK;
    default:
        return tb_render_fail(run, "'%s' object is not iterable",
                              tb_value_type(value));
    }
}

/* ---- dicts ------------------------------------------------------------ */

tb_status tb_render_dict(struct tb_render *run, struct tb_value *value)
{
    struct tb_dict *dict = TB_RENDER_NEW(run, struct tb_dict, 1);
    if (!dict)
        return tb_render_no_memory(run);
    *value = (struct tb_value){.kind = TB_VALUE_DICT, .as.dict = dict};
    return TB_OK;
}

// Numbers that are equal hash alike, whatever their kind.
static tb_status hash_key(struct tb_render *run, const struct tb_value *key,
                          uint64_t *hash)
{
    double number;
    switch (key->kind) {
    case TB_VALUE_STRING:
        *hash = tb_hash64(key->as.text, 0);
        return tb_render_scan(run, key->as.text.len);
    case TB_VALUE_BOOL:
    case TB_VALUE_INT:
    case TB_VALUE_FLOAT:
        number = tb_value_number(key);
        if (number == 0)
            number = 0; // -0.0 too
        *hash = tb_hash64((struct tb_span){(const uint8_t *)&number, 8}, 1);
        return TB_OK;
    case TB_VALUE_TUPLE:
        TB_TRY(tb_render_enter(run));
        *hash = 7;
        for (size_t i = 0; i < key->as.list->count; i++) {
            uint64_t part = 0;
            TB_TRY(hash_key(run, &key->as.list->items[i], &part));
            *hash = *hash * UINT64_C(0x9E3779B97F4A7C15) + part;
        }
        run->depth--;
        return TB_OK;
    case TB_VALUE_LIST:
    case TB_VALUE_DICT:
    case TB_VALUE_SLICE:
    case TB_VALUE_VIEW:
        return tb_render_fail(run, "unhashable type: '%s'", tb_value_type(key));
    default:
        *hash = (uint64_t)key->kind;
        return TB_OK;
    }
}

static tb_status find_pair(struct tb_render *run, const struct tb_dict *dict,
                           const struct tb_value *key, uint64_t hash,
                           struct tb_pair **found)
{
    size_t mask = dict->slot_count - 1;
    size_t at = dict->slots ? hash & mask : 0;
    *found = NULL;
    for (;;) {
        if (dict->slots ? !dict->slots[at] : at == dict->count)
            return TB_OK;
        struct tb_pair *pair =
            &dict->pairs[dict->slots ? dict->slots[at] - 1 : at];
        bool is_equal = false;
        if (pair->hash == hash)
            TB_TRY(tb_render_equal(run, &pair->key, key, &is_equal));
        if (is_equal) {
            *found = pair;
            return TB_OK;
        }
        at = dict->slots ? (at + 1) & mask : at + 1;
    }
}

tb_status tb_dict_find(struct tb_render *run, const struct tb_dict *dict,
                       const struct tb_value *key,
                       const struct tb_value **found)
{
    uint64_t hash = 0;
    struct tb_pair *pair;
    TB_TRY(hash_key(run, key, &hash));
    TB_TRY(find_pair(run, dict, key, hash, &pair));
    *found = pair ? &pair->value : NULL;
    return TB_OK;
}

static void add_slot(struct tb_dict *dict, size_t index)
{
    size_t mask = dict->slot_count - 1;
    size_t at = dict->pairs[index].hash & mask;
    while (dict->slots[at])
        at = (at + 1) & mask;
    dict->slots[at] = (uint32_t)index + 1;
}

static tb_status grow_dict(struct tb_render *run, struct tb_dict *dict)
{
    size_t capacity = dict->capacity ? dict->capacity * 2 : 6;
    struct tb_pair *pairs = TB_RENDER_NEW(run, struct tb_pair, capacity);
    if (!pairs)
        return tb_render_no_memory(run);
    if (dict->count > 0)
        memcpy(pairs, dict->pairs, dict->count * sizeof(*pairs));
    dict->pairs = pairs;
    dict->capacity = capacity;
    if (capacity <= SLOTS_FROM)
        return TB_OK;
    size_t slot_count = 64;
    while (slot_count < capacity * 2)
        slot_count *= 2;
    dict->slots = TB_RENDER_NEW(run, uint32_t, slot_count);
    if (!dict->slots)
        return tb_render_no_memory(run);
    dict->slot_count = slot_count;
    for (size_t i = 0; i < dict->count; i++)
        add_slot(dict, i);
    return TB_OK;
}

tb_status tb_dict_set(struct tb_render *run, struct tb_dict *dict,
                      const struct tb_value *key, const struct tb_value *value)
{
    uint64_t hash = 0;
    struct tb_pair *pair;
    TB_TRY(tb_render_step(run, 1));
    TB_TRY(hash_key(run, key, &hash));
    TB_TRY(find_pair(run, dict, key, hash, &pair));
    if (pair) {
        pair->value = *value;
        return TB_OK;
    }
    if (dict->count == dict->capacity)
        TB_TRY(grow_dict(run, dict));
    dict->pairs[dict->count] = (struct tb_pair){*key, *value, hash};
    if (dict->slots)
        add_slot(dict, dict->count);
    dict->count++;
    return TB_OK;
}
