#include "row_rewrite.h"

#include <math.h>
#include <string.h>

#include "block_table.h"
#include "memory.h"
#include "meta_rows.h"
#include "mooncake_row.h"
#include "name_table.h"
#include "row_time.h"

/* A conversation of the current session, after its last turn. */
struct conversation {
    uint64_t row;           // of its last turn
    uint64_t total;         // tokens of that one's prompt
    uint64_t output_length; // ... and answer
    uint64_t last_id;       // ... and its last block, as written
    double end_s;
};

/* A turn that went on, kept for others that go on alike. */
struct going_on {
    size_t next;     // further one from the same turns; SIZE_MAX: none
    uint64_t row;    // its line, for a message
    uint64_t length; // tokens that it adds
    size_t whole, whole_count; // of `kept`: ids of its whole prompt from the
                               // block on that the increment begins in
    size_t made;               // ... and the increment's own
};

struct tb_row_rewrite {
    struct tb_rewrite_options options;
    struct tb_stats stats; // of times; nobody reads them
    struct tb_row_time time;
    bool has_origin;
    struct tb_buffer first_trace, session, name;
    /* conversations of the current session, with the names they have in rows
       that are increments */
    struct tb_name_table names;
    struct conversation *conversations;
    size_t count, capacity;
    /* blocks of increments */
    struct tb_block_table roots; // of first turns, by their id in the rows
    uint64_t *root_ids;          // what they became
    size_t root_capacity;
    uint64_t next_id;
    struct tb_block_table forks; // what turns were gone on from
    size_t *fork_heads;          // by number: the first of `going`
    size_t fork_capacity;
    struct going_on *going;
    size_t going_count, going_capacity;
    uint64_t *kept;
    size_t kept_count, kept_capacity;
    uint64_t *ids; // of the current row
    size_t id_capacity;
    struct tb_meta_counts counts;
};

/* ---- what can be made ------------------------------------------------- */

static const char *problem_of(const struct tb_meta_reading *meta,
                              const struct tb_row_form *form)
{
    if (meta->is_messages)
        return "rows of messages have no lengths and ids";
    if (!meta->has_prompt || meta->block_size == 0 || !meta->has_format)
        return "no meta file of a conversion is beside them";
    if (meta->is_compat)
        return "--compat knows no other form";
    if (meta->has_content_ids)
        return "--ids content makes ids of tokens, which rows do not have";
    if (form->rows == TB_ROWS_MESSAGES)
        return "they do not have the messages";
    if (meta->is_delta && form->rows != TB_ROWS_DELTA)
        return "increments have no whole prompts: the tokens of answers are "
               "not in them";
    if (form->endpoint == TB_ENDPOINT_CHAT &&
        strcmp(meta->tokenizer, "builtin") != 0)
        return "what a chat endpoint adds is in the tokenizer's chat "
               "template, which rows do not have (--endpoint completions "
               "needs none)";
    return NULL;
}

tb_status tb_rewrite_options_choose(const struct tb_meta_reading *meta,
                                    const struct tb_row_form *form,
                                    struct tb_rewrite_options *options,
                                    struct tb_error *error)
{
    const char *problem = problem_of(meta, form);
    if (problem)
        return tb_fail(error, TB_ERR_USAGE,
                       "these rows cannot be rewritten: %s", problem);
    *options = (struct tb_rewrite_options){.form = *form,
                                           .is_delta = meta->is_delta,
                                           .is_telemetry = meta->is_telemetry,
                                           .block_size = meta->block_size};
    return TB_OK;
}

/* ---- making one, and its end ------------------------------------------ */

tb_status tb_row_rewrite_new(const struct tb_rewrite_options *options,
                             struct tb_row_rewrite **rewrite)
{
    struct tb_row_rewrite *made = tb_memory_zeroed(1, sizeof(*made));
    if (!made)
        return TB_ERR_MEMORY;
    made->options = *options;
    made->time = (struct tb_row_time){
        .form = options->form, .stats = &made->stats, .origin_s = NAN};
    made->first_trace = made->session = made->name = TB_BUFFER(SIZE_MAX / 2);
    *rewrite = made;
    return TB_OK;
}

struct tb_meta_counts
tb_row_rewrite_counts(const struct tb_row_rewrite *rewrite)
{
    return rewrite->counts;
}

