/* Rewrites a pattern so that every set of characters that depends on Unicode's
 * version stands there as ranges of our own tables: \p{..}, \w, \s, \d, \b and
 * [:alpha:]. Oniguruma folds case inside a class and not in a property that
 * stands alone, hence the (?-i: ) around those. Where it does fold case, both
 * cases of letters that are newer than it are written out. */
#include "regex.h"

#include <string.h>

#include "character.h"
#include "unicode.h"
#include "utf8.h"

enum {
    BOUNDS_MAX = 8192,
    NAME_MAX_LEN = 60,
    CLASS_MAX_DEPTH = 100,
    GROUP_MAX_DEPTH = 1000,
    SURROGATE_FIRST = 0xD800,
    SURROGATE_END = 0xE000,
};

/* A set as the places where its runs begin and end, by turns. */
struct ranges {
    uint32_t bounds[BOUNDS_MAX];
    size_t count;
};

struct expansion {
    struct tb_span pattern;
    size_t at;
    size_t depth;                     /* of classes around `at` */
    bool is_folding[GROUP_MAX_DEPTH]; /* by groups around `at`: under (?i)? */
    size_t group_depth;
    struct tb_buffer *out;
    struct tb_error *error;
};

static bool add_range(struct ranges *ranges, uint32_t first, uint32_t last)
{
    if (ranges->count + 2 > BOUNDS_MAX)
        return false;
    ranges->bounds[ranges->count++] = first;
    ranges->bounds[ranges->count++] = last + 1;
    return true;
}

/* ---- sets by name ----------------------------------------------------------
 */

static const struct {
    const char *name, *category;
} long_names[] = {
    {"letter", "L"},
    {"casedletter", "LC"},
    {"uppercaseletter", "Lu"},
    {"lowercaseletter", "Ll"},
    {"titlecaseletter", "Lt"},
    {"modifierletter", "Lm"},
    {"otherletter", "Lo"},
    {"mark", "M"},
    {"combiningmark", "M"},
    {"nonspacingmark", "Mn"},
    {"spacingmark", "Mc"},
    {"enclosingmark", "Me"},
    {"number", "N"},
    {"decimalnumber", "Nd"},
    {"letternumber", "Nl"},
    {"othernumber", "No"},
    {"punctuation", "P"},
    {"punct", "P"},
    {"connectorpunctuation", "Pc"},
    {"dashpunctuation", "Pd"},
    {"openpunctuation", "Ps"},
    {"closepunctuation", "Pe"},
    {"initialpunctuation", "Pi"},
    {"finalpunctuation", "Pf"},
    {"otherpunctuation", "Po"},
    {"symbol", "S"},
    {"mathsymbol", "Sm"},
    {"currencysymbol", "Sc"},
    {"modifiersymbol", "Sk"},
    {"othersymbol", "So"},
    {"separator", "Z"},
    {"spaceseparator", "Zs"},
    {"lineseparator", "Zl"},
    {"paragraphseparator", "Zp"},
    {"other", "C"},
    {"control", "Cc"},
    {"format", "Cf"},
    {"privateuse", "Co"},
    {"unassigned", "Cn"},
};

static const struct {
    const char *name;
    enum tb_characters set;
} set_names[] = {
    {"alnum", TB_CHARACTERS_PATTERN_ALNUM},
    {"alpha", TB_CHARACTERS_PATTERN_ALPHA},
    {"alphabetic", TB_CHARACTERS_PATTERN_ALPHA},
    {"blank", TB_CHARACTERS_PATTERN_BLANK},
    {"cntrl", TB_CHARACTERS_PATTERN_CNTRL},
    {"digit", TB_CHARACTERS_PATTERN_DIGIT},
    {"graph", TB_CHARACTERS_PATTERN_GRAPH},
    {"lower", TB_CHARACTERS_PATTERN_LOWER},
    {"lowercase", TB_CHARACTERS_PATTERN_LOWER},
    {"print", TB_CHARACTERS_PATTERN_PRINT},
    {"posixpunct", TB_CHARACTERS_PATTERN_PUNCT},
    {"space", TB_CHARACTERS_PATTERN_SPACE},
    {"whitespace", TB_CHARACTERS_PATTERN_SPACE},
    {"upper", TB_CHARACTERS_PATTERN_UPPER},
    {"uppercase", TB_CHARACTERS_PATTERN_UPPER},
    {"word", TB_CHARACTERS_PATTERN_WORD},
    {"emoji", TB_CHARACTERS_PATTERN_EMOJI},
    {"extendedpictographic", TB_CHARACTERS_PATTERN_PICTOGRAPH},
    {"ideographic", TB_CHARACTERS_PATTERN_IDEOGRAPH},
};

