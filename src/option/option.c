#include "option.h"

#include <string.h>

#include "memory.h"
#include "nearest.h"

tb_status tb_text_list_add(struct tb_text_list *list, const char *text)
{
    const char **items = tb_array_grow((void *)list->items, &list->capacity,
                                       list->count + 1, sizeof(*items));
    if (!items)
        return TB_ERR_MEMORY;
    list->items = items;
    items[list->count++] = text;
    return TB_OK;
}

void tb_text_list_release(struct tb_text_list *list)
{
    tb_memory_free((void *)list->items);
    *list = (struct tb_text_list){0};
}

// Finds an option by the first `len` bytes of `name`.
static const struct tb_option *find(const struct tb_option_table *table,
                                    const char *name, size_t len)
{
    for (size_t i = 0; i < table->option_count; i++) {
        const struct tb_option *option = &table->options[i];
        if (strlen(option->name) == len && memcmp(option->name, name, len) == 0)
            return option;
    }
    return NULL;
}

static tb_status fail_unknown(const struct tb_option_table *table,
                              const char *argument, struct tb_error *error)
{
    const char *name = argument + strspn(argument, "-");
    char typed[64] = "";
    size_t len = strcspn(name, "=");
    if (len < sizeof(typed))
        memcpy(typed, name, len);
    struct tb_nearest nearest = tb_nearest_to(typed);
    for (size_t i = 0; i < table->option_count; i++)
        tb_nearest_offer(&nearest, table->options[i].name);
    int shown = (int)(name + len - argument);
    if (nearest.name)
        return tb_fail(error, TB_ERR_USAGE,
                       "unknown option '%.*s', did you mean '--%s'?", shown,
                       argument, nearest.name);
    return tb_fail(error, TB_ERR_USAGE, "unknown option '%.*s'", shown,
                   argument);
}

static tb_status set_number(const struct tb_option *option, const char *value,
                            uint64_t *target, struct tb_error *error)
{
    uint64_t number = 0;
    bool is_good = value[0] != '\0';
    for (const char *digit = value; *digit && is_good; digit++) {
        unsigned unit = (unsigned)(unsigned char)*digit - '0';
        is_good = unit <= 9 && number <= (UINT64_MAX - unit) / 10;
        number = number * 10 + unit;
    }
    if (is_good && number >= option->min && number <= option->max) {
        *target = number;
        return TB_OK;
    }
    if (option->max == UINT64_MAX)
        return tb_fail(error, TB_ERR_USAGE,
                       "'--%s' needs a whole number from %llu on, not '%s'",
                       option->name, (unsigned long long)option->min, value);
    return tb_fail(error, TB_ERR_USAGE,
                   "'--%s' needs a whole number from %llu to %llu, not '%s'",
                   option->name, (unsigned long long)option->min,
                   (unsigned long long)option->max, value);
}

// Bytes, or with K, M, G or T behind so many times 1024 of them.
static tb_status set_size(const struct tb_option *option, const char *value,
                          uint64_t *target, struct tb_error *error)
{
    static const char units[] = "KMGT";
    size_t digits = strspn(value, "0123456789");
    const char *unit = value[digits] ? strchr(units, value[digits]) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    uint64_t number = 0;
    bool is_good = digits > 0 && digits < 19 && value[digits + !!unit] == '\0';
    for (size_t i = 0; i < digits && is_good; i++)
        number = number * 10 + (uint64_t)(value[i] - '0');
    if (is_good && number <= UINT64_MAX >> shift &&
        number << shift >= option->min && number << shift <= option->max) {
        *target = number << shift;
        return TB_OK;
    }
    return tb_fail(error, TB_ERR_USAGE,
                   "'--%s' needs a size such as 512M or 2G, at least %lluM, "
                   "not '%s'",
                   option->name, (unsigned long long)option->min >> 20, value);
}

