#include "regex.h"

#include <oniguruma.h>
#include <pthread.h>

#include "memory.h"

/* The reference has Oniguruma's own limit per match, and none on the rest. */
enum {
    MATCH_STACK_LIMIT = 1 << 25,     /* entries, of some 40 bytes each */
    RETRY_LIMIT_IN_MATCH = 10000000, /* Oniguruma's default */
    EXPANDED_MAX_LEN = 4 << 20,      /* bytes */
};

struct tb_regex {
    regex_t *compiled;
    struct tb_buffer pattern; /* as it was given */
};

struct tb_regex_region {
    OnigRegion *places;
    OnigMatchParam *limits;
};

// Oniguruma keeps tables of its own that compiling changes.
static pthread_mutex_t compiling = PTHREAD_MUTEX_INITIALIZER;

static tb_status compile(struct tb_span pattern, regex_t **compiled,
                         struct tb_error *error)
{
    OnigErrorInfo info = {0};
    OnigEncoding encodings[] = {ONIG_ENCODING_UTF8};
    pthread_mutex_lock(&compiling);
    int code = onig_initialize(encodings, 1);
    if (code == ONIG_NORMAL)
        code = onig_new(compiled, pattern.ptr, pattern.ptr + pattern.len,
                        ONIG_OPTION_NONE, ONIG_ENCODING_UTF8,
                        ONIG_SYNTAX_DEFAULT, &info);
    pthread_mutex_unlock(&compiling);
    if (code == ONIG_NORMAL)
        return TB_OK;
    OnigUChar text[ONIG_MAX_ERROR_MESSAGE_LEN];
    int len = onig_error_code_to_str(text, code, &info);
    return tb_fail(error, code == ONIGERR_MEMORY ? TB_ERR_MEMORY : TB_ERR_VALUE,
                   "cannot compile the pattern: %.*s", len, (char *)text);
}

tb_status tb_regex_new(struct tb_span pattern, struct tb_regex **regex,
                       struct tb_error *error)
{
    struct tb_buffer expanded = TB_BUFFER(EXPANDED_MAX_LEN);
    struct tb_regex *made = tb_memory_zeroed(1, sizeof(*made));
    tb_status status = TB_ERR_MEMORY;
    if (made) {
        made->pattern = TB_BUFFER(SIZE_MAX);
        status = tb_buffer_append(&made->pattern, pattern);
    }
    if (status == TB_OK)
        status = tb_regex_expand(pattern, &expanded, error);
    if (status == TB_OK)
        status = compile(tb_buffer_span(&expanded), &made->compiled, error);
    tb_buffer_release(&expanded);
    if (status == TB_OK)
        *regex = made;
    else
        tb_regex_free(made);
    return status;
}

void tb_regex_free(struct tb_regex *regex)
{
    if (!regex)
        return;
    if (regex->compiled)
        onig_free(regex->compiled);
    tb_buffer_release(&regex->pattern);
    tb_memory_free(regex);
}

struct tb_span tb_regex_pattern(const struct tb_regex *regex)
{
    return tb_buffer_span(&regex->pattern);
}

tb_status tb_regex_region_new(struct tb_regex_region **region)
{
    struct tb_regex_region *made = tb_memory_zeroed(1, sizeof(*made));
    if (!made)
        return TB_ERR_MEMORY;
    made->places = onig_region_new();
    made->limits = onig_new_match_param();
    if (!made->places || !made->limits) {
        tb_regex_region_free(made);
        return TB_ERR_MEMORY;
    }
    onig_initialize_match_param(made->limits);
    onig_set_match_stack_limit_size_of_match_param(made->limits,
                                                   MATCH_STACK_LIMIT);
    onig_set_retry_limit_in_match_of_match_param(made->limits,
                                                 RETRY_LIMIT_IN_MATCH);
    *region = made;
    return TB_OK;
}

void tb_regex_region_free(struct tb_regex_region *region)
{
    if (!region)
        return;
    if (region->places)
        onig_region_free(region->places, 1);
    if (region->limits)
        onig_free_match_param(region->limits);
    tb_memory_free(region);
}

// The first match at or after `from`, empty or not.
static tb_status search(const struct tb_regex *regex,
                        struct tb_regex_region *region, struct tb_span text,
                        size_t from, struct tb_regex_walk *walk)
{
    const uint8_t *end = text.ptr + text.len;
    onig_region_clear(region->places);
    int at = onig_search_with_param(regex->compiled, text.ptr, end,
                                    text.ptr + from, end, region->places,
                                    ONIG_OPTION_NONE, region->limits);
    walk->found = at >= 0;
    if (at == ONIG_MISMATCH)
        return TB_OK;
    if (at < 0)
        return at == ONIGERR_MEMORY ? TB_ERR_MEMORY : TB_ERR_LIMIT;
    walk->start = (size_t)region->places->beg[0];
    walk->end = (size_t)region->places->end[0];
    return TB_OK;
}

static size_t character_len(struct tb_span text, size_t at)
{
    size_t len = 1;
    while (at + len < text.len && (text.ptr[at + len] & 0xC0) == 0x80)
        len++;
    return len;
}

tb_status tb_regex_next(const struct tb_regex *regex,
                        struct tb_regex_region *region, struct tb_span text,
                        struct tb_regex_walk *walk)
{
    if (text.len > INT32_MAX)
        return TB_ERR_LIMIT;
    size_t last_end = walk->end;
    for (;;) {
        walk->found = false;
        if (walk->from > text.len)
            return TB_OK;
        TB_TRY(search(regex, region, text, walk->from, walk));
        if (!walk->found)
            return TB_OK;
        bool is_repeat = walk->start == walk->end && walk->is_underway &&
                         walk->end == last_end;
        if (!is_repeat)
            break;
        walk->from += character_len(text, walk->from);
    }
    walk->from = walk->end;
    walk->is_underway = true;
    return TB_OK;
}
