#include "usage_record.h"

#include "record_fields.h"

struct count {
    uint64_t value;
    bool is_there;
};

/* The counts as they are named, before it is clear which API wrote them. */
struct counts {
    struct count prompt, completion;  /* prompt_tokens, completion_tokens */
    struct count input, output;       /* input_tokens, output_tokens */
    struct count cached;              /* by any name: */
    struct count cache_read, created; /* Anthropic's names */
    struct count reasoning;
};

#define FIELD(name, count)                                                     \
    TB_FIELD_COUNT(name, &(count).value, &(count).is_there)

static void add(struct count *sum, const struct count *part)
{
    if (part->is_there && sum->value + part->value >= sum->value)
        sum->value += part->value;
}

/* Is what the cache had missing in the prompt's count? Anthropic's usage says
 * so by its names; a count that is below that of its own part, by its size. */
static bool is_without_cache(const struct counts *counts)
{
    bool is_anthropic =
        !counts->prompt.is_there &&
        (counts->cache_read.is_there || counts->created.is_there);
    uint64_t prompt =
        counts->prompt.is_there ? counts->prompt.value : counts->input.value;
    uint64_t cached = counts->cached.is_there ? counts->cached.value
                                              : counts->cache_read.value;
    return is_anthropic || prompt < cached;
}

static void take(const struct count *count, uint64_t *value, bool *is_there)
{
    if (!count->is_there)
        return;
    *value = count->value;
    *is_there = true;
}

static void resolve(const struct counts *counts, bool is_compat,
                    struct tb_usage *usage)
{
    struct count prompt =
        counts->prompt.is_there ? counts->prompt : counts->input;
    struct count cached =
        counts->cached.is_there ? counts->cached : counts->cache_read;
    if (prompt.is_there && !is_compat && is_without_cache(counts)) {
        add(&prompt, &cached);
        add(&prompt, &counts->created);
    }
    take(&prompt, &usage->prompt, &usage->has_prompt);
    take(&cached, &usage->cached, &usage->has_cached);
    take(counts->completion.is_there ? &counts->completion : &counts->output,
         &usage->completion, &usage->has_completion);
    take(&counts->reasoning, &usage->reasoning, &usage->has_reasoning);
}

tb_status tb_usage_record_read(struct tb_json_reader *reader,
                               struct tb_arena *arena, bool is_compat,
                               struct tb_usage *usage)
{
    struct counts counts = {0};
    const struct tb_field prompt_details[] = {
        FIELD("cached_tokens", counts.cached)};
    const struct tb_field completion_details[] = {
        FIELD("reasoning_tokens", counts.reasoning)};
    const struct tb_field fields[] = {
        FIELD("prompt_tokens", counts.prompt),
        FIELD("completion_tokens", counts.completion),
        FIELD("cached_tokens", counts.cached),
        FIELD("reasoning_tokens", counts.reasoning),
        TB_FIELD_OBJECT("prompt_tokens_details", prompt_details),
        TB_FIELD_OBJECT("completion_tokens_details", completion_details),
        TB_FIELD_OBJECT("input_tokens_details", prompt_details),
        TB_FIELD_OBJECT("output_tokens_details", completion_details),
        FIELD("cache_read_input_tokens", counts.cache_read),
        FIELD("cache_creation_input_tokens", counts.created),
        FIELD("input_tokens", counts.input), // from here on not with is_compat
        FIELD("output_tokens", counts.output),
    };
    size_t count = sizeof(fields) / sizeof(fields[0]);
    TB_TRY(
        tb_fields_read(reader, arena, fields, is_compat ? count - 2 : count));
    resolve(&counts, is_compat, usage);
    return TB_OK;
}
