#include "meta_merge.h"

#include <string.h>

#include "json_form.h"
#include "memory.h"
#include "meta.h"
#include "record_fields.h"

/* Figures that are summed. */
enum {
    SESSIONS,
    ROWS,
    SKIPPED_CALLS,
    LOST_RECORDS,
    CUT_SESSIONS,
    INPUT_TOKENS,
    OUTPUT_TOKENS,
    COUNTS
};

static const char *const count_names[COUNTS] = {
    "sessions",     "rows",         "skipped_calls", "lost_records",
    "cut_sessions", "input_tokens", "output_tokens"};

/* Spans are raw JSON unless they are a text. */
struct tb_merged_meta {
    const char *path;
    struct tb_span ids, salt, fingerprint, tokenizer, format, prompt,
        explanation, prompt_text, length_source; /* texts */
    struct tb_span has_template, compat, delay, options, inputs;
    uint64_t meta_format, block_size, first_ms;
    bool has_first_ms, is_said; /* the latter is nobody's */
    uint64_t counts[COUNTS];
};

/* ---- reading ----------------------------------------------------------- */

static tb_status read_fields(struct tb_json_reader *reader,
                             struct tb_arena *arena,
                             struct tb_merged_meta *meta)
{
    bool *said = &meta->is_said;
    const struct tb_field rows[] = {
        TB_FIELD_TEXT("prompt", &meta->prompt),
        TB_FIELD_TEXT("explanation", &meta->explanation),
        TB_FIELD_TEXT("prompt_text", &meta->prompt_text),
        TB_FIELD_TEXT("length_source", &meta->length_source),
        TB_FIELD_RAW("compat", &meta->compat),
        TB_FIELD_RAW("delay_ms", &meta->delay),
    };
    const struct tb_field tokenizer[] = {
        TB_FIELD_TEXT("name", &meta->tokenizer),
        TB_FIELD_TEXT("fingerprint", &meta->fingerprint),
        TB_FIELD_RAW("chat_template", &meta->has_template),
    };
    struct tb_field counts[COUNTS];
    for (size_t i = 0; i < COUNTS; i++)
        counts[i] = (struct tb_field){.key = tb_span_of(count_names[i]),
                                      .kind = TB_FIELD_KIND_COUNT,
                                      .slot = &meta->counts[i],
                                      .has = said};
    const struct tb_field fields[] = {
        TB_FIELD_COUNT("meta_format", &meta->meta_format, said),
        TB_FIELD_OBJECT("rows", rows),
        TB_FIELD_COUNT("block_size", &meta->block_size, said),
        TB_FIELD_OBJECT("tokenizer", tokenizer),
        TB_FIELD_TEXT("ids", &meta->ids),
        TB_FIELD_TEXT("salt", &meta->salt),
        TB_FIELD_COUNT("first_ms", &meta->first_ms, &meta->has_first_ms),
        TB_FIELD_RAW("options", &meta->options),
        TB_FIELD_TEXT("format", &meta->format),
        TB_FIELD_RAW("inputs", &meta->inputs),
        TB_FIELD_OBJECT("counts", counts),
    };
    TB_TRY(tb_field_expect_object(reader));
    return TB_FIELDS_READ(reader, arena, fields);
}

static tb_status read_meta(struct tb_meta_merge *merge, struct tb_span content,
                           struct tb_merged_meta *meta)
{
    struct tb_json_reader reader;
    struct tb_span copy; // the fields borrow from it
    TB_TRY(tb_arena_copy(&merge->arena, content, &copy));
    tb_json_reader_init_span(&reader, copy, 0, 1);
    return read_fields(&reader, &merge->arena, meta);
}

/* ---- do they agree? ---------------------------------------------------- */

static tb_status refuse(const struct tb_merged_meta *meta,
                        struct tb_error *error, const char *why)
{
    tb_fail(error, TB_ERR_VALUE, "%s", why);
    tb_error_set_path(error, meta->path);
    return TB_ERR_VALUE;
}

static tb_status check_alone(const struct tb_merged_meta *meta,
                             struct tb_error *error)
{
    if (meta->meta_format != TB_META_FORMAT)
        return refuse(meta, error,
                      "its meta file is of another version of tracebake");
    if (!tb_span_equal(meta->ids, TB_SPAN("content")))
        return refuse(meta, error,
                      "its ids are numbers of its own run: convert with "
                      "'--ids content' what is to be merged");
    return TB_OK;
}