void tb_row_rewrite_free(struct tb_row_rewrite *rewrite)
{
    if (!rewrite)
        return;
    tb_buffer_release(&rewrite->first_trace);
    tb_buffer_release(&rewrite->session);
    tb_buffer_release(&rewrite->name);
    tb_name_table_release(&rewrite->names);
    tb_block_table_release(&rewrite->roots);
    tb_block_table_release(&rewrite->forks);
    tb_memory_free(rewrite->conversations);
    tb_memory_free(rewrite->root_ids);
    tb_memory_free(rewrite->fork_heads);
    tb_memory_free(rewrite->going);
    tb_memory_free(rewrite->kept);
    tb_memory_free(rewrite->ids);
    tb_memory_free(rewrite);
}

static tb_status set_text(struct tb_buffer *text, struct tb_span value)
{
    tb_buffer_clear(text);
    return tb_buffer_append(text, value);
}

/* Timestamps count from the earliest call of the first trace for telemetry,
 * which knows all of them beforehand; else from the first row's. */
tb_status tb_row_rewrite_look(struct tb_row_rewrite *rewrite,
                              const struct tb_call_line *call)
{
    double *origin = &rewrite->time.origin_s;
    if (!rewrite->options.is_telemetry)
        return TB_OK;
    if (!rewrite->has_origin)
        TB_TRY(set_text(&rewrite->first_trace, call->trace));
    rewrite->has_origin = true;
    if (!tb_span_equal(call->trace, tb_buffer_span(&rewrite->first_trace)))
        return TB_OK;
    if (isnan(*origin) || call->start_s < *origin)
        *origin = call->start_s;
    return TB_OK;
}

/* ---- blocks of increments --------------------------------------------- */

static tb_status reserve_ids(struct tb_row_rewrite *rewrite, size_t count)
{
    uint64_t *ids = tb_array_grow(rewrite->ids, &rewrite->id_capacity,
                                  count + 1, sizeof(*ids));
    if (!ids)
        return TB_ERR_MEMORY;
    rewrite->ids = ids;
    return TB_OK;
}

// The ids of a first turn are those of its whole prompt, numbered anew.
static tb_status number_first(struct tb_row_rewrite *rewrite,
                              const struct tb_mooncake_record *record)
{
    TB_TRY(reserve_ids(rewrite, record->id_count));
    for (size_t i = 0; i < record->id_count; i++) {
        uint64_t number;
        bool is_new;
        struct tb_span id = {(const uint8_t *)&record->ids[i],
                             sizeof(record->ids[i])};
        TB_TRY(tb_block_table_add(&rewrite->roots, tb_hash128(id, 0), &number,
                                  &is_new));
        if (is_new) {
            uint64_t *made =
                tb_array_grow(rewrite->root_ids, &rewrite->root_capacity,
                              (size_t)number + 1, sizeof(*made));
            if (!made)
                return TB_ERR_MEMORY;
            rewrite->root_ids = made;
            made[number] = rewrite->next_id++;
        }
        rewrite->ids[i] = rewrite->root_ids[number];
    }
    return TB_OK;
}

/* The end of block `i` of an increment of `length` tokens that begins at
 * `from`, in tokens of the whole prompt. */
static uint64_t end_of(const struct tb_row_rewrite *rewrite, uint64_t from,
                       uint64_t length, size_t i)
{
    uint64_t end = (i + 1) * (uint64_t)rewrite->options.block_size;
    return from + (end < length ? end : length);
}

enum alike { SAME, OTHER, NOT_KNOWN };

/* Are the tokens up to the end of block `i` the same in two increments that
 * begin after the same turns? */
static enum alike compare(const struct tb_row_rewrite *rewrite,
                          const struct going_on *a, const struct going_on *b,
                          uint64_t from, size_t i)
{
    uint64_t size = rewrite->options.block_size;
    uint64_t end = end_of(rewrite, from, a->length, i);
    if (end != end_of(rewrite, from, b->length, i))
        return OTHER;
    const uint64_t *first = rewrite->kept + a->whole;
    const uint64_t *second = rewrite->kept + b->whole;
    uint64_t begin = from / size;
    size_t last = (size_t)((end - 1) / size - begin); // block of the last token
    if (first[last] == second[last])
        return SAME;
    // The answers were the same when a block that reaches beyond them is.
    bool is_same_before = first[0] == second[0] && last > 0;
    size_t full = (size_t)(end / size - begin); // blocks that end by then
    bool is_other =
        is_same_before && full > 0 && first[full - 1] != second[full - 1];
    return is_other ? OTHER : NOT_KNOWN;
}