static bool ranges_of_mask(uint32_t mask, struct ranges *ranges)
{
    uint32_t first = 0, last;
    while (tb_unicode_next_range(mask, &first, &last)) {
        if (!add_range(ranges, first, last))
            return false;
        first = last + 1;
    }
    return true;
}

static bool ranges_of_script(unsigned number, struct ranges *ranges)
{
    uint32_t first = 0, last;
    while (tb_pattern_script_next_range(number, &first, &last)) {
        if (!add_range(ranges, first, last))
            return false;
        first = last + 1;
    }
    return true;
}

static void ranges_of_set(enum tb_characters set, struct ranges *ranges)
{
    const struct tb_character_set *found = &tb_character_sets[set];
    for (size_t i = 0; i < found->count && i < BOUNDS_MAX; i++)
        ranges->bounds[ranges->count++] = found->bounds[i];
}

// Latin-1's numbers that are no digits: word characters only for a \w that
// stands alone.
static bool is_outer_word_only(uint32_t code)
{
    return code == 0xB2 || code == 0xB3 || code == 0xB9 ||
           (code >= 0xBC && code <= 0xBE);
}

// What \w means inside a class.
static void ranges_of_inner_word(struct ranges *ranges)
{
    const struct tb_character_set *word =
        &tb_character_sets[TB_CHARACTERS_PATTERN_WORD];
    for (size_t i = 0; i + 1 < word->count; i += 2) {
        uint32_t first = word->bounds[i], end = word->bounds[i + 1];
        for (; first < end && first <= 0xFF; first++)
            if (!is_outer_word_only(first))
                (void)add_range(ranges, first, first);
        if (first < end)
            (void)add_range(ranges, first, end - 1);
    }
}

static uint32_t mask_of_name(struct tb_span name)
{
    for (size_t i = 0; i < sizeof(long_names) / sizeof(long_names[0]); i++)
        if (tb_span_equal(name, tb_span_of(long_names[i].name)))
            return tb_unicode_mask_of_name(tb_span_of(long_names[i].category));
    return tb_unicode_mask_of_name(name);
}

/* False: no such name. `name` is in lower case, without separators. */
static bool ranges_of_name(struct tb_span name, bool is_in_class,
                           struct ranges *ranges)
{
    ranges->count = 0;
    if (is_in_class && tb_span_equal(name, TB_SPAN("word"))) {
        ranges_of_inner_word(ranges);
        return true;
    }
    uint32_t mask = mask_of_name(name);
    if (mask)
        return ranges_of_mask(mask, ranges);
    for (size_t i = 0; i < sizeof(set_names) / sizeof(set_names[0]); i++) {
        if (tb_span_equal(name, tb_span_of(set_names[i].name))) {
            ranges_of_set(set_names[i].set, ranges);
            return true;
        }
    }
    unsigned script = tb_pattern_script_of_name(name);
    if (script)
        return ranges_of_script(script, ranges);
    if (tb_span_equal(name, TB_SPAN("any")))
        return add_range(ranges, 0, TB_UNICODE_LAST);
    if (tb_span_equal(name, TB_SPAN("ascii")))
        return add_range(ranges, 0, 0x7F);
    if (tb_span_equal(name, TB_SPAN("assigned")))
        return ranges_of_mask(
            TB_UNICODE_MASK_ALL & ~TB_UNICODE_MASK(TB_UNICODE_CN), ranges);
    return tb_span_equal(name, TB_SPAN("xdigit")) &&
           add_range(ranges, '0', '9') && add_range(ranges, 'A', 'F') &&
           add_range(ranges, 'a', 'f');
}

