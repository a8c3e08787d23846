#include "token_curve.h"

#include <stdlib.h>

#include "memory.h"

enum {
    NEAR_MAX = 1 << 20,
    FIRST_FAR = 1 << 10,
    MARKED = 64 // each so many changes have a mark
};

void tb_token_curve_release(struct tb_token_curve *curve)
{
    tb_memory_free(curve->near);
    tb_memory_free(curve->far);
    tb_memory_free(curve->marks);
    *curve = (struct tb_token_curve){0};
}

static int compare(const void *a, const void *b)
{
    uint64_t first = ((const struct tb_token_change *)a)->distance;
    uint64_t second = ((const struct tb_token_change *)b)->distance;
    return (first > second) - (first < second);
}

/* Sorts the list and makes changes at one distance one. */
static void put_together(struct tb_token_curve *curve)
{
    size_t count = 0;
    if (curve->far_count > 0)
        qsort(curve->far, curve->far_count, sizeof(*curve->far), compare);
    for (size_t i = 0; i < curve->far_count; i++) {
        if (count > 0 &&
            curve->far[count - 1].distance == curve->far[i].distance)
            curve->far[count - 1].tokens += curve->far[i].tokens;
        else
            curve->far[count++] = curve->far[i];
    }
    curve->far_count = count;
}

static tb_status make_room(struct tb_token_curve *curve)
{
    if (curve->far_count < curve->far_capacity)
        return TB_OK;
    put_together(curve);
    if (curve->far_capacity > 0 && curve->far_count <= curve->far_capacity / 2)
        return TB_OK;
    size_t capacity = curve->far_capacity
                          ? curve->far_capacity + curve->far_capacity / 2
                          : FIRST_FAR;
    struct tb_token_change *far =
        tb_memory_resize(curve->far, capacity * sizeof(*far));
    if (!far)
        return TB_ERR_MEMORY;
    curve->far = far;
    curve->far_capacity = capacity;
    return TB_OK;
}

static tb_status change(struct tb_token_curve *curve, uint64_t distance,
                        uint64_t tokens)
{
    if (distance < NEAR_MAX) {
        curve->near[distance] += tokens;
        if (distance >= curve->near_count)
            curve->near_count = distance + 1;
        return TB_OK;
    }
    TB_TRY(make_room(curve));
    curve->far[curve->far_count++] = (struct tb_token_change){distance, tokens};
    return TB_OK;
}

tb_status tb_token_curve_add(struct tb_token_curve *curve, uint64_t distance,
                             uint64_t count, uint64_t tokens)
{
    if (count == 0 || tokens == 0)
        return TB_OK;
    if (!curve->near)
        curve->near = tb_memory_zeroed(NEAR_MAX, sizeof(*curve->near));
    if (!curve->near)
        return TB_ERR_MEMORY;
    TB_TRY(change(curve, distance, tokens));
    return change(curve, distance + count, 0 - tokens);
}

static tb_status move_near(struct tb_token_curve *curve)
{
    for (uint64_t i = 0; i < curve->near_count; i++) {
        if (curve->near[i] == 0)
            continue;
        TB_TRY(make_room(curve));
        curve->far[curve->far_count++] =
            (struct tb_token_change){i, curve->near[i]};
    }
    return TB_OK;
}

tb_status tb_token_curve_finish(struct tb_token_curve *curve)
{
    TB_TRY(move_near(curve));
    put_together(curve);
    curve->marks =
        tb_memory_zeroed(curve->far_count / MARKED + 1, sizeof(*curve->marks));
    if (!curve->marks)
        return TB_ERR_MEMORY;
    struct tb_token_mark here = {0};
    uint64_t at = 0;
    for (size_t i = 0; i < curve->far_count; i++) {
        // Distances up to the one before this change.
        here.sum += (curve->far[i].distance - 1 - at) * here.rate;
        at = curve->far[i].distance - 1;
        if (i % MARKED == 0)
            curve->marks[i / MARKED] = here;
        here.rate += curve->far[i].tokens;
    }
    return TB_OK;
}

uint64_t tb_token_curve_at(const struct tb_token_curve *curve,
                           uint64_t distance)
{
    size_t low = 0, high = curve->far_count; // changes up to `distance`
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (curve->far[middle].distance <= distance)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return 0;
    size_t first = (low - 1) / MARKED * MARKED;
    struct tb_token_mark here = curve->marks[first / MARKED];
    uint64_t at = curve->far[first].distance - 1;
    for (size_t i = first; i < low; i++) {
        here.sum += (curve->far[i].distance - 1 - at) * here.rate;
        at = curve->far[i].distance - 1;
        here.rate += curve->far[i].tokens;
    }
    return here.sum + (distance - at) * here.rate;
}
