#include "row_maker.h"

#include <math.h>
#include <string.h>

#include "memory.h"
#include "mooncake_row.h"

enum {
    RECENT_COUNT = 8,      /* rows whose blocks are kept for the next ones */
    FLUSH_LEN = 256 << 10, /* bytes of rows that are written at once */
};

/* A bit that no id of a tokenizer has. */
#define PLACEHOLDER (UINT32_C(1) << 31)

/* What is known of one model, agent and tool list. */
struct group {
    uint64_t seed;    /* of its placeholders */
    uint64_t surplus; /* placeholders in front of each of its calls */
    bool is_known;    /* surplus was set by its first call with usage */
};

/* The blocks of a row that was made a moment ago. */
struct recent {
    bool is_used;
    uint64_t prompt; /* its number in the session */
    uint32_t group;
    uint64_t front;       /* placeholders in front */
    uint64_t valid_count; /* tokens up to here are front and text alone */
    struct tb_hash128 *blocks;
    uint64_t *ids;
    uint64_t count;
    size_t blocks_capacity, ids_capacity;
};

struct tb_row_maker {
    struct tb_row_options options;
    struct tb_output *output;
    struct tb_stats *stats;
    struct tb_block_table table;
    struct tb_name_table group_keys;
    struct group *groups;
    size_t groups_capacity;
    struct recent recent[RECENT_COUNT];
    size_t next_recent;
    struct tb_buffer bytes; /* rows to be written */
    tb_token *block;        /* the tokens of one block */
    uint64_t tail_seed;     /* differs for each row */
};

tb_status tb_row_maker_new(const struct tb_row_options *options,
                           struct tb_output *output, struct tb_stats *stats,
                           struct tb_row_maker **maker)
{
    struct tb_row_maker *made = tb_memory_zeroed(1, sizeof(*made));
    if (!made)
        return TB_ERR_MEMORY;
    made->options = *options;
    made->output = output;
    made->stats = stats;
    made->bytes = TB_BUFFER(SIZE_MAX / 2);
    made->block = tb_memory_zeroed(options->block_size, sizeof(*made->block));
    if (!made->block) {
        tb_row_maker_free(made);
        return TB_ERR_MEMORY;
    }
    *maker = made;
    return TB_OK;
}

void tb_row_maker_free(struct tb_row_maker *maker)
{
    if (!maker)
        return;
    for (size_t i = 0; i < RECENT_COUNT; i++) {
        tb_memory_free(maker->recent[i].blocks);
        tb_memory_free(maker->recent[i].ids);
    }
    tb_block_table_release(&maker->table);
    tb_name_table_release(&maker->group_keys);
    tb_memory_free(maker->groups);
    tb_memory_free(maker->block);
    tb_buffer_release(&maker->bytes);
    tb_memory_free(maker);
}

/* ---- placeholders -----------------------------------------------------------
 */

/* A stand-in for a token that is not known: the same for the same seed and
 * position. (The mixing is that of splitmix64, Steele et al., 2014.) */
static tb_token placeholder(uint64_t seed, uint64_t position)
{
    uint64_t x = seed + position * 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return (tb_token)(x >> 33) | PLACEHOLDER;
}

static tb_status find_group(struct tb_row_maker *maker,
                            const struct tb_call *call, uint32_t *number)
{
    struct tb_buffer key = TB_BUFFER(SIZE_MAX / 2);
    tb_status status = tb_buffer_append(&key, call->model);
    if (status == TB_OK)
        status = tb_buffer_append_byte(&key, 0);
    if (status == TB_OK)
        status = tb_buffer_append(&key, call->agent);
    if (status == TB_OK)
        status = tb_buffer_printf(&key, "%c%llx", 0,
                                  (unsigned long long)call->tools_hash);
    uint64_t seed = tb_hash64(tb_buffer_span(&key), 1);
    uint32_t known = maker->group_keys.count;
    if (status == TB_OK)
        status =
            tb_name_table_add(&maker->group_keys, tb_buffer_span(&key), number);
    tb_buffer_release(&key);
    if (status != TB_OK || *number < known)
        return status;
    struct group *groups = tb_array_grow(maker->groups, &maker->groups_capacity,
                                         (size_t)known + 1, sizeof(*groups));
    if (!groups)
        return TB_ERR_MEMORY;
    maker->groups = groups;
    groups[known] = (struct group){.seed = seed};
    return TB_OK;
}

