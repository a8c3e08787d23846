#include "row_tokens.h"

#include "hash.h"
#include "memory.h"

/* A bit that no id of a tokenizer has. */
#define PLACEHOLDER (UINT32_C(1) << 31)

/* So that a group and a session of one name have other placeholders. */
enum { GROUP_SEED = 1, TAIL_SEED = 2 };

struct tb_row_group {
    uint64_t seed;           /* of its placeholders */
    uint64_t surplus;        /* placeholders in front of each of its calls */
    bool is_known;           /* surplus was set by its first call with usage */
    uint64_t session_number; /* in which it was set */
};

void tb_row_groups_release(struct tb_row_groups *groups)
{
    tb_name_table_release(&groups->keys);
    tb_memory_free(groups->items);
    *groups = (struct tb_row_groups){0};
}

/* A stand-in for a token that is not known: the same for the same seed and
 * position. (The mixing is that of splitmix64, Steele et al., 2014.) */
static tb_token placeholder(uint64_t seed, uint64_t position)
{
    uint64_t x = seed + position * 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return (tb_token)(x >> 33) | PLACEHOLDER;
}

void tb_row_groups_begin_session(struct tb_row_groups *groups,
                                 struct tb_span name)
{
    if (!groups->is_by_session)
        return;
    groups->session_number++;
    groups->tail_seed = tb_hash64(name, TAIL_SEED);
}

/* Sets what stands in front of the group's calls by the first whose prompt the
 * server counted. */
static void learn_surplus(const struct tb_row_groups *groups,
                          struct tb_row_group *group, uint64_t counted,
                          uint64_t text_count)
{
    bool is_known =
        group->is_known && group->session_number == groups->session_number;
    if (is_known)
        return;
    group->is_known = true;
    group->session_number = groups->session_number;
    group->surplus = counted > text_count ? counted - text_count : 0;
    if (groups->is_by_session)
        group->surplus -= group->surplus % TB_FRONT_STEP;
}

static tb_status write_key(const struct tb_call *call, struct tb_buffer *key)
{
    TB_TRY(tb_buffer_append(key, call->model));
    TB_TRY(tb_buffer_append_byte(key, 0));
    TB_TRY(tb_buffer_append(key, call->agent));
    TB_TRY(tb_buffer_append_byte(key, 0));
    return tb_buffer_append_u64(key, call->tools_hash);
}

static tb_status find_group(struct tb_row_groups *groups,
                            const struct tb_call *call, uint32_t *number)
{
    struct tb_buffer key = TB_BUFFER(SIZE_MAX / 2);
    tb_status status = write_key(call, &key);
    uint32_t known = groups->keys.count;
    if (status == TB_OK)
        status = tb_name_table_add(&groups->keys, tb_buffer_span(&key), number);
    uint64_t seed = tb_hash64(tb_buffer_span(&key), GROUP_SEED);
    tb_buffer_release(&key);
    if (status != TB_OK || *number < known)
        return status;
    struct tb_row_group *items = tb_array_grow(
        groups->items, &groups->capacity, (size_t)known + 1, sizeof(*items));
    if (!items)
        return TB_ERR_MEMORY;
    groups->items = items;
    items[known] = (struct tb_row_group){.seed = seed};
    return TB_OK;
}

tb_status tb_row_tokens_init(struct tb_row_tokens *tokens,
                             struct tb_row_groups *groups,
                             const struct tb_call *call,
                             const struct tb_prompt_store *prompts,
                             bool does_usage_lead)
{
    const struct tb_usage *usage = &call->usage;
    *tokens = (struct tb_row_tokens){.prompts = prompts,
                                     .prompt = call->prompt_number};
    tokens->text_count = tb_prompt_store_token_count(prompts, tokens->prompt);
    TB_TRY(find_group(groups, call, &tokens->group));
    struct tb_row_group *group = &groups->items[tokens->group];
    tokens->total = tokens->text_count;
    tokens->front_seed = group->seed;
    tokens->tail_seed = ++groups->tail_seed;
    if (!does_usage_lead)
        return TB_OK;
    bool is_counted = usage->has_prompt && usage->prompt > 0;
    if (is_counted)
        learn_surplus(groups, group, usage->prompt, tokens->text_count);
    if (group->session_number == groups->session_number)
        tokens->front = group->surplus;
    tokens->total =
        is_counted ? usage->prompt : tokens->front + tokens->text_count;
    return TB_OK;
}

void tb_row_tokens_copy(const struct tb_row_tokens *tokens, uint64_t from,
                        uint64_t to, tb_token *ids)
{
    uint64_t at = from;
    for (; at < to && at < tokens->front; at++)
        *ids++ = placeholder(tokens->front_seed, at);
    uint64_t text_end = tokens->front + tokens->text_count;
    uint64_t stop = to < text_end ? to : text_end;
    if (at < stop) {
        tb_prompt_store_copy(tokens->prompts, tokens->prompt,
                             at - tokens->front, stop - tokens->front, ids);
        ids += stop - at;
        at = stop;
    }
    for (; at < to; at++)
        *ids++ = placeholder(tokens->tail_seed, at);
}
