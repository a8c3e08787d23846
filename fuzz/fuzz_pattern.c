/* Proves: a scanner cuts a text as Oniguruma does with the pattern that the
 * scanner stands for, match by match and many at a time; and a pattern from a
 * stranger is refused with a message, or its matches lie in the text, one
 * behind the other, and there is an end to them.
 *
 * The first byte is a scanner's number, and 0xFF that a pattern comes before
 * the text, up to a byte 0. */
#include "fuzz.h"

#include <string.h>

#include "pattern.h"
#include "regex.h"
#include "utf8.h"

enum { STRANGER = 0xFF, CUT_COUNT = 4 };

static void check_scan(tb_pattern_scan scan, struct tb_span text, size_t from,
                       const struct tb_regex_walk *walk)
{
    size_t end = walk->found ? walk->start : text.len;
    uint32_t code_point;
    for (size_t at = from; at < end;
         at += tb_utf8_decode(text, at, &code_point))
        FUZZ_CHECK(scan(text, at) == at);
    if (walk->found)
        FUZZ_CHECK(scan(text, walk->start) == walk->end);
}

static void check_cut(tb_pattern_scan scan, struct tb_span text)
{
    size_t ends[CUT_COUNT + TB_PATTERN_CUT_MORE];
    tb_pattern_cut cut = tb_pattern_cut_of(scan);
    for (size_t at = 0, count = 1; cut && count > 0 && at < text.len;) {
        count = cut(text, at, ends, CUT_COUNT);
        for (size_t i = 0; i < count; i++) {
            FUZZ_CHECK(scan(text, at) == ends[i]);
            at = ends[i];
        }
    }
}

static void check_matches(const struct tb_regex *regex, tb_pattern_scan scan,
                          struct tb_span text)
{
    struct tb_regex_walk walk = {0};
    struct tb_regex_region *region;
    size_t from = 0;
    FUZZ_CHECK(tb_regex_region_new(&region) == TB_OK);
    do {
        tb_status status = tb_regex_next(regex, region, text, &walk);
        FUZZ_CHECK(status == TB_OK || (status == TB_ERR_LIMIT && !scan));
        if (status != TB_OK)
            break;
        FUZZ_CHECK(!walk.found || (walk.start >= from && walk.end <= text.len &&
                                   walk.start <= walk.end));
        if (scan)
            check_scan(scan, text, from, &walk);
        from = walk.end;
    } while (walk.found);
    tb_regex_region_free(region);
}

/* A scanner's pattern takes long to compile: once is enough. */
static tb_status open_regex(uint32_t number, struct tb_span pattern,
                            struct tb_regex **regex, struct tb_error *error)
{
    static struct tb_regex *known[STRANGER]; // until the process ends
    if (number == STRANGER)
        return tb_regex_new(pattern, regex, error);
    if (!known[number])
        TB_TRY(tb_regex_new(pattern, &known[number], error));
    *regex = known[number];
    return TB_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tb_error error = {0};
    struct tb_regex *regex;
    uint32_t number = fuzz_take(&data, &size, 1);
    const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
    size_t pattern_len = number == STRANGER && zero ? (size_t)(zero - data) : 0;
    tb_pattern_scan scan =
        number == STRANGER ? NULL : tb_pattern_of_number((int)number);
    struct tb_span pattern = scan ? tb_span_of(tb_pattern_text(scan))
                                  : (struct tb_span){data, pattern_len};
    // One has a pattern that Oniguruma reads in another way.
    if (number != STRANGER && (!scan || tb_pattern_find(pattern) != scan))
        return 0;
    tb_status status = open_regex(number, pattern, &regex, &error);
    FUZZ_CHECK(status == TB_OK || error.message[0]);
    if (status != TB_OK)
        return 0;
    struct tb_buffer text = TB_BUFFER(1 << 28);
    uint64_t replaced = 0;
    struct tb_span rest = {data + pattern_len, size - pattern_len};
    FUZZ_CHECK(tb_utf8_repair(rest, &text, &replaced) == TB_OK);
    check_matches(regex, scan, tb_buffer_span(&text));
    if (scan)
        check_cut(scan, tb_buffer_span(&text));
    tb_buffer_release(&text);
    if (!scan)
        tb_regex_free(regex);
    return 0;
}