/* ---- the tokens of a row
 * ------------------------------------------------------ */

/* A row's tokens, as far as its blocks need them. */
struct content {
    const struct tb_prompt_store *prompts;
    uint64_t prompt;     /* number */
    uint64_t text_count; /* its tokens */
    uint32_t group;
    uint64_t front; /* placeholders before the text */
    uint64_t total; /* tokens of the row */
    uint64_t front_seed, tail_seed;
};

// The tokens [from, to) of a row.
static void copy_tokens(const struct content *content, uint64_t from,
                        uint64_t to, tb_token *tokens)
{
    uint64_t at = from;
    for (; at < to && at < content->front; at++)
        *tokens++ = placeholder(content->front_seed, at);
    uint64_t text_end = content->front + content->text_count;
    uint64_t stop = to < text_end ? to : text_end;
    if (at < stop) {
        tb_prompt_store_copy(content->prompts, content->prompt,
                             at - content->front, stop - content->front,
                             tokens);
        tokens += stop - at;
        at = stop;
    }
    for (; at < to; at++)
        *tokens++ = placeholder(content->tail_seed, at);
}

/* How many full blocks the row has in common with one made before, which its
 * prompt is known to begin like. */
static uint64_t shared_blocks(const struct tb_row_maker *maker,
                              const struct content *content,
                              const struct recent **source)
{
    const struct tb_prompt *prompt =
        &content->prompts->prompts[content->prompt];
    for (size_t i = 0; i < RECENT_COUNT; i++) {
        const struct recent *recent = &maker->recent[i];
        if (!recent->is_used || prompt->base == TB_PROMPT_NO_TAG ||
            recent->prompt != prompt->base || recent->group != content->group ||
            recent->front != content->front)
            continue;
        uint64_t tokens = content->front + prompt->shared_count;
        if (tokens > recent->valid_count)
            tokens = recent->valid_count;
        if (tokens > content->total)
            tokens = content->total;
        *source = recent;
        return tokens / maker->options.block_size;
    }
    return 0;
}

static tb_status reserve_blocks(struct recent *recent, uint64_t count)
{
    struct tb_hash128 *blocks = tb_array_grow(
        recent->blocks, &recent->blocks_capacity, count, sizeof(*blocks));
    if (!blocks)
        return TB_ERR_MEMORY;
    recent->blocks = blocks;
    uint64_t *ids =
        tb_array_grow(recent->ids, &recent->ids_capacity, count, sizeof(*ids));
    if (!ids)
        return TB_ERR_MEMORY;
    recent->ids = ids;
    return TB_OK;
}

// Blocks and ids of a row, into the oldest of the recent ones.
static tb_status make_blocks(struct tb_row_maker *maker,
                             const struct content *content,
                             struct recent **made, uint64_t *new_tokens)
{
    const uint64_t block_size = maker->options.block_size;
    uint64_t count = (content->total + block_size - 1) / block_size;
    struct recent *recent = &maker->recent[maker->next_recent];
    const struct recent *source = NULL;
    uint64_t shared = shared_blocks(maker, content, &source);
    TB_TRY(reserve_blocks(recent, count + 1));
    if (shared && source != recent) {
        memcpy(recent->blocks, source->blocks,
               shared * sizeof(*recent->blocks));
        memcpy(recent->ids, source->ids, shared * sizeof(*recent->ids));
    }
    recent->is_used = false; // until it is whole
    struct tb_hash128 parent =
        shared ? recent->blocks[shared - 1] : TB_BLOCK_ROOT;
    for (uint64_t i = shared; i < count; i++) {
        uint64_t from = i * block_size;
        uint64_t to = from + block_size;
        if (to > content->total)
            to = content->total;
        copy_tokens(content, from, to, maker->block);
        parent = tb_block_hash(parent, maker->block, (size_t)(to - from));
        bool is_new;
        recent->blocks[i] = parent;
        TB_TRY(tb_block_table_add(&maker->table, parent, &recent->ids[i],
                                  &is_new));
        if (is_new)
            *new_tokens += to - from;
    }
    recent->count = count;
    recent->prompt = content->prompt;
    recent->group = content->group;
    recent->front = content->front;
    recent->valid_count = content->front + content->text_count;
    if (recent->valid_count > content->total)
        recent->valid_count = content->total;
    recent->is_used = true;
    maker->next_recent = (maker->next_recent + 1) % RECENT_COUNT;
    *made = recent;
    return TB_OK;
}