/* ---- writing ----------------------------------------------------------------
 */

static tb_status write_range(struct tb_buffer *out, uint32_t first,
                             uint32_t end)
{
    // Surrogates are no characters; Oniguruma refuses them as ends.
    if (first >= SURROGATE_FIRST && first < SURROGATE_END)
        first = SURROGATE_END;
    if (end > SURROGATE_FIRST && end <= SURROGATE_END)
        end = SURROGATE_FIRST;
    if (first >= end)
        return TB_OK;
    TB_TRY(tb_buffer_printf(out, "\\x{%X}", (unsigned)first));
    if (end - first == 1)
        return TB_OK;
    return tb_buffer_printf(out, "-\\x{%X}", (unsigned)end - 1);
}

// All of the set, or all that is not in it.
static tb_status write_ranges(struct tb_buffer *out,
                              const struct ranges *ranges, bool is_negated)
{
    if (!is_negated) {
        for (size_t i = 0; i + 1 < ranges->count; i += 2)
            TB_TRY(write_range(out, ranges->bounds[i], ranges->bounds[i + 1]));
        return TB_OK;
    }
    uint32_t first = 0;
    for (size_t i = 0; i + 1 < ranges->count; i += 2) {
        TB_TRY(write_range(out, first, ranges->bounds[i]));
        first = ranges->bounds[i + 1];
    }
    return write_range(out, first, TB_UNICODE_LAST + 1);
}

static tb_status refuse(struct expansion *work, const char *what,
                        struct tb_span name)
{
    int len = name.len < NAME_MAX_LEN ? (int)name.len : NAME_MAX_LEN;
    return tb_fail(work->error, TB_ERR_UNSUPPORTED,
                   "pattern with the %s '%.*s' is not supported", what, len,
                   (const char *)name.ptr);
}

static bool is_folding(const struct expansion *work)
{
    return work->is_folding[work->group_depth];
}

/* ---- both cases of new letters ---------------------------------------------
 */

/* Adds the other case of new letters from `first` to `last`, which are members
 * of the class. Not in a class inside a class, and not beside an intersection:
 * case is folded in what comes of them. */
static tb_status add_cases(struct expansion *work, uint32_t first,
                           uint32_t last)
{
    uint32_t code = tb_regex_next_new_case(first);
    for (; code <= last; code = tb_regex_next_new_case(code + 1)) {
        if (work->depth > 1 || tb_span_contains(work->pattern, TB_SPAN("&&")))
            return tb_fail(work->error, TB_ERR_UNSUPPORTED,
                           "pattern with (?i) and letters newer than Oniguruma "
                           "in a class of classes is not supported");
        TB_TRY(tb_buffer_printf(work->out, "\\x{%X}",
                                (unsigned)tb_regex_new_case(code)));
    }
    return TB_OK;
}

static bool is_in(const struct ranges *ranges, uint32_t code)
{
    bool found = false;
    for (size_t i = 0; i + 1 < ranges->count && !found; i += 2)
        found = code >= ranges->bounds[i] && code < ranges->bounds[i + 1];
    return found;
}

// Those of a set, where one case is a member and the other is not.
static tb_status add_cases_of_set(struct expansion *work,
                                  const struct ranges *ranges, bool is_negated)
{
    uint32_t code = tb_regex_next_new_case(0);
    for (; code != UINT32_MAX; code = tb_regex_next_new_case(code + 1)) {
        bool is_member = is_in(ranges, code) != is_negated;
        bool is_other = is_in(ranges, tb_regex_new_case(code)) != is_negated;
        if (is_member && !is_other)
            TB_TRY(add_cases(work, code, code));
    }
    return TB_OK;
}