// The first member of `json` that is not the same in `other`.
static struct tb_span difference(struct tb_span json, struct tb_span other)
{
    size_t from = tb_span_common_prefix(json, other);
    while (from > 0 && json.ptr[from - 1] != ',' && json.ptr[from - 1] != '{')
        from--;
    while (from < json.len && strchr(" \n", json.ptr[from]))
        from++;
    size_t to = from;
    while (to < json.len && !strchr(",}\n", json.ptr[to]))
        to++;
    return (struct tb_span){json.ptr + from, to - from};
}

static tb_status check_text(const struct tb_merged_meta *first,
                            const struct tb_merged_meta *meta, const char *what,
                            struct tb_span a, struct tb_span b,
                            struct tb_error *error)
{
    if (tb_span_equal(a, b))
        return TB_OK;
    if (a.len > 0 && b.len > 0 && *a.ptr == '{' && *b.ptr == '{') {
        struct tb_span whole = a;
        a = difference(a, b);
        b = difference(b, whole);
    }
    int a_len = tb_span_shown(a, 120);
    int b_len = tb_span_shown(b, 120);
    tb_fail(error, TB_ERR_VALUE,
            "another %s than '%.60s': %.*s there, %.*s here", what, first->path,
            a.len ? a_len : 4, a.len ? (const char *)a.ptr : "none",
            b.len ? b_len : 4, b.len ? (const char *)b.ptr : "none");
    tb_error_set_path(error, meta->path);
    return TB_ERR_VALUE;
}

static tb_status check_pair(const struct tb_merged_meta *a,
                            const struct tb_merged_meta *b,
                            struct tb_error *error)
{
    const struct {
        const char *what;
        struct tb_span a, b;
    } texts[] = {
        {"kind of trace", a->format, b->format},
        {"tokenizer", a->fingerprint, b->fingerprint},
        {"secret (--salt-file)", a->salt, b->salt},
        {"kind of rows", a->prompt, b->prompt},
        {"source of lengths", a->length_source, b->length_source},
        {"delay", a->delay, b->delay},
        {"set of options", a->options, b->options},
    };
    if (a->block_size != b->block_size) {
        tb_fail(error, TB_ERR_VALUE,
                "another block size than '%.60s': %llu there, %llu here",
                a->path, (unsigned long long)a->block_size,
                (unsigned long long)b->block_size);
        tb_error_set_path(error, b->path);
        return TB_ERR_VALUE;
    }
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        TB_TRY(check_text(a, b, texts[i].what, texts[i].a, texts[i].b, error));
    return a->has_first_ms == b->has_first_ms
               ? TB_OK
               : refuse(b, error, "only a part of the files has timestamps");
}

tb_status tb_meta_merge_add(struct tb_meta_merge *merge, const char *path,
                            struct tb_span content, struct tb_error *error)
{
    struct tb_merged_meta *items = tb_array_grow(
        merge->items, &merge->capacity, merge->count + 1, sizeof(*items));
    if (!items)
        return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    merge->items = items;
    struct tb_merged_meta *meta = &items[merge->count];
    *meta = (struct tb_merged_meta){.path = path};
    if (content.len == 0)
        return refuse(meta, error,
                      "no meta file beside it (ROWS.meta.json), which says "
                      "what its ids are");
    tb_status status = read_meta(merge, content, meta);
    if (status == TB_ERR_MEMORY)
        return tb_fail(error, status, "out of memory");
    if (status != TB_OK)
        return refuse(meta, error, "its meta file cannot be read");
    TB_TRY(check_alone(meta, error));
    if (merge->count > 0)
        TB_TRY(check_pair(&items[0], meta, error));
    merge->count++;
    merge->is_telemetry = tb_span_equal(meta->format, TB_SPAN("telemetry"));
    merge->has_timestamps = meta->has_first_ms;
    return TB_OK;
}

uint64_t tb_meta_merge_origin(const struct tb_meta_merge *merge,
                              const size_t *order)
{
    uint64_t origin = 0; // a file without calls says that too
    for (size_t i = 0; i < merge->count; i++) {
        uint64_t first = merge->items[order[i]].first_ms;
        bool is_earlier = merge->is_telemetry && first < origin;
        if (first > 0 && (origin == 0 || is_earlier))
            origin = first;
    }
    return origin;
}

/* ---- the result -------------------------------------------------------- */

struct writing {
    struct tb_meta_merge *merge;
    const struct tb_meta_merge_result *result;
    struct tb_json_form form;
};