/* Gives the increment the ids of an earlier one as far as both are the same.
 * `*count` ids are known before and after; false when nobody can tell. */
static bool take_over(struct tb_row_rewrite *rewrite,
                      const struct going_on *turn, const struct going_on *other,
                      uint64_t from, size_t block_count, size_t *count)
{
    for (size_t i = 0; i < block_count; i++) {
        enum alike alike = compare(rewrite, turn, other, from, i);
        if (alike == NOT_KNOWN)
            return i < *count;
        if (alike == OTHER)
            return true;
        rewrite->ids[i] = rewrite->kept[other->made + i];
        if (*count < i + 1)
            *count = i + 1;
    }
    return true;
}

static tb_status keep(struct tb_row_rewrite *rewrite, const uint64_t *ids,
                      size_t count, size_t *at)
{
    uint64_t *kept =
        tb_array_grow(rewrite->kept, &rewrite->kept_capacity,
                      rewrite->kept_count + count + 1, sizeof(*kept));
    if (!kept)
        return TB_ERR_MEMORY;
    rewrite->kept = kept;
    *at = rewrite->kept_count;
    if (count > 0)
        memcpy(kept + *at, ids, count * sizeof(*ids));
    rewrite->kept_count += count;
    return TB_OK;
}

// The turns that this one goes on from, and the length of the last answer.
static tb_status find_fork(struct tb_row_rewrite *rewrite,
                           const struct conversation *before, size_t **head)
{
    // The length is that of the blocks, unless rows are nobody's.
    const uint64_t words[] = {before->last_id, before->total,
                              before->output_length};
    struct tb_span bytes = {(const uint8_t *)words, sizeof(words)};
    uint64_t number;
    bool is_new;
    TB_TRY(tb_block_table_add(&rewrite->forks, tb_hash128(bytes, 0), &number,
                              &is_new));
    if (is_new) {
        size_t *heads =
            tb_array_grow(rewrite->fork_heads, &rewrite->fork_capacity,
                          (size_t)number + 1, sizeof(*heads));
        if (!heads)
            return TB_ERR_MEMORY;
        rewrite->fork_heads = heads;
        heads[number] = SIZE_MAX;
    }
    *head = &rewrite->fork_heads[number];
    return TB_OK;
}

static tb_status number_next(struct tb_row_rewrite *rewrite,
                             const struct tb_row_input *input,
                             const struct conversation *before, uint64_t from,
                             uint64_t length, size_t block_count,
                             struct tb_error *error)
{
    const struct tb_mooncake_record *record = &input->record;
    size_t *head, known = 0;
    size_t begin = (size_t)(from / rewrite->options.block_size);
    struct going_on turn = {.row = input->row_count, .length = length};
    TB_TRY(reserve_ids(rewrite, block_count));
    TB_TRY(find_fork(rewrite, before, &head));
    turn.whole_count = record->id_count - begin;
    TB_TRY(keep(rewrite, record->ids + begin, turn.whole_count, &turn.whole));
    for (size_t i = *head; i != SIZE_MAX; i = rewrite->going[i].next)
        if (!take_over(rewrite, &turn, &rewrite->going[i], from, block_count,
                       &known))
            return tb_row_input_fail(
                input, TB_ERR_VALUE, error,
                "whether this row adds the same as row %llu, which goes on "
                "from the same turns, is not in the rows: convert the trace",
                (unsigned long long)rewrite->going[i].row);
    for (; known < block_count; known++)
        rewrite->ids[known] = rewrite->next_id++;
    TB_TRY(keep(rewrite, rewrite->ids, block_count, &turn.made));
    struct going_on *going =
        tb_array_grow(rewrite->going, &rewrite->going_capacity,
                      rewrite->going_count + 1, sizeof(*going));
    if (!going)
        return TB_ERR_MEMORY;
    rewrite->going = going;
    turn.next = *head;
    *head = rewrite->going_count;
    going[rewrite->going_count++] = turn;
    return TB_OK;
}

/* ---- conversations ---------------------------------------------------- */

static struct conversation *find_conversation(struct tb_row_rewrite *rewrite,
                                              uint64_t row)
{
    for (size_t i = rewrite->count; i-- > 0;)
        if (rewrite->conversations[i].row == row)
            return &rewrite->conversations[i];
    return NULL;
}