static tb_status write_set(struct expansion *work, const struct ranges *ranges,
                           bool is_negated)
{
    if (work->depth) {
        TB_TRY(write_ranges(work->out, ranges, is_negated));
        return is_folding(work) ? add_cases_of_set(work, ranges, is_negated)
                                : TB_OK;
    }
    TB_TRY(tb_buffer_append(work->out, TB_SPAN("(?-i:[")));
    size_t before = work->out->len;
    TB_TRY(write_ranges(work->out, ranges, is_negated));
    if (work->out->len == before) // no member: all but everything
        TB_TRY(tb_buffer_append(work->out, TB_SPAN("^\\x{0}-\\x{10FFFF}")));
    return tb_buffer_append(work->out, TB_SPAN("])"));
}

/* \b and \B: around a place, one side is a word character and the other is
 * not, or both are alike. */
static tb_status write_border(struct expansion *work, bool is_border)
{
    static const char *const parts[2][4] = {
        {"(?:(?<=", ")(?=", ")|(?<!", ")(?!"},
        {"(?:(?<=", ")(?!", ")|(?<!", ")(?="},
    };
    struct ranges ranges;
    ranges.count = 0;
    ranges_of_set(TB_CHARACTERS_PATTERN_WORD, &ranges);
    for (size_t i = 0; i < 4; i++) {
        TB_TRY(tb_buffer_append(work->out, tb_span_of(parts[is_border][i])));
        TB_TRY(write_set(work, &ranges, false));
    }
    return tb_buffer_append(work->out, TB_SPAN("))"));
}

/* ---- reading ----------------------------------------------------------------
 */

static int byte_at(const struct expansion *work, size_t at)
{
    return at < work->pattern.len ? work->pattern.ptr[at] : -1;
}

static tb_status copy(struct expansion *work, size_t len)
{
    if (len > work->pattern.len - work->at)
        len = work->pattern.len - work->at;
    struct tb_span part = {work->pattern.ptr + work->at, len};
    work->at += len;
    return tb_buffer_append(work->out, part);
}

// The set of a name as it stands in the pattern: "Lowercase_Letter", "lu".
static tb_status write_named(struct expansion *work, struct tb_span written,
                             bool is_negated)
{
    uint8_t name[NAME_MAX_LEN];
    size_t len = 0;
    for (size_t i = 0; i < written.len && len < sizeof(name); i++) {
        uint8_t byte = written.ptr[i];
        if (byte >= 'A' && byte <= 'Z')
            byte |= 0x20;
        if (byte != ' ' && byte != '-' && byte != '_')
            name[len++] = byte;
    }
    struct ranges ranges;
    if (len == sizeof(name) ||
        !ranges_of_name((struct tb_span){name, len}, work->depth > 0, &ranges))
        return refuse(work, "property", written);
    return write_set(work, &ranges, is_negated);
}

// \p{Name}, \P{Name}, \p{^Name}
static tb_status expand_property(struct expansion *work)
{
    size_t start = work->at + 3;
    bool is_negated = byte_at(work, work->at + 1) == 'P';
    if (byte_at(work, start) == '^') {
        is_negated = !is_negated;
        start++;
    }
    struct tb_span rest = tb_span_from(
        work->pattern, start < work->pattern.len ? start : work->pattern.len);
    const uint8_t *close = rest.len ? memchr(rest.ptr, '}', rest.len) : NULL;
    if (!close)
        return tb_fail(work->error, TB_ERR_VALUE,
                       "cannot compile the pattern: \\p{ without }");
    struct tb_span name = {rest.ptr, (size_t)(close - rest.ptr)};
    work->at = start + name.len + 1;
    return write_named(work, name, is_negated);
}

/* The character that stands at `at`, itself or as \\x{1C89} or \\u1C89; returns
 * how long that is, 0 when it is none. */