/* ---- lengths
 * -------------------------------------------------------------------- */

// Which row, if any, a call becomes; TB_SKIP_COUNT: it has one.
static tb_skip why_skipped(const struct tb_row_maker *maker,
                           const struct tb_session_call *session_call,
                           const struct tb_prompt_store *prompts)
{
    const struct tb_usage *usage = &session_call->call.usage;
    switch (session_call->state) {
    case TB_CALL_NO_END:
        return TB_SKIP_NO_END;
    case TB_CALL_NO_START:
        return TB_SKIP_NO_START;
    case TB_CALL_DUPLICATE_END:
        return TB_SKIP_DUPLICATE_END;
    case TB_CALL_ANSWERED:
    default:
        break;
    }
    const struct tb_prompt *prompt =
        &prompts->prompts[session_call->call.prompt_number];
    bool is_counted = usage->has_prompt && usage->prompt > 0;
    if (maker->options.is_compat) {
        bool is_nat = maker->options.dialect == TB_DIALECT_NAT;
        if (is_nat && !is_counted)
            return TB_SKIP_NO_USAGE;
        if (is_nat && prompt->is_empty_text)
            return TB_SKIP_EMPTY_PROMPT;
        return prompt->lone_surrogate_count ? TB_SKIP_SURROGATE : TB_SKIP_COUNT;
    }
    bool has_length = maker->options.does_usage_lead && is_counted;
    bool has_tokens = prompt->shared_count + prompt->own_count > 0;
    return has_length || has_tokens ? TB_SKIP_COUNT : TB_SKIP_EMPTY_PROMPT;
}

/* How many tokens the row has, and how many placeholders stand in front. */
static void set_lengths(struct tb_row_maker *maker, const struct tb_call *call,
                        struct content *content)
{
    struct group *group = &maker->groups[content->group];
    const struct tb_usage *usage = &call->usage;
    content->total = content->text_count;
    content->front_seed = group->seed;
    content->tail_seed = ++maker->tail_seed;
    if (maker->options.is_compat || !maker->options.does_usage_lead)
        return;
    bool is_counted = usage->has_prompt && usage->prompt > 0;
    if (is_counted && !group->is_known) {
        group->is_known = true;
        if (usage->prompt > content->text_count)
            group->surplus = usage->prompt - content->text_count;
    }
    content->front = group->surplus;
    content->total =
        is_counted ? usage->prompt : content->front + content->text_count;
}

static void set_output_length(const struct tb_row_maker *maker,
                              const struct tb_call *call, uint64_t answer_count,
                              struct tb_mooncake_row *row,
                              struct tb_stats_row *figures)
{
    const struct tb_usage *usage = &call->usage;
    row->output_length = usage->has_completion ? usage->completion : 0;
    if (row->output_length > 0 || maker->options.is_compat)
        return;
    figures->is_output_counted = answer_count > 0;
    figures->is_output_unknown = answer_count == 0;
    row->output_length = answer_count > 0 ? answer_count : 1;
}

/* ---- rows
 * ------------------------------------------------------------------------ */

static void set_telemetry_fields(const struct tb_row_maker *maker,
                                 const struct tb_call *call,
                                 struct tb_mooncake_row *row)
{
    if (maker->options.dialect != TB_DIALECT_TELEMETRY)
        return;
    row->has_agent_type = true;
    row->agent_type = call->agent;
    row->has_priority = true;
    row->priority = call->priority;
    row->is_priority_null = call->is_priority_null && maker->options.is_compat;
    if (!call->has_priority ||
        (!maker->options.is_compat && call->priority.len == 0))
        row->priority = TB_SPAN("MEDIUM");
}