static tb_status begin_conversation(struct tb_row_rewrite *rewrite,
                                    struct conversation **begun)
{
    struct conversation *items =
        tb_array_grow(rewrite->conversations, &rewrite->capacity,
                      rewrite->count + 1, sizeof(*items));
    if (!items)
        return TB_ERR_MEMORY;
    rewrite->conversations = items;
    *begun = &items[rewrite->count++];
    **begun = (struct conversation){.end_s = NAN};
    return TB_OK;
}

static tb_status set_name(struct tb_row_rewrite *rewrite,
                          const struct conversation *conversation,
                          struct tb_mooncake_row *row)
{
    struct tb_span session = tb_buffer_span(&rewrite->session);
    size_t number = (size_t)(conversation - rewrite->conversations);
    TB_TRY(set_text(&rewrite->name, session));
    if (number > 0) {
        TB_TRY(tb_buffer_printf(&rewrite->name, ".%zu", number + 1));
        row->parent_session_id = session;
    }
    row->session_id = tb_buffer_span(&rewrite->name);
    return TB_OK;
}

/* A whole prompt as the turn of a conversation. */
static tb_status make_increment(struct tb_row_rewrite *rewrite,
                                const struct tb_row_input *input,
                                const struct tb_call_line *call,
                                struct tb_mooncake_row *row, bool *is_first,
                                double *end_before_s, struct tb_error *error)
{
    struct conversation *conversation = NULL;
    uint32_t size = rewrite->options.block_size;
    if (!call->has_continued)
        return tb_row_input_fail(input, TB_ERR_VALUE, error,
                                 "the calls do not say which one goes on which "
                                 "('continues'): convert the trace");
    *is_first = call->continued_row == 0;
    if (*is_first)
        TB_TRY(begin_conversation(rewrite, &conversation));
    else
        conversation = find_conversation(rewrite, call->continued_row);
    if (!conversation)
        return tb_row_input_fail(input, TB_ERR_VALUE, error,
                                 "the calls say that it goes on row %llu, "
                                 "which ends no conversation of its session",
                                 (unsigned long long)call->continued_row);
    uint64_t from =
        *is_first ? 0 : conversation->total + conversation->output_length;
    if (row->input_length <= from)
        return tb_row_input_fail(input, TB_ERR_VALUE, error,
                                 "it is no longer than what it goes on");
    uint64_t length = row->input_length - from;
    size_t block_count = (size_t)((length - 1) / size + 1);
    TB_TRY(*is_first ? number_first(rewrite, &input->record)
                     : number_next(rewrite, input, conversation, from, length,
                                   block_count, error));
    *end_before_s = conversation->end_s;
    *conversation = (struct conversation){
        .row = input->row_count,
        .total = row->input_length,
        .output_length = row->output_length,
        .last_id = rewrite->ids[block_count - 1],
        .end_s = call->end_s,
    };
    row->input_length = length;
    row->hash_ids = rewrite->ids;
    row->hash_id_count = block_count;
    rewrite->counts.sessions += *is_first;
    return set_name(rewrite, conversation, row);
}

/* A turn of a conversation as it is: when did the one before end? */
static tb_status follow(struct tb_row_rewrite *rewrite,
                        const struct tb_call_line *call,
                        const struct tb_mooncake_row *row, double *end_before_s)
{
    uint32_t known = rewrite->names.count, number;
    struct conversation *conversation;
    TB_TRY(tb_name_table_add(&rewrite->names, row->session_id, &number));
    if (number == known)
        TB_TRY(begin_conversation(rewrite, &conversation));
    conversation = &rewrite->conversations[number];
    rewrite->counts.sessions += number == known;
    *end_before_s = conversation->end_s;
    conversation->end_s = call->end_s;
    return TB_OK;
}

/* ---- rows ------------------------------------------------------------- */

