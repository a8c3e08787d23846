#include "mooncake_rule.h"

#include <stddef.h>

enum {
    AIPERF = 1 << TB_MOONCAKE_FOR_AIPERF,
    MOONCAKE = 1 << TB_MOONCAKE_FOR_MOONCAKE,
    DYNAMO = 1 << TB_MOONCAKE_FOR_DYNAMO,
    ALL = AIPERF | MOONCAKE | DYNAMO
};

#define READS_NOT "the file is refused while it is loaded"

// clang-format off

static const struct {
    const char *name;
    int fatal_for;             // whose run it ends
    const char *consequences[TB_MOONCAKE_CONSUMER_COUNT]; // NULL: the first
    const char *change;
} rules[TB_RULE_COUNT] = {
    [TB_RULE_FILE] = {"file", ALL, {READS_NOT},
        "decompress it, or compress it with gzip for aiperf"},
    [TB_RULE_ROWS] = {"rows", ALL,
        {"the run ends with nothing to send"}, "give it a file with rows"},
    [TB_RULE_JSON] = {"json", ALL, {READS_NOT},
        "write one JSON object a line, in UTF-8 without a byte order mark"},
    [TB_RULE_JSON_VALUE] = {"json-value", AIPERF | MOONCAKE,
        {READS_NOT, READS_NOT, "passed over in a field that nobody reads"},
        "write no half surrogate pairs, and no numbers beyond a double"},
    [TB_RULE_OBJECT] = {"object", ALL, {READS_NOT},
        "write one JSON object a line"},
    [TB_RULE_FIELD_TYPE] = {"field-type", ALL, {READS_NOT},
        "write the field as docs/FORMATS.md has it, or leave it out"},
    [TB_RULE_KEY_TWICE] = {"key-twice", DYNAMO,
        {"the last of them counts", "the last of them counts", READS_NOT},
        "leave one of them out"},
    [TB_RULE_PROMPT] = {"prompt", ALL, {READS_NOT},
        "keep just one of input_length, text_input, messages and payload"},
    [TB_RULE_IDS_ALONE] = {"ids-alone", ALL, {READS_NOT},
        "put input_length beside hash_ids, or leave hash_ids out"},
    [TB_RULE_TOOLS] = {"tools", ALL, {READS_NOT},
        "put tools, at least one, beside messages only"},
    [TB_RULE_MESSAGES] = {"messages", ALL, {READS_NOT},
        "give messages at least one object, each with a role; and payload at "
        "least one key"},
    [TB_RULE_MISSING] = {"missing", ALL, {READS_NOT},
        "write the field"},
    [TB_RULE_INPUT_LENGTH] = {"input-length", ALL, {READS_NOT},
        "drop the row, or give it the length of its prompt"},
    [TB_RULE_EMPTY_PROMPT] = {"empty-prompt", 0,
        {"an empty prompt is sent"},
        "drop the row, or give it the length of its prompt"},
    [TB_RULE_OUTPUT_LENGTH] = {"output-length", ALL, {READS_NOT},
        "leave output_length out, or make it at least 1"},
    [TB_RULE_IDS_MORE] = {"ids-more", AIPERF | MOONCAKE,
        {"the run ends while prompts are made", READS_NOT,
         "ids behind input_length are left out"},
        "write ceil(input_length / block size) ids, and replay with the block "
        "size that the ids were made with"},
    [TB_RULE_IDS_FEWER] = {"ids-fewer", MOONCAKE,
        {"what no id covers is filled with text that no other row shares "
         "(aiperf before 0.12 stops)", READS_NOT,
         "the prompt is cut to what the ids cover"},
        "write ceil(input_length / block size) ids, and replay with the block "
        "size that the ids were made with"},
    [TB_RULE_ID_SIZE] = {"id-size", AIPERF | MOONCAKE,
        {"the run ends while prompts are made", READS_NOT,
         "the shorter block is the beginning of the longer"},
        "give a partial last block an id of its own; replay with the block "
        "size that the ids were made with"},
    [TB_RULE_ID_PREFIX] = {"id-prefix", 0,
        {"the text behind an id is the same everywhere, but a prefix cache "
         "finds it only behind the same prompt: it will serve less than the "
         "ids say"},
        "number a block by its tokens and all before it, over the whole file "
        "(numbering must not begin anew with each session)"},
    [TB_RULE_BLOCK_SIZE] = {"block-size", 0,
        {"other prompts are shared than recorded"},
        "replay with the block size that the rows were made with"},
    [TB_RULE_SESSION_KINDS] = {"session-kinds", AIPERF, {READS_NOT},
        "give rows of messages, of payload and of lengths sessions of their "
        "own"},
    [TB_RULE_WHOLE_ROWS] = {"whole-rows", 0,
        {"aiperf sends each row behind all rows and answers before it in the "
         "session, so that prompts arrive longer than recorded"},
        "convert with --for aiperf (increments), or give each call a session "
        "of its own and a timestamp"},
    [TB_RULE_DELTA_ROWS] = {"delta-rows", 0,
        {"", "each row is read as a whole prompt: prompts are shorter than "
             "recorded, and share less",
         "each row is read as a whole prompt unless the replay is told "
         "--trace-format mooncake-delta"},
        "convert with --rows whole"},
    [TB_RULE_FIRST_TIME] = {"first-time", AIPERF | DYNAMO,
        {"the file's first row has a timestamp, so the run follows timestamps "
         "and ends before it sends anything", "the row has no place in time",
         "the run ends unless it is told --replay-concurrency"},
        "give the first row of every session a timestamp, or none at all"},
    [TB_RULE_UNUSED_TIMES] = {"unused-times", 0,
        {"the file's first row has no timestamp, so all timestamps are "
         "ignored"},
        "give the first row of every session a timestamp, or none at all"},
    [TB_RULE_TIME_ORDER] = {"time-order", DYNAMO,
        {"turns are sent in the order of their rows; this one at once",
         "rows are out of order", READS_NOT},
        "order the rows of a session by time"},
    [TB_RULE_TIME_VALUE] = {"time-value", DYNAMO,
        {"such a time cannot be kept; the turn is sent at once, or never",
         "such a time cannot be kept", READS_NOT},
        "write finite milliseconds from 0 on"},
    [TB_RULE_FIRST_DELAY] = {"first-delay", DYNAMO,
        {"the delay is ignored: nothing comes before a session's first row",
         "the delay is ignored: nothing comes before a session's first row",
         READS_NOT},
        "leave delay out of a session's first row"},
    [TB_RULE_DELAY_UNUSED] = {"delay-unused", 0,
        {"the run follows timestamps, which win over delays"},
        "keep either delays or timestamps on the later rows of a session"},
};

// clang-format on

const char *tb_mooncake_consumer_name(tb_mooncake_consumer consumer)
{
    static const char *const names[] = {"aiperf", "mooncake", "dynamo"};
    return names[consumer];
}

const char *tb_mooncake_rule_name(tb_mooncake_rule rule)
{
    return rules[rule].name;
}

bool tb_mooncake_rule_is_fatal(tb_mooncake_rule rule,
                               tb_mooncake_consumer consumer)
{
    return rules[rule].fatal_for >> consumer & 1;
}

struct tb_mooncake_rule_text
tb_mooncake_rule_text(tb_mooncake_rule rule, tb_mooncake_consumer consumer)
{
    const char *own = rules[rule].consequences[consumer];
    return (struct tb_mooncake_rule_text){
        .consequence = own ? own : rules[rule].consequences[0],
        .change = rules[rule].change,
    };
}
