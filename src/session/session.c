/* Pairs parts into calls.
 *
 * Two passes over the parts: the first notes the last start of every key (an
 * end may stand before its start), the second makes a plan entry for every end
 * and for every start that no end took. The small plan is sorted, not the
 * calls; the calls are then written once, in their order.
 */
#include "session.h"

#include <math.h>
#include <stdlib.h>

#include "buffer.h"
#include "memory.h"

/* A call to be: which parts it has, and where it sorts. */
struct plan {
    double time;
    uint32_t start; /* index of the part + 1; 0: none */
    uint32_t end;
    uint32_t file_index;
    tb_call_state state;
};

static tb_status copy_texts(struct tb_arena *arena, struct tb_call *call)
{
    TB_TRY(tb_arena_copy(arena, call->key, &call->key));
    TB_TRY(tb_arena_copy(arena, call->model, &call->model));
    TB_TRY(tb_arena_copy(arena, call->agent, &call->agent));
    TB_TRY(tb_arena_copy(arena, call->priority, &call->priority));
    // These may be long, and whoever needed them has had them.
    call->messages = NULL;
    call->message_count = 0;
    call->tools = (struct tb_span){0};
    call->answer = (struct tb_span){0};
    return TB_OK;
}

static tb_status add_token(struct tb_session *session,
                           const struct tb_call *call)
{
    uint32_t known = session->token_keys.count, number;
    TB_TRY(tb_name_table_add(&session->token_keys, call->key, &number));
    double *times =
        tb_array_grow(session->first_tokens, &session->first_tokens_capacity,
                      session->token_keys.count, sizeof(*times));
    if (!times)
        return TB_ERR_MEMORY;
    session->first_tokens = times;
    if (number == known || call->start_s < times[number])
        times[number] = call->start_s;
    return TB_OK;
}

tb_status tb_session_add(struct tb_session *session, const struct tb_part *part)
{
    if (part->kind == TB_PART_NONE)
        return TB_OK;
    if (part->kind == TB_PART_TOKEN)
        return part->call.key.len ? add_token(session, &part->call) : TB_OK;
    if (session->part_count >= UINT32_MAX - 1)
        return TB_ERR_LIMIT;
    struct tb_part *parts =
        tb_array_grow(session->parts, &session->parts_capacity,
                      session->part_count + 1, sizeof(*parts));
    if (!parts)
        return TB_ERR_MEMORY;
    session->parts = parts;
    struct tb_part *added = &parts[session->part_count];
    *added = *part;
    TB_TRY(copy_texts(&session->arena, &added->call));
    session->part_count++;
    return TB_OK;
}

// The slot of `key` in session->starts, made when it is new.
static tb_status start_slot(struct tb_session *session, struct tb_span key,
                            uint32_t **slot)
{
    uint32_t count = session->keys.count;
    uint32_t number;
    TB_TRY(tb_name_table_add(&session->keys, key, &number));
    uint32_t *starts = tb_array_grow(session->starts, &session->starts_capacity,
                                     session->keys.count, sizeof(*starts));
    if (!starts)
        return TB_ERR_MEMORY;
    session->starts = starts;
    if (number == count)
        starts[number] = 0;
    *slot = &starts[number];
    return TB_OK;
}

static tb_status note_starts(struct tb_session *session)
{
    tb_name_table_reset(&session->keys);
    for (size_t i = 0; i < session->part_count; i++) {
        const struct tb_part *part = &session->parts[i];
        if (part->kind != TB_PART_START || part->call.key.len == 0)
            continue;
        uint32_t *slot;
        TB_TRY(start_slot(session, part->call.key, &slot));
        *slot = (uint32_t)i + 1;
    }
    return TB_OK;
}

// Index + 1 of the start that the end `part` belongs to; 0: none.
static uint32_t start_of(const struct tb_session *session,
                         const struct tb_part *part)
{
    if (part->call.key.len == 0)
        return 0;
    uint32_t number = tb_name_table_find(&session->keys, part->call.key);
    return number == TB_NAME_NONE ? 0 : session->starts[number];
}

/* Fills `plans` (as many as there are parts) and returns how many there are.
 * `taken` says of each part, zeroed before, whether a call has it. */
static size_t make_plans(const struct tb_session *session,
                         bool keep_duplicate_ends, bool *taken,
                         struct plan *plans)
{
    size_t count = 0;
    for (size_t i = 0; i < session->part_count; i++) {
        const struct tb_part *part = &session->parts[i];
        if (part->kind != TB_PART_END)
            continue;
        struct plan *plan = &plans[count++];
        *plan = (struct plan){.end = (uint32_t)i + 1};
        uint32_t start = start_of(session, part);
        if (start == 0) {
            plan->state = TB_CALL_NO_START;
        } else if (taken[start - 1] && !keep_duplicate_ends) {
            plan->state = TB_CALL_DUPLICATE_END;
        } else {
            plan->start = start;
            taken[start - 1] = true;
        }
    }
    for (size_t i = 0; i < session->part_count; i++) {
        tb_part_kind kind = session->parts[i].kind;
        if (kind == TB_PART_WHOLE)
            plans[count++] = (struct plan){.start = (uint32_t)i + 1};
        else if (kind == TB_PART_START && !taken[i])
            plans[count++] = (struct plan){.start = (uint32_t)i + 1,
                                           .state = TB_CALL_NO_END};
    }
    return count;
}

