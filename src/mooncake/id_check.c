/* Rules that rows must keep together: how many ids a row has, how large each
 * id's block is, and what it stands behind. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "memory.h"
#include "row_check.h"

/* Rows of a session mostly repeat the one before, and a table of ids is slow
 * beside a comparison. A session that has none yet takes the oldest. */
static struct tb_recent_row *find_recent(struct tb_validator *validator,
                                         struct tb_mooncake_session *session)
{
    struct tb_recent_row *recent = &validator->recent[session->recent];
    if (recent->session == session->number)
        return recent;
    session->recent = validator->next_recent;
    validator->next_recent = (validator->next_recent + 1) % TB_RECENT_ROWS;
    recent = &validator->recent[session->recent];
    recent->session = session->number;
    recent->count = 0;
    return recent;
}

/* How many of the row's first ids were checked with the row before. */
static size_t checked_count(const struct tb_validator *validator,
                            const struct tb_recent_row *recent,
                            size_t full_count)
{
    const struct tb_mooncake_record *record = &validator->record;
    size_t most = full_count < recent->count ? full_count : recent->count;
    size_t count = 0;
    while (count < most && record->ids[count] == recent->ids[count])
        count++;
    return count;
}

// Only ids of full blocks: the last one may have another size next time.
static tb_status keep_recent(const struct tb_validator *validator,
                             struct tb_recent_row *recent, size_t from,
                             size_t count)
{
    uint64_t *ids =
        tb_array_grow(recent->ids, &recent->capacity, count + 1, sizeof(*ids));
    if (!ids)
        return TB_ERR_MEMORY;
    recent->ids = ids;
    memcpy(ids + from, validator->record.ids + from,
           (count - from) * sizeof(*ids));
    recent->count = count;
    return TB_OK;
}

static void report_size(struct tb_validator *validator, size_t item,
                        uint32_t size, uint32_t size_before)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "$.hash_ids[%zu]", item);
    tb_row_report(validator, TB_RULE_ID_SIZE, path,
                  "id %" PRIu64 " is a block of %" PRIu32
                  " tokens here and of %" PRIu32 " before",
                  validator->record.ids[item], size, size_before);
}

static void report_prefix(struct tb_validator *validator, size_t item)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "$.hash_ids[%zu]", item);
    tb_row_report(validator, TB_RULE_ID_PREFIX, path,
                  "id %" PRIu64 " stood behind another id before",
                  validator->record.ids[item]);
}

/* Ids from `first` on, the last of `last_size` tokens. At most one finding of
 * a kind for a row. */
static tb_status check_each(struct tb_validator *validator, size_t first,
                            uint32_t last_size)
{
    const struct tb_mooncake_record *record = &validator->record;
    uint32_t block_size = validator->options.block_size;
    bool has_size = false, has_prefix = false;
    for (size_t i = first; i < record->id_count; i++) {
        uint32_t size = i + 1 == record->id_count ? last_size : block_size;
        uint32_t before = i > 0 ? tb_id_before(record->ids[i - 1]) : 0;
        struct tb_id_size known;
        bool is_new;
        TB_TRY(tb_id_sizes_add(&validator->sizes, record->ids[i], size, before,
                               &known, &is_new));
        if (is_new)
            continue;
        if (known.size != size && !has_size) {
            report_size(validator, i, size, known.size);
            has_size = true;
        }
        if (known.before != before && i > 0 && !has_prefix) {
            report_prefix(validator, i);
            has_prefix = true;
        }
    }
    return TB_OK;
}

static void report_count(struct tb_validator *validator, uint64_t input_length,
                         uint64_t need)
{
    uint64_t count = validator->record.id_count;
    tb_row_report(validator,
                  count > need ? TB_RULE_IDS_MORE : TB_RULE_IDS_FEWER,
                  "$.hash_ids",
                  "%" PRIu64 " id%s for %" PRIu64
                  " tokens in blocks of %" PRIu32 ", which are %" PRIu64,
                  count, count == 1 ? "" : "s", input_length,
                  validator->options.block_size, need);
}

tb_status tb_row_check_ids(struct tb_validator *validator,
                           struct tb_mooncake_session *session,
                           uint64_t input_length)
{
    const struct tb_mooncake_record *record = &validator->record;
    uint32_t block_size = validator->options.block_size;
    uint64_t need =
        input_length / block_size + (input_length % block_size != 0);
    uint64_t count = record->id_count;
    tb_block_size_range_narrow(&validator->block_sizes, input_length, count);
    if (count != need)
        report_count(validator, input_length, need);
    // The run ends there, so that nothing is known of its ids.
    if (count > need)
        return TB_OK;
    uint32_t last_size = block_size;
    if (count == need && input_length % block_size)
        last_size = (uint32_t)(input_length % block_size);
    size_t full_count = record->id_count - (last_size != block_size);
    struct tb_recent_row *recent = find_recent(validator, session);
    size_t first = checked_count(validator, recent, full_count);
    TB_TRY(check_each(validator, first, last_size));
    return keep_recent(validator, recent, first, full_count);
}

void tb_row_check_meaning(struct tb_validator *validator,
                          const struct tb_mooncake_session *session,
                          uint64_t input_length)
{
    const struct tb_validator_options *options = &validator->options;
    bool is_for_aiperf = options->consumer == TB_MOONCAKE_FOR_AIPERF;
    if (session->row_count == 0)
        return;
    if (options->rows == TB_MEANING_DELTA && !is_for_aiperf)
        tb_row_report(validator, TB_RULE_DELTA_ROWS, NULL,
                      "the row is an increment, as the file beside it says");
    if (!is_for_aiperf || options->rows == TB_MEANING_DELTA)
        return;
    if (options->rows == TB_MEANING_WHOLE)
        tb_row_report(validator, TB_RULE_WHOLE_ROWS, NULL,
                      "the row is a whole prompt, as the file beside it says");
    else if (tb_mooncake_session_is_extended(session, &validator->record,
                                             input_length))
        tb_row_report(validator, TB_RULE_WHOLE_ROWS, "$.hash_ids",
                      "the row begins with the ids of an earlier row of its "
                      "session: a whole prompt, no increment");
}