static tb_status read_row(const struct tb_row_rewrite *rewrite,
                          const struct tb_row_input *input,
                          const struct tb_call_line *call,
                          struct tb_mooncake_row *row, struct tb_error *error)
{
    const struct tb_mooncake_record *record = &input->record;
    uint32_t size = rewrite->options.block_size;
    bool has_lengths =
        tb_mooncake_record_length(record, TB_MOONCAKE_INPUT_LENGTH,
                                  TB_MOONCAKE_INPUT_LENGTH,
                                  &row->input_length) &&
        tb_mooncake_record_length(record, TB_MOONCAKE_OUTPUT_LENGTH,
                                  TB_MOONCAKE_OUTPUT_LENGTH,
                                  &row->output_length);
    row->session_id = tb_mooncake_record_name(record, TB_MOONCAKE_SESSION_ID);
    row->parent_session_id =
        tb_mooncake_record_name(record, TB_MOONCAKE_PARENT_SESSION_ID);
    row->hash_ids = record->ids;
    row->hash_id_count = record->id_count;
    if (!has_lengths || row->input_length == 0 ||
        row->output_length > UINT64_MAX - row->input_length ||
        record->fields[TB_MOONCAKE_HASH_IDS].kind != TB_MOONCAKE_LIST ||
        record->bad_item != TB_MOONCAKE_NO_ITEM ||
        (row->input_length - 1) / size + 1 != record->id_count)
        return tb_row_input_fail(input, TB_ERR_VALUE, error,
                                 "no row of a conversion: lengths and ids do "
                                 "not fit each other");
    if (call->row != input->row_count ||
        !tb_span_equal(call->session_id, row->session_id) ||
        call->input_length != row->input_length ||
        call->output_length != row->output_length)
        return tb_row_input_fail(input, TB_ERR_VALUE, error,
                                 "the calls are those of other rows: session "
                                 "or lengths differ");
    bool is_first = !rewrite->options.is_delta || call->turn == 0;
    if (is_first && call->prompt_tokens != row->input_length)
        return tb_row_input_fail(input, TB_ERR_VALUE, error,
                                 "the row is shorter than its prompt by what a "
                                 "chat endpoint adds, which is not in it: "
                                 "convert the trace");
    return TB_OK;
}

static void set_labels(const struct tb_row_rewrite *rewrite,
                       const struct tb_mooncake_record *record,
                       const struct tb_call_line *call,
                       struct tb_mooncake_row *row)
{
    row->has_exact_output = rewrite->options.form.has_exact_output;
    if (!rewrite->options.is_telemetry)
        return;
    row->has_agent_type = row->has_priority = true;
    row->agent_type = tb_mooncake_record_name(record, TB_MOONCAKE_AGENT_TYPE);
    row->priority = call->priority.len > 0 ? call->priority : TB_SPAN("MEDIUM");
    row->is_priority_number = rewrite->options.form.has_priority_number;
    row->has_labels = rewrite->options.form.has_labels;
}

static tb_status begin_session(struct tb_row_rewrite *rewrite,
                               struct tb_span name)
{
    if (rewrite->counts.rows > 0 &&
        tb_span_equal(name, tb_buffer_span(&rewrite->session)))
        return TB_OK;
    rewrite->count = 0;
    tb_name_table_reset(&rewrite->names);
    return set_text(&rewrite->session, name);
}

static tb_status make_row(struct tb_row_rewrite *rewrite,
                          const struct tb_row_input *input,
                          const struct tb_call_line *call,
                          struct tb_mooncake_row *row, struct tb_error *error)
{
    bool is_delta_wanted = rewrite->options.form.rows == TB_ROWS_DELTA;
    bool is_first = call->turn == 0;
    double end_before_s = NAN;
    TB_TRY(begin_session(rewrite, call->recorded_session));
    TB_TRY(read_row(rewrite, input, call, row, error));
    set_labels(rewrite, &input->record, call, row);
    if (is_delta_wanted && !rewrite->options.is_delta)
        TB_TRY(make_increment(rewrite, input, call, row, &is_first,
                              &end_before_s, error));
    else if (rewrite->options.is_delta)
        TB_TRY(follow(rewrite, call, row, &end_before_s));
    else
        rewrite->counts.sessions += is_first;
    const struct tb_call times = {.start_s = call->start_s,
                                  .end_s = call->end_s};
    tb_row_time_set_delay(&rewrite->time, &times, is_first, end_before_s, row);
    tb_row_time_set_timestamp(&rewrite->time, &times, is_first, row);
    return TB_OK;
}

tb_status tb_row_rewrite_add(struct tb_row_rewrite *rewrite,
                             const struct tb_row_input *input,
                             const struct tb_call_line *call,
                             struct tb_buffer *text, struct tb_error *error)
{
    struct tb_mooncake_row row = {0};
    struct tb_error why = {0};
    tb_status status = make_row(rewrite, input, call, &row, &why);
    if (status == TB_OK)
        status = tb_mooncake_row_write(&row, text);
    rewrite->counts.rows++;
    rewrite->counts.input_tokens += row.input_length;
    rewrite->counts.output_tokens += row.output_length;
    if (status == TB_OK)
        return TB_OK;
    if (why.status != status)
        return tb_row_input_fail(input, status, error, "%s",
                                 tb_status_name(status));
    if (error)
        *error = why;
    return status;
}