static const struct tb_merged_meta *item(const struct writing *writing,
                                         size_t rank)
{
    return &writing->merge->items[writing->result->order[rank]];
}

static void put_raw(struct writing *writing, const char *key,
                    struct tb_span json)
{
    struct tb_json_reader reader;
    if (json.len == 0)
        return;
    tb_json_reader_init_span(&reader, json, 0, 1);
    tb_json_form_copy(&writing->form, key, &reader, &writing->merge->arena);
}

/* Where the texts of prompts come from: what all say, or that some say so. */
static struct tb_span prompt_text_of(const struct writing *writing)
{
    struct tb_span text = {0};
    for (size_t i = 0; i < writing->merge->count; i++) {
        const struct tb_merged_meta *meta = item(writing, i);
        if (meta->counts[ROWS] == 0)
            continue; // of no text at all
        if (text.len > 0 && !tb_span_equal(meta->prompt_text, text))
            return TB_SPAN("chat template where it applies");
        text = meta->prompt_text;
    }
    return text;
}

static bool is_template_used(const struct writing *writing)
{
    for (size_t i = 0; i < writing->merge->count; i++)
        if (tb_span_equal(item(writing, i)->has_template, TB_SPAN("true")))
            return true;
    return false;
}

static void put_what_rows_are(struct writing *writing)
{
    struct tb_json_form *form = &writing->form;
    const struct tb_merged_meta *first = item(writing, 0);
    tb_json_form_open(form, "rows", '{');
    tb_json_form_text(form, "prompt", first->prompt);
    tb_json_form_text(form, "explanation", first->explanation);
    tb_json_form_text(form, "prompt_text", prompt_text_of(writing));
    tb_json_form_text(form, "length_source", first->length_source);
    put_raw(writing, "compat", first->compat);
    put_raw(writing, "delay_ms", first->delay);
    tb_json_form_close(form, '}');
    tb_json_form_number(form, "block_size", first->block_size);
    tb_json_form_open(form, "tokenizer", '{');
    tb_json_form_text(form, "name", first->tokenizer);
    tb_json_form_text(form, "fingerprint", first->fingerprint);
    tb_json_form_bool(form, "chat_template", is_template_used(writing));
    tb_json_form_close(form, '}');
    tb_json_form_text(form, "format", first->format);
}

static tb_status put_inputs(struct writing *writing)
{
    struct tb_json_form *form = &writing->form;
    tb_json_form_open(form, "inputs", '[');
    for (size_t i = 0; i < writing->merge->count; i++) {
        struct tb_json_reader reader;
        bool found = tb_field_is_filled(item(writing, i)->inputs, '[');
        if (!found)
            continue;
        tb_json_reader_init_span(&reader, item(writing, i)->inputs, 0, 1);
        TB_TRY(tb_json_enter_array(&reader));
        TB_TRY(tb_json_next_item(&reader, &found));
        while (found) {
            tb_json_form_copy(form, NULL, &reader, &writing->merge->arena);
            TB_TRY(form->status);
            TB_TRY(tb_json_next_item(&reader, &found));
        }
    }
    tb_json_form_close(form, ']');
    return TB_OK;
}

static void put_counts(struct writing *writing)
{
    struct tb_json_form *form = &writing->form;
    tb_json_form_open(form, "counts", '{');
    for (size_t k = 0; k < COUNTS; k++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < writing->merge->count; i++)
            sum += item(writing, i)->counts[k];
        tb_json_form_number(form, count_names[k], sum);
    }
    tb_json_form_close(form, '}');
}

tb_status tb_meta_merge_json(struct tb_meta_merge *merge,
                             const struct tb_meta_merge_result *result,
                             struct tb_buffer *buffer)
{
    struct writing writing = {.merge = merge,
                              .result = result,
                              .form = tb_json_form_on(buffer, true)};
    struct tb_json_form *form = &writing.form;
    tb_json_form_open(form, NULL, '{');
    tb_json_form_number(form, "meta_format", TB_META_FORMAT);
    tb_json_form_text(form, "tracebake", tb_span_of(result->version));
    if (result->command)
        tb_json_form_text(form, "command", tb_span_of(result->command));
    put_what_rows_are(&writing);
    TB_TRY(put_inputs(&writing));
    put_counts(&writing);
    tb_json_form_close(form, '}');
    return form->status;
}

void tb_meta_merge_release(struct tb_meta_merge *merge)
{
    tb_memory_free(merge->items);
    tb_arena_release(&merge->arena);
    *merge = (struct tb_meta_merge){0};
}