static tb_status set_choice(const struct tb_option *option, const char *value,
                            int *target, struct tb_error *error)
{
    size_t len = strlen(value);
    int index = 0;
    for (const char *word = option->argument;; index++) {
        size_t word_len = strcspn(word, "|");
        if (word_len == len && memcmp(word, value, len) == 0) {
            *target = index;
            return TB_OK;
        }
        if (word[word_len] == '\0')
            break;
        word += word_len + 1;
    }
    return tb_fail(error, TB_ERR_USAGE, "'--%s' is one of %s, not '%s'",
                   option->name, option->argument, value);
}

static tb_status set(const struct tb_option *option, const char *value,
                     void *target, struct tb_error *error)
{
    void *field = (char *)target + option->target;
    switch (option->kind) {
    case TB_OPTION_FLAG:
        *(bool *)field = true;
        return TB_OK;
    case TB_OPTION_TEXT:
        *(const char **)field = value;
        return TB_OK;
    case TB_OPTION_LIST:
        if (tb_text_list_add(field, value) == TB_OK)
            return TB_OK;
        return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    case TB_OPTION_NUMBER:
        return set_number(option, value, field, error);
    case TB_OPTION_SIZE:
        return set_size(option, value, field, error);
    case TB_OPTION_CHOICE:
        return set_choice(option, value, field, error);
    }
    return TB_OK;
}

// The value of argv[*at], which may be the next argument.
static tb_status find_value(const struct tb_option *option, int argc,
                            char *const *argv, int *at, const char **value,
                            struct tb_error *error)
{
    const char *equals = strchr(argv[*at], '=');
    *value = equals ? equals + 1 : NULL;
    if (option->kind == TB_OPTION_FLAG)
        return equals ? tb_fail(error, TB_ERR_USAGE, "'--%s' takes no value",
                                option->name)
                      : TB_OK;
    if (equals)
        return TB_OK;
    // What looks like an option was hardly meant as a value.
    if (*at + 1 >= argc || strncmp(argv[*at + 1], "--", 2) == 0)
        return tb_fail(error, TB_ERR_USAGE, "'--%s' needs a value: --%s %s",
                       option->name, option->name, option->argument);
    *value = argv[++*at];
    return TB_OK;
}

static tb_status take_option(const struct tb_option_table *table, int argc,
                             char *const *argv, int *at, void *target,
                             struct tb_error *error)
{
    const char *argument = argv[*at];
    bool is_long = argument[1] == '-';
    const char *name = is_long ? argument + 2 : argument + 1;
    if (!is_long && strcmp(name, "h") == 0)
        name = "help";
    else if (!is_long)
        return fail_unknown(table, argument, error);
    const struct tb_option *option = find(table, name, strcspn(name, "="));
    if (!option)
        return fail_unknown(table, argument, error);
    const char *value;
    TB_TRY(find_value(option, argc, argv, at, &value, error));
    return set(option, value, target, error);
}

static tb_status take_operand(const struct tb_option_table *table,
                              const char *argument, void *target,
                              struct tb_error *error)
{
    struct tb_text_list *list = (void *)((char *)target + table->operands);
    if (list->count >= table->operands_max)
        return tb_fail(error, TB_ERR_USAGE, "unexpected argument '%s'",
                       argument);
    if (tb_text_list_add(list, argument) != TB_OK)
        return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    return TB_OK;
}

tb_status tb_option_parse(const struct tb_option_table *table, int argc,
                          char *const *argv, void *target,
                          struct tb_error *error)
{
    bool is_option_possible = true;
    for (int at = 0; at < argc; at++) {
        const char *argument = argv[at];
        if (is_option_possible && strcmp(argument, "--") == 0)
            is_option_possible = false;
        else if (is_option_possible && argument[0] == '-' && argument[1])
            TB_TRY(take_option(table, argc, argv, &at, target, error));
        else
            TB_TRY(take_operand(table, argument, target, error));
    }
    return TB_OK;
}