static size_t read_character(const struct expansion *work, size_t at,
                             uint32_t *code)
{
    if (at >= work->pattern.len)
        return 0;
    if (byte_at(work, at) != '\\')
        return tb_utf8_decode(work->pattern, at, code);
    int kind = byte_at(work, at + 1);
    bool is_braced = kind == 'x' && byte_at(work, at + 2) == '{';
    if (kind != 'u' && !is_braced)
        return 0;
    size_t start = at + (is_braced ? 3 : 2), len = 0;
    *code = 0;
    for (; len < (is_braced ? 8 : 4); len++) {
        int byte = byte_at(work, start + len);
        int digit = byte >= '0' && byte <= '9'   ? byte - '0'
                    : byte >= 'a' && byte <= 'f' ? byte - 'a' + 10
                    : byte >= 'A' && byte <= 'F' ? byte - 'A' + 10
                                                 : -1;
        if (digit < 0)
            break;
        *code = *code << 4 | (uint32_t)digit;
    }
    bool is_closed = !is_braced || byte_at(work, start + len) == '}';
    return len && is_closed ? start + len + is_braced - at : 0;
}

/* A letter under (?i) that is new, or a range of a class with such letters in
 * it; `*is_one` says whether it is one. */
static tb_status expand_letter(struct expansion *work, bool *is_one)
{
    uint32_t first, last;
    size_t len = is_folding(work) ? read_character(work, work->at, &first) : 0;
    *is_one = false;
    if (len == 0 || first == '[' || first == ']')
        return TB_OK;
    last = first;
    size_t dash = work->at + len;
    if (work->depth && byte_at(work, dash) == '-' &&
        byte_at(work, dash + 1) != ']' && byte_at(work, dash + 1) != '[') {
        size_t more = read_character(work, dash + 1, &last);
        len += more ? 1 + more : 0;
    }
    *is_one = tb_regex_next_new_case(first) <= last && last >= first;
    if (!*is_one)
        return TB_OK;
    if (work->depth) {
        TB_TRY(copy(work, len));
        return add_cases(work, first, last);
    }
    work->at += len;
    return tb_buffer_printf(work->out, "[\\x{%X}\\x{%X}]", (unsigned)first,
                            (unsigned)tb_regex_new_case(first));
}

static tb_status expand_escape(struct expansion *work)
{
    int kind = byte_at(work, work->at + 1);
    bool is_in_class = work->depth > 0;
    if (is_folding(work) && !is_in_class &&
        ((kind >= '1' && kind <= '9') || kind == 'k'))
        return refuse(work, "reference under (?i)",
                      (struct tb_span){work->pattern.ptr + work->at, 2});
    if ((kind == 'p' || kind == 'P') && byte_at(work, work->at + 2) == '{')
        return expand_property(work);
    if (kind == 'X' || kind == 'y' || kind == 'Y') {
        if (!is_in_class)
            return refuse(work, "escape",
                          (struct tb_span){work->pattern.ptr + work->at, 2});
        return copy(work, 2);
    }
    if ((kind == 'b' || kind == 'B') && !is_in_class) {
        work->at += 2;
        return write_border(work, kind == 'b');
    }
    static const char sets[] = "wsd";
    static const char *const names[] = {"word", "space", "digit"};
    const char *set = kind > 0 ? strchr(sets, kind | 0x20) : NULL;
    bool is_letter =
        (kind >= 'a' && kind <= 'z') || (kind >= 'A' && kind <= 'Z');
    if (!set || !is_letter)
        return copy(work, 2);
    work->at += 2;
    return write_named(work, tb_span_of(names[set - sets]), kind < 'a');
}

// [:alpha:] and [:^alpha:] inside a class; false when it is none.
static tb_status expand_posix(struct expansion *work, bool *is_one)
{
    size_t start = work->at + 2;
    bool is_negated = byte_at(work, start) == '^';
    start += is_negated;
    size_t end = start;
    while (byte_at(work, end) >= 'a' && byte_at(work, end) <= 'z')
        end++;
    *is_one = end > start && byte_at(work, end) == ':' &&
              byte_at(work, end + 1) == ']';
    if (!*is_one)
        return TB_OK;
    struct tb_span name = {work->pattern.ptr + start, end - start};
    work->at = end + 2;
    // Symbols count only in the bracket, not in \p{Punct}.
    if (tb_span_equal(name, TB_SPAN("punct")))
        name = TB_SPAN("posixpunct");
    return write_named(work, name, is_negated);
}