static double start_time(const struct tb_session *session,
                         const struct plan *plan)
{
    return plan->start ? session->parts[plan->start - 1].call.start_s : NAN;
}

static double end_time(const struct tb_session *session,
                       const struct plan *plan)
{
    uint32_t part = plan->end ? plan->end : plan->start;
    return session->parts[part - 1].call.end_s;
}

static int compare_file(const void *a, const void *b)
{
    const struct plan *x = a, *y = b;
    return (x->file_index > y->file_index) - (x->file_index < y->file_index);
}

static int compare_time(const void *a, const void *b)
{
    const struct plan *x = a, *y = b;
    int order = (x->time > y->time) - (x->time < y->time);
    // With the index the order is total, so any sort is a stable one.
    return order ? order : compare_file(a, b);
}

static void sort_plans(struct plan *plans, size_t count,
                       int (*compare)(const void *, const void *))
{
    for (size_t i = 1; i < count; i++) {
        if (compare(&plans[i - 1], &plans[i]) > 0) {
            qsort(plans, count, sizeof(*plans), compare);
            return;
        }
    }
}

static void order_by_end(const struct tb_session *session, struct plan *plans,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        plans[i].file_index =
            (plans[i].end ? plans[i].end : plans[i].start) - 1;
        double time = end_time(session, &plans[i]);
        plans[i].time = isfinite(time) ? time : 0;
    }
    sort_plans(plans, count, compare_time);
}

static void order_by_start(const struct tb_session *session, struct plan *plans,
                           size_t count, tb_call_order order)
{
    for (size_t i = 0; i < count; i++)
        plans[i].file_index =
            (plans[i].start ? plans[i].start : plans[i].end) - 1;
    sort_plans(plans, count, compare_file);
    if (order == TB_ORDER_FILE)
        return;
    // An unknown start is taken to be that of the call before it in the file.
    double latest = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        double time = start_time(session, &plans[i]);
        if (isfinite(time))
            latest = time;
        plans[i].time = latest;
    }
    sort_plans(plans, count, compare_time);
}

// What only the end of a call knows goes into `call`, which began as its start.
static void take_end(struct tb_call *call, const struct tb_call *end)
{
    call->end_s = end->end_s;
    call->usage = end->usage;
    call->answer_number = end->answer_number;
    if (call->model.len == 0)
        call->model = end->model;
    if (call->agent.len == 0)
        call->agent = end->agent;
    if (!call->has_priority) {
        call->priority = end->priority;
        call->has_priority = end->has_priority;
        call->is_priority_null = end->is_priority_null;
    }
    call->lone_surrogate_count += end->lone_surrogate_count;
    call->bad_utf8_count += end->bad_utf8_count;
    call->image_count += end->image_count;
}

static struct tb_session_call make_call(const struct tb_session *session,
                                        const struct plan *plan)
{
    struct tb_session_call made = {.state = plan->state,
                                   .file_index = plan->file_index};
    uint32_t first = plan->start ? plan->start : plan->end;
    made.call = session->parts[first - 1].call;
    if (plan->start && plan->end)
        take_end(&made.call, &session->parts[plan->end - 1].call);
    uint32_t token = tb_name_table_find(&session->token_keys, made.call.key);
    if (token != TB_NAME_NONE)
        made.call.first_token_s = session->first_tokens[token];
    return made;
}

tb_status tb_session_finish(struct tb_session *session, tb_call_order order,
                            bool keep_duplicate_ends)
{
    session->call_count = 0;
    if (session->part_count == 0)
        return TB_OK;
    TB_TRY(note_starts(session));
    bool *taken = TB_ARENA_NEW(&session->arena, bool, session->part_count);
    struct plan *plans =
        TB_ARENA_NEW(&session->arena, struct plan, session->part_count);
    if (!taken || !plans)
        return TB_ERR_MEMORY;
    size_t count = make_plans(session, keep_duplicate_ends, taken, plans);
    if (order == TB_ORDER_END)
        order_by_end(session, plans, count);
    else
        order_by_start(session, plans, count, order);
    struct tb_session_call *calls = tb_array_grow(
        session->calls, &session->calls_capacity, count, sizeof(*calls));
    if (!calls)
        return TB_ERR_MEMORY;
    session->calls = calls;
    for (size_t i = 0; i < count; i++)
        calls[i] = make_call(session, &plans[i]);
    session->call_count = count;
    return TB_OK;
}

void tb_session_reset(struct tb_session *session)
{
    tb_arena_reset(&session->arena);
    tb_name_table_reset(&session->keys);
    tb_name_table_reset(&session->token_keys);
    session->part_count = 0;
    session->call_count = 0;
}

void tb_session_release(struct tb_session *session)
{
    tb_arena_release(&session->arena);
    tb_name_table_release(&session->keys);
    tb_name_table_release(&session->token_keys);
    tb_memory_free(session->parts);
    tb_memory_free(session->starts);
    tb_memory_free(session->first_tokens);
    tb_memory_free(session->calls);
    *session = (struct tb_session){0};
}
