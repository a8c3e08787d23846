#include "validator.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "json_strict.h"
#include "memory.h"
#include "row_check.h"

tb_status tb_validator_new(const struct tb_validator_options *options,
                           struct tb_validator **validator)
{
    struct tb_validator *made = tb_memory_zeroed(1, sizeof(*made));
    if (!made)
        return TB_ERR_MEMORY;
    made->options = *options;
    made->sizes.full_size = options->block_size;
    made->block_sizes = tb_block_size_range_all();
    *validator = made;
    return TB_OK;
}

void tb_validator_free(struct tb_validator *validator)
{
    if (!validator)
        return;
    tb_mooncake_record_release(&validator->record);
    tb_arena_release(&validator->arena);
    tb_mooncake_sessions_release(&validator->sessions);
    tb_id_sizes_release(&validator->sizes);
    for (size_t i = 0; i < TB_RECENT_ROWS; i++)
        tb_memory_free(validator->recent[i].ids);
    tb_memory_free(validator);
}

const struct tb_validation_counts *
tb_validator_counts(const struct tb_validator *validator)
{
    return &validator->counts;
}

static void report(struct tb_validator *validator, tb_mooncake_rule rule,
                   const struct tb_error *place)
{
    const struct tb_validator_options *options = &validator->options;
    struct tb_validation_counts *counts = &validator->counts;
    struct tb_finding finding = {
        .rule = rule,
        .is_fatal = tb_mooncake_rule_is_fatal(rule, options->consumer),
        .number = ++counts->broken[rule],
        .place = *place};
    if (finding.is_fatal)
        counts->fatal_count++;
    else
        counts->warning_count++;
    tb_error_set_path(&finding.place, options->path);
    if (finding.number <= options->shown_max && options->on_finding)
        options->on_finding(options->context, &finding);
}

const struct tb_mooncake_value *
tb_row_field(const struct tb_validator *validator, tb_mooncake_field field)
{
    return &validator->record.fields[field];
}

bool tb_row_has(const struct tb_validator *validator, tb_mooncake_field field)
{
    return tb_mooncake_value_is_set(tb_row_field(validator, field));
}

void tb_row_report(struct tb_validator *validator, tb_mooncake_rule rule,
                   const char *path, const char *format, ...)
{
    struct tb_error place = {.status = TB_ERR_VALUE,
                             .line = validator->line,
                             .offset = validator->offset};
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(place.message, sizeof(place.message), format, arguments);
    va_end(arguments);
    (void)snprintf(place.json_path, sizeof(place.json_path), "%s",
                   path ? path : "");
    report(validator, rule, &place);
}

void tb_row_report_type(struct tb_validator *validator, tb_mooncake_field field,
                        const char *expected)
{
    const struct tb_mooncake_value *value = &validator->record.fields[field];
    struct tb_span text = value->text;
    char path[64], found[48] = "";
    bool is_short =
        text.len > 0 && text.len < sizeof(found) - 4 &&
        (value->kind == TB_MOONCAKE_NUMBER || value->kind == TB_MOONCAKE_TEXT);
    (void)snprintf(path, sizeof(path), "$.%s", tb_mooncake_field_key(field));
    if (is_short)
        (void)snprintf(found, sizeof(found), " (%.*s)", (int)text.len,
                       (const char *)text.ptr);
    tb_row_report(validator, TB_RULE_FIELD_TYPE, path,
                  "expected %s, found %s%s", expected,
                  tb_mooncake_kind_text(value->kind), found);
}

void tb_validator_add_unreadable(struct tb_validator *validator,
                                 const struct tb_error *error)
{
    report(validator, TB_RULE_FILE, error);
}

/* The row's line, and at an offset what is wrong with it as JSON. */
static bool check_json(struct tb_validator *validator, struct tb_span line)
{
    struct tb_json_fault fault;
    uint64_t offset = validator->offset;
    if (tb_json_check(line, &fault) == TB_OK)
        return true;
    validator->offset = offset + fault.at;
    tb_row_report(validator, fault.is_value ? TB_RULE_JSON_VALUE : TB_RULE_JSON,
                  NULL, "%s", fault.text);
    validator->offset = offset;
    return fault.is_value &&
           !tb_mooncake_rule_is_fatal(TB_RULE_JSON_VALUE,
                                      validator->options.consumer);
}

static tb_status check_row(struct tb_validator *validator)
{
    return validator->options.consumer == TB_MOONCAKE_FOR_AIPERF
               ? tb_aiperf_check(validator)
               : tb_plain_check(validator);
}

tb_status tb_validator_add(struct tb_validator *validator, struct tb_span line,
                           uint64_t offset, uint64_t line_number)
{
    struct tb_error error;
    validator->line = line_number;
    validator->offset = offset;
    validator->counts.row_count++;
    if (!check_json(validator, line))
        return TB_OK;
    if (line.ptr[0] != '{') {
        tb_row_report(validator, TB_RULE_OBJECT, NULL, "the line is no object");
        return TB_OK;
    }
    tb_arena_reset(&validator->arena);
    tb_status status =
        tb_mooncake_record_read(&validator->record, line, offset, line_number,
                                &validator->arena, &error);
    if (status == TB_OK)
        return check_row(validator);
    // Deeper than our reader goes, and less deep than the strict check.
    if (status != TB_ERR_MEMORY)
        tb_row_report(validator, TB_RULE_JSON, error.json_path, "%s",
                      error.message);
    return status == TB_ERR_MEMORY ? status : TB_OK;
}

static void check_block_size(struct tb_validator *validator)
{
    const struct tb_validator_options *options = &validator->options;
    const uint64_t *broken = validator->counts.broken;
    uint64_t guess = tb_block_size_range_guess(&validator->block_sizes);
    bool is_misfit = broken[TB_RULE_IDS_MORE] || broken[TB_RULE_IDS_FEWER] ||
                     broken[TB_RULE_ID_SIZE];
    uint32_t made = options->made_block_size;
    if (made && made != options->block_size)
        tb_row_report(validator, TB_RULE_BLOCK_SIZE, NULL,
                      "the file beside it says that the rows were made with a "
                      "block size of %" PRIu32 ", not %" PRIu32,
                      made, options->block_size);
    else if (is_misfit && guess && guess != options->block_size)
        tb_row_report(validator, TB_RULE_BLOCK_SIZE, NULL,
                      "a block size of %" PRIu64 " fits all rows, %" PRIu32
                      " does not",
                      guess, options->block_size);
}

void tb_validator_finish(struct tb_validator *validator)
{
    struct tb_validation_counts *counts = &validator->counts;
    validator->line = validator->offset = 0;
    counts->session_count =
        validator->sessions.names.count + validator->alone_count;
    counts->id_count = validator->sizes.count;
    if (counts->row_count == 0 && !counts->broken[TB_RULE_FILE])
        tb_row_report(validator, TB_RULE_ROWS, NULL, "the file has no rows");
    check_block_size(validator);
}
