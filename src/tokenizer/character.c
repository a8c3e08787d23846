#include "character.h"

#include "utf8.h"

/* How many of the sorted `items` are at most `key`. */
static size_t count_up_to(const uint32_t *items, size_t count, uint32_t key)
{
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        if (items[middle] <= key)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

bool tb_character_in(uint32_t code_point, enum tb_characters set)
{
    const struct tb_character_set *found = &tb_character_sets[set];
    return count_up_to(found->bounds, found->count, code_point) % 2 == 1;
}

uint32_t tb_character_lower(uint32_t code_point)
{
    if (code_point < 0x80)
        return code_point >= 'A' && code_point <= 'Z' ? code_point | 0x20
                                                      : code_point;
    if (code_point == 0x130)
        return 'i';
    size_t low = 0, high = tb_lower_run_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct tb_lower_run *run = &tb_lower_runs[middle];
        if (code_point > run->last)
            low = middle + 1;
        else if (code_point < run->first)
            high = middle;
        else if ((code_point - run->first) % run->step == 0)
            return (uint32_t)((int32_t)code_point + run->delta);
        else
            break;
    }
    return code_point;
}

static uint8_t run_value(const uint32_t *runs, size_t count,
                         uint32_t code_point)
{
    size_t at = count_up_to(runs, count, code_point << 8 | 0xFF);
    return (uint8_t)runs[at - 1];
}

uint8_t tb_split_script_of(uint32_t code_point)
{
    return run_value(tb_split_script_runs, tb_split_script_runs_count,
                     code_point);
}

/* ---- grapheme clusters ----------------------------------------------------
 */

enum tb_grapheme_class tb_grapheme_class_of(uint32_t code_point)
{
    if (code_point >= 0xAC00 && code_point <= 0xD7A3)
        return (code_point - 0xAC00) % 28 == 0 ? TB_GRAPHEME_SYLLABLE
                                               : TB_GRAPHEME_SYLLABLE_TRAIL;
    return (enum tb_grapheme_class)run_value(
        tb_grapheme_runs, tb_grapheme_runs_count, code_point);
}

static bool is_extend(enum tb_grapheme_class kind)
{
    return kind >= TB_GRAPHEME_EXTEND && kind <= TB_GRAPHEME_JOINER;
}

// Rules GB6 to GB8.
static bool is_hangul_pair(enum tb_grapheme_class left,
                           enum tb_grapheme_class right)
{
    bool is_open = left == TB_GRAPHEME_VOWEL || left == TB_GRAPHEME_SYLLABLE;
    if (left == TB_GRAPHEME_LEAD)
        return right == TB_GRAPHEME_LEAD || right == TB_GRAPHEME_VOWEL ||
               right == TB_GRAPHEME_SYLLABLE ||
               right == TB_GRAPHEME_SYLLABLE_TRAIL;
    if (right == TB_GRAPHEME_VOWEL)
        return is_open;
    return right == TB_GRAPHEME_TRAIL &&
           (is_open || left == TB_GRAPHEME_TRAIL ||
            left == TB_GRAPHEME_SYLLABLE_TRAIL);
}

/* What stands before a place inside a cluster, for the rules that look back
 * further than one character. */
struct cluster {
    enum tb_grapheme_class last;
    bool is_pictograph_joined; /* pictograph, extends, joiner (GB11) */
    bool has_pictograph;       /* pictograph and extends */
    bool has_consonant;        /* consonant, extends (GB9c) */
    bool has_linker;           /* ... and a linker among them */
};

static void step_cluster(struct cluster *cluster, enum tb_grapheme_class next)
{
    cluster->is_pictograph_joined =
        next == TB_GRAPHEME_JOINER && cluster->has_pictograph;
    // A joiner ends what it may join: two of them join nothing.
    cluster->has_pictograph = next == TB_GRAPHEME_PICTOGRAPH ||
                              (cluster->has_pictograph && is_extend(next) &&
                               next != TB_GRAPHEME_JOINER);
    bool is_linked = next == TB_GRAPHEME_EXTEND || next == TB_GRAPHEME_JOINER ||
                     next == TB_GRAPHEME_LINKER;
    if (next == TB_GRAPHEME_CONSONANT) {
        cluster->has_consonant = true;
        cluster->has_linker = false;
    } else {
        cluster->has_consonant = cluster->has_consonant && is_linked;
        cluster->has_linker =
            cluster->has_consonant &&
            (cluster->has_linker || next == TB_GRAPHEME_LINKER);
    }
    cluster->last = next;
}

static bool joins(const struct cluster *cluster, enum tb_grapheme_class next)
{
    if (cluster->last == TB_GRAPHEME_CONTROL || next == TB_GRAPHEME_CONTROL)
        return false;
    if (is_extend(next) || next == TB_GRAPHEME_SPACING ||
        cluster->last == TB_GRAPHEME_PREPEND)
        return true;
    if (next == TB_GRAPHEME_CONSONANT && cluster->has_linker)
        return true;
    if (next == TB_GRAPHEME_PICTOGRAPH && cluster->is_pictograph_joined)
        return true;
    return is_hangul_pair(cluster->last, next);
}

static enum tb_grapheme_class class_at(struct tb_span text, size_t at,
                                       size_t *len)
{
    uint32_t code_point;
    *len = tb_utf8_decode(text, at, &code_point);
    // \r and \n are controls like the rest, but for the pair of them.
    if (code_point == '\r' || code_point == '\n')
        return TB_GRAPHEME_CONTROL;
    return tb_grapheme_class_of(code_point);
}

size_t tb_grapheme_end(struct tb_span text, size_t at)
{
    size_t len;
    if (tb_span_starts_with(tb_span_from(text, at), TB_SPAN("\r\n")))
        return at + 2;
    struct cluster cluster = {0};
    step_cluster(&cluster, class_at(text, at, &len));
    at += len;
    while (at < text.len) {
        enum tb_grapheme_class next = class_at(text, at, &len);
        if (!joins(&cluster, next))
            break;
        step_cluster(&cluster, next);
        at += len;
    }
    return at;
}

/* ---- scripts of patterns ---------------------------------------------------
 */

unsigned tb_pattern_script_of_name(struct tb_span name)
{
    for (size_t i = 0; i < tb_pattern_script_count; i++)
        for (size_t form = 0; form < 2; form++)
            if (tb_span_equal(name,
                              tb_span_of(tb_pattern_script_names[i][form])))
                return (unsigned)i + 1;
    return 0;
}

static unsigned pattern_script_of(uint32_t code_point)
{
    return run_value(tb_pattern_script_runs, tb_pattern_script_runs_count,
                     code_point);
}

bool tb_character_is_han(uint32_t code_point)
{
    if (code_point >= 0x4E00 && code_point <= 0x9FFF)
        return true;
    return code_point >= 0x2E80 &&
           pattern_script_of(code_point) == pattern_script_of(0x4E00);
}

bool tb_pattern_script_next_range(unsigned number, uint32_t *first,
                                  uint32_t *last)
{
    size_t count = tb_pattern_script_runs_count;
    size_t at = count_up_to(tb_pattern_script_runs, count, *first << 8 | 0xFF);
    for (at = at ? at - 1 : 0; at < count; at++) {
        if ((tb_pattern_script_runs[at] & 0xFF) != number)
            continue;
        uint32_t start = tb_pattern_script_runs[at] >> 8;
        if (start > *first)
            *first = start;
        *last = at + 1 < count ? (tb_pattern_script_runs[at + 1] >> 8) - 1
                               : 0x10FFFF;
        return true;
    }
    return false;
}