static tb_status expand_in_class(struct expansion *work)
{
    int byte = byte_at(work, work->at);
    if (byte == '[' && byte_at(work, work->at + 1) == ':') {
        bool is_one;
        TB_TRY(expand_posix(work, &is_one));
        if (is_one)
            return TB_OK;
    }
    if (byte == '[' && ++work->depth > CLASS_MAX_DEPTH)
        return tb_fail(work->error, TB_ERR_LIMIT,
                       "pattern with more than %d classes in each other",
                       CLASS_MAX_DEPTH);
    if (byte == ']')
        work->depth--;
    TB_TRY(copy(work, 1));
    if (byte != '[')
        return TB_OK;
    // A bracket that closes nothing yet is a member.
    if (byte_at(work, work->at) == '^')
        TB_TRY(copy(work, 1));
    return byte_at(work, work->at) == ']' ? copy(work, 1) : TB_OK;
}

static tb_status open_group(struct expansion *work, bool is_folding_inside)
{
    if (work->group_depth + 1 >= GROUP_MAX_DEPTH)
        return tb_fail(work->error, TB_ERR_LIMIT,
                       "pattern with more than %d groups in each other",
                       GROUP_MAX_DEPTH);
    work->is_folding[++work->group_depth] = is_folding_inside;
    return TB_OK;
}

/* (?#comments) are copied; options that change what \w and its like mean are
 * not for us. */
static tb_status expand_group(struct expansion *work)
{
    size_t at = work->at + 2;
    if (byte_at(work, work->at + 1) != '?') {
        TB_TRY(open_group(work, is_folding(work)));
        return copy(work, 1);
    }
    if (byte_at(work, at) == '#') {
        while (byte_at(work, at) >= 0 && byte_at(work, at) != ')')
            at += byte_at(work, at) == '\\' ? 2 : 1;
        return copy(work, at - work->at);
    }
    bool folds = is_folding(work), is_on = true;
    for (int byte; (byte = byte_at(work, at)) >= 0; at++) {
        bool is_option = byte == '-' || (byte >= 'a' && byte <= 'z') ||
                         (byte >= 'A' && byte <= 'Z');
        if (!is_option)
            break;
        if (strchr("WDSPy", byte))
            return refuse(work, "option",
                          (struct tb_span){work->pattern.ptr + at, 1});
        is_on = is_on && byte != '-';
        if (byte == 'i')
            folds = is_on;
    }
    if (byte_at(work, at) == ')') { // for all that follows in this group
        work->is_folding[work->group_depth] = folds;
        return copy(work, at + 1 - work->at);
    }
    TB_TRY(
        open_group(work, byte_at(work, at) == ':' ? folds : is_folding(work)));
    return copy(work, 2);
}

tb_status tb_regex_expand(struct tb_span pattern, struct tb_buffer *expanded,
                          struct tb_error *error)
{
    struct expansion work = {
        .pattern = pattern, .out = expanded, .error = error};
    while (work.at < pattern.len) {
        uint8_t byte = pattern.ptr[work.at];
        bool is_letter;
        TB_TRY(expand_letter(&work, &is_letter));
        if (is_letter)
            continue;
        if (byte == ')' && !work.depth && work.group_depth)
            work.group_depth--;
        if (byte == '\\')
            TB_TRY(expand_escape(&work));
        else if (work.depth || byte == '[')
            TB_TRY(expand_in_class(&work));
        else if (byte == '(')
            TB_TRY(expand_group(&work));
        else
            TB_TRY(copy(&work, 1));
    }
    return TB_OK;
}