static tb_status write_row(struct tb_row_maker *maker,
                           const struct tb_mooncake_row *row,
                           struct tb_error *error)
{
    if (!maker->output)
        return TB_OK;
    tb_status status = tb_mooncake_row_write(row, &maker->bytes);
    if (status != TB_OK)
        return tb_fail(error, status, "no memory for a row");
    return maker->bytes.len < FLUSH_LEN ? TB_OK
                                        : tb_row_maker_flush(maker, error);
}

static tb_status make_row(struct tb_row_maker *maker, struct tb_span name,
                          const struct tb_call *call,
                          const struct tb_prompt_store *prompts, bool is_first,
                          struct tb_error *error)
{
    struct content content = {.prompts = prompts,
                              .prompt = call->prompt_number};
    content.text_count =
        tb_prompt_store_token_count(prompts, call->prompt_number);
    TB_TRY(find_group(maker, call, &content.group));
    set_lengths(maker, call, &content);
    struct tb_stats_row figures = {
        .session_id = name,
        .agent = call->agent,
        .has_usage = call->usage.has_prompt && call->usage.prompt > 0,
        .usage_tokens = call->usage.prompt,
        .counted_tokens = content.text_count,
        .has_cached = call->usage.has_cached,
        .cached_tokens = call->usage.cached,
    };
    struct recent *blocks;
    TB_TRY(make_blocks(maker, &content, &blocks, &figures.new_tokens));
    struct tb_mooncake_row row = {
        .session_id = name,
        .input_length = content.total,
        .hash_ids = blocks->ids,
        .hash_id_count = (size_t)blocks->count,
        .has_delay = maker->options.has_delay && !is_first,
        .delay_ms = maker->options.delay_ms,
    };
    if (maker->options.is_compat && maker->options.dialect == TB_DIALECT_NAT)
        row.input_length = call->usage.prompt;
    set_output_length(maker, call, prompts->answer_counts[call->answer_number],
                      &row, &figures);
    set_telemetry_fields(maker, call, &row);
    figures.input_length = row.input_length;
    figures.output_length = row.output_length;
    figures.block_count = blocks->count;
    figures.priority = row.priority;
    TB_TRY(write_row(maker, &row, error));
    return tb_stats_add_row(maker->stats, &figures);
}

static void note_skip(struct tb_row_maker *maker, tb_skip skip,
                      const struct tb_call *call, struct tb_span name,
                      const char *path)
{
    struct tb_error note = {0};
    tb_fail(&note, TB_ERR_VALUE, "no row for a call of session '%.*s': %s",
            (int)(name.len < 80 ? name.len : 80), (const char *)name.ptr,
            tb_skip_text(skip));
    note.line = call->line;
    note.offset = call->offset;
    tb_error_set_path(&note, path);
    tb_stats_add_skip(maker->stats, skip, &note);
}

tb_status tb_row_maker_add(struct tb_row_maker *maker, struct tb_span name,
                           const char *path, const struct tb_session *session,
                           const struct tb_prompt_store *prompts,
                           struct tb_error *error)
{
    // Prompt numbers mean this session's from here on.
    for (size_t i = 0; i < RECENT_COUNT; i++)
        maker->recent[i].is_used = false;
    bool is_first = true;
    double latest_end = -INFINITY;
    for (size_t i = 0; i < session->call_count; i++) {
        const struct tb_session_call *session_call = &session->calls[i];
        const struct tb_call *call = &session_call->call;
        maker->stats->call_count++;
        tb_skip skip = why_skipped(maker, session_call, prompts);
        if (skip != TB_SKIP_COUNT) {
            note_skip(maker, skip, call, name, path);
            continue;
        }
        maker->stats->overlap_count += call->start_s < latest_end;
        if (call->end_s > latest_end)
            latest_end = call->end_s;
        tb_status status =
            make_row(maker, name, call, prompts, is_first, error);
        if (status != TB_OK)
            return error && error->status != TB_OK
                       ? status
                       : tb_fail(error, status, "cannot make a row: %s",
                                 tb_status_name(status));
        is_first = false;
    }
    return TB_OK;
}

tb_status tb_row_maker_flush(struct tb_row_maker *maker, struct tb_error *error)
{
    if (!maker->output)
        return TB_OK;
    tb_status status =
        tb_output_write(maker->output, tb_buffer_span(&maker->bytes), error);
    tb_buffer_clear(&maker->bytes);
    return status;
}
