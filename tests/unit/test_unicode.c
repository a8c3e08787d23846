/* The unicode layer: properties, UTF-8, normal forms. Expected values are
 * those of Unicode 16.0, of Python's decoder, and of Hugging Face's
 * normalizers; tests/oracle/normalize_oracle.py compares far more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "memory.h"
#include "normalize.h"
#include "unicode.h"
#include "utf8.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* A copy on the heap without a spare byte, so that a sanitizer sees every
 * read past its end. */
static struct tb_span exact_copy(struct tb_span text)
{
    uint8_t *ptr = tb_memory_resize(NULL, text.len ? text.len : 1);

    assert_non_null(ptr);
    if (text.len)
        memcpy(ptr, text.ptr, text.len);
    return (struct tb_span){ptr, text.len};
}

static void free_copy(struct tb_span copy)
{
    tb_memory_free((void *)(uintptr_t)copy.ptr);
}

static void assert_spans_equal(struct tb_span found, struct tb_span expected)
{
    assert_int_equal(found.len, expected.len);
    if (expected.len)
        assert_memory_equal(found.ptr, expected.ptr, expected.len);
}

/* ---- unicode.h ---- */

static uint32_t count_members(uint32_t mask)
{
    uint32_t count = 0;

    for (uint32_t cp = 0; cp <= TB_UNICODE_LAST; cp++)
        count += tb_unicode_in(cp, mask);
    return count;
}

static void test_categories_have_as_many_members_as_in_16(void **state)
{
    static const struct {
        uint32_t mask, count;
    } cases[] = {
        {TB_UNICODE_MASK_L, 141028},
        {TB_UNICODE_MASK_N, 1911},
        {TB_UNICODE_MASK_M, 2501},
        {TB_UNICODE_MASK_P, 855},
        {TB_UNICODE_MASK_S, 8514},
        {TB_UNICODE_MASK_Z, 19},
        {TB_UNICODE_MASK_C, 959284},
        {TB_UNICODE_MASK_ALL, 0x110000},
        {TB_UNICODE_MASK(TB_UNICODE_CC), 65},
        {TB_UNICODE_MASK(TB_UNICODE_CS), 2048},
        {TB_UNICODE_MASK(TB_UNICODE_LT), 31},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(count_members(cases[i].mask), cases[i].count);
}

static void test_flags_have_as_many_members_as_they_should(void **state)
{
    uint32_t space_count = 0, young_count = 0;

    (void)state;
    for (uint32_t cp = 0; cp <= TB_UNICODE_LAST; cp++) {
        space_count += tb_unicode_is_white_space(cp);
        young_count += tb_unicode_is_young(cp);
    }
    assert_int_equal(space_count, 25);
    assert_int_equal(young_count, 846359);
}

static void test_properties_of_single_code_points(void **state)
{
    enum { SPACE = TB_UNICODE_WHITE_SPACE, YOUNG = TB_UNICODE_YOUNG };
    static const struct {
        uint32_t code_point;
        unsigned properties;
    } cases[] = {
        {'A', TB_UNICODE_LU},
        {'z', TB_UNICODE_LL},
        {0x01C5, TB_UNICODE_LT},
        {0x02B0, TB_UNICODE_LM},
        {0x4E2D, TB_UNICODE_LO},
        {0x0301, TB_UNICODE_MN},
        {0x0903, TB_UNICODE_MC},
        {0x20DD, TB_UNICODE_ME},
        {'7', TB_UNICODE_ND},
        {0x2160, TB_UNICODE_NL},
        {0x00BD, TB_UNICODE_NO},
        {'_', TB_UNICODE_PC},
        {'-', TB_UNICODE_PD},
        {'(', TB_UNICODE_PS},
        {')', TB_UNICODE_PE},
        {0x00AB, TB_UNICODE_PI},
        {0x00BB, TB_UNICODE_PF},
        {'!', TB_UNICODE_PO},
        {'+', TB_UNICODE_SM},
        {'$', TB_UNICODE_SC},
        {'^', TB_UNICODE_SK},
        {0x1F600, TB_UNICODE_SO},
        {' ', TB_UNICODE_ZS | SPACE},
        {0x3000, TB_UNICODE_ZS | SPACE},
        {0x2028, TB_UNICODE_ZL | SPACE},
        {0x2029, TB_UNICODE_ZP | SPACE},
        {'\t', TB_UNICODE_CC | SPACE},
        {0x0085, TB_UNICODE_CC | SPACE},
        {0x001C, TB_UNICODE_CC}, // white space for Python only
        {0x200B, TB_UNICODE_CF},
        {0xD800, TB_UNICODE_CS},
        {0xE000, TB_UNICODE_CO},
        {0x0378, TB_UNICODE_CN | YOUNG},
        {0x1C89, TB_UNICODE_LU | YOUNG}, // of 16.0
        {0x0860, TB_UNICODE_LO | YOUNG}, // of 10.0
        {0x1E900, TB_UNICODE_LU},        // of 9.0
        {0x10FFFD, TB_UNICODE_CO},
        {0x10FFFF, TB_UNICODE_CN | YOUNG},
        {0x110000, TB_UNICODE_CN | YOUNG},
        {UINT32_MAX, TB_UNICODE_CN | YOUNG},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(tb_unicode_properties(cases[i].code_point),
                         cases[i].properties);
}

static void test_masks_by_name(void **state)
{
    static const struct {
        const char *name;
        uint32_t mask;
    } cases[] = {
        {"L", TB_UNICODE_MASK_L},
        {"m", TB_UNICODE_MASK_M},
        {"N", TB_UNICODE_MASK_N},
        {"P", TB_UNICODE_MASK_P},
        {"S", TB_UNICODE_MASK_S},
        {"Z", TB_UNICODE_MASK_Z},
        {"C", TB_UNICODE_MASK_C},
        {"LC", TB_UNICODE_MASK_LC},
        {"Lu", TB_UNICODE_MASK(TB_UNICODE_LU)},
        {"lo", TB_UNICODE_MASK(TB_UNICODE_LO)},
        {"Nd", TB_UNICODE_MASK(TB_UNICODE_ND)},
        {"Cn", TB_UNICODE_MASK(TB_UNICODE_CN)},
        {"", 0},
        {"X", 0},
        {"Lx", 0},
        {"Lul", 0},
        {"Han", 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(tb_unicode_mask_of_name(tb_span_of(cases[i].name)),
                         cases[i].mask);
    // a zero byte is no second letter
    assert_int_equal(tb_unicode_mask_of_name(TB_SPAN("L\0")), 0);
}

static void test_ranges_cover_a_mask_and_nothing_else(void **state)
{
    static const uint32_t masks[] = {TB_UNICODE_MASK_L, TB_UNICODE_MASK_C,
                                     TB_UNICODE_MASK(TB_UNICODE_ZL)};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(masks); i++) {
        uint32_t first = 0, last, count = 0;
        while (tb_unicode_next_range(masks[i], &first, &last)) {
            assert_true(first == 0 || !tb_unicode_in(first - 1, masks[i]));
            assert_true(last == TB_UNICODE_LAST ||
                        !tb_unicode_in(last + 1, masks[i]));
            for (uint32_t cp = first; cp <= last; cp++)
                assert_true(tb_unicode_in(cp, masks[i]));
            count += last - first + 1;
            first = last + 1;
        }
        assert_int_equal(count, count_members(masks[i]));
    }
    uint32_t first = 0, last = 0;
    assert_false(tb_unicode_next_range(0, &first, &last));
}

/* ---- utf8.h ---- */

static void test_every_code_point_survives_encoding(void **state)
{
    (void)state;
    for (uint32_t cp = 0; cp <= TB_UNICODE_LAST; cp++) {
        uint8_t bytes[TB_UTF8_MAX_LEN];
        uint32_t found;
        size_t len = tb_utf8_encode(cp, bytes);
        size_t expected_len = cp < 0x80 ? 1 : cp < 0x800 ? 2 : 3;
        if (cp >= 0x10000)
            expected_len = 4;
        bool is_surrogate = cp >= 0xD800 && cp <= 0xDFFF;

        assert_int_equal(len, expected_len);
        struct tb_span text = {bytes, len};
        assert_int_equal(tb_utf8_decode(text, 0, &found), len);
        assert_int_equal(found, is_surrogate ? TB_UTF8_REPLACEMENT : cp);
        assert_int_equal(tb_utf8_valid_len(text), len);
    }
}

static void test_encoding_what_is_no_code_point(void **state)
{
    static const uint32_t cases[] = {0xD800, 0xDFFF, 0x110000, UINT32_MAX};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint8_t bytes[TB_UTF8_MAX_LEN];
        size_t len = tb_utf8_encode(cases[i], bytes);
        assert_spans_equal((struct tb_span){bytes, len},
                           TB_SPAN("\xEF\xBF\xBD"));
    }
}

struct broken {
    struct tb_span text;
    size_t valid_len;        /* bytes */
    struct tb_span repaired; /* as Python decodes it with "replace" */
    uint64_t replaced_count;
};

#define BAD "\xEF\xBF\xBD"

static const struct broken broken_cases[] = {
    {{NULL, 0}, 0, {NULL, 0}, 0},
#define CASE(text, valid_len, repaired, count)                                 \
    {                                                                          \
        {(const uint8_t *)("" text), sizeof(text) - 1}, (valid_len),           \
            {(const uint8_t *)("" repaired), sizeof(repaired) - 1}, (count)    \
    }
    CASE("plain", 5, "plain", 0),
    CASE("a\0b", 3, "a\0b", 0),
    CASE("\xE4\xB8\xAD\xC3\xA9\xF0\x9F\x98\x80", 9,
         "\xE4\xB8\xAD\xC3\xA9\xF0\x9F\x98\x80", 0),
    CASE("a\x80z", 1, "a" BAD "z", 1),
    CASE("\xFF\xFE", 0, BAD BAD, 2),
    CASE("\xC3", 0, BAD, 1),
    CASE("\xC3"
         "a",
         0, BAD "a", 1),
    CASE("\xC0\xAF", 0, BAD BAD, 2),            // overlong
    CASE("\xC1\xBF", 0, BAD BAD, 2),            // overlong
    CASE("\xE0\x9F\xBF", 0, BAD BAD BAD, 3),    // overlong
    CASE("\xE0\xA0\x80", 3, "\xE0\xA0\x80", 0), // the first of three bytes
    CASE("\xED\x9F\xBF", 3, "\xED\x9F\xBF", 0), // the last before surrogates
    CASE("\xED\xA0\x80", 0, BAD BAD BAD, 3),    // a surrogate
    CASE("\xEE\x80\x80", 3, "\xEE\x80\x80", 0), // the first behind them
    CASE("\xE4\xB8", 0, BAD, 1),                // cut: one subpart
    CASE("ok\xE4\xB8x", 2, "ok" BAD "x", 1),
    CASE("\xF0\x8F\xBF\xBF", 0, BAD BAD BAD BAD, 4), // overlong
    CASE("\xF0\x90\x80\x80", 4, "\xF0\x90\x80\x80", 0),
    CASE("\xF4\x8F\xBF\xBF", 4, "\xF4\x8F\xBF\xBF", 0),
    CASE("\xF4\x90\x80\x80", 0, BAD BAD BAD BAD, 4), // above U+10FFFF
    CASE("\xF5\x80\x80\x80", 0, BAD BAD BAD BAD, 4),
    CASE("\xF0\x9F\x98", 0, BAD, 1), // cut: one subpart
    CASE("\xF0\x9F\x98\xF0\x9F\x98\x80", 0, BAD "\xF0\x9F\x98\x80", 1),
    CASE("0123456789abcdef0123456789abcdef0123456\xA0", 39,
         "0123456789abcdef0123456789abcdef0123456" BAD, 1),
#undef CASE
};

static void test_valid_prefix(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(broken_cases); i++) {
        struct tb_span text = exact_copy(broken_cases[i].text);
        assert_int_equal(tb_utf8_valid_len(text), broken_cases[i].valid_len);
        free_copy(text);
    }
}

static void test_repair(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(broken_cases); i++) {
        struct tb_span text = exact_copy(broken_cases[i].text);
        struct tb_buffer out = TB_BUFFER(1000);
        uint64_t count = 10; // it is added to
        assert_int_equal(tb_utf8_repair(text, &out, &count), TB_OK);
        assert_spans_equal(tb_buffer_span(&out), broken_cases[i].repaired);
        assert_int_equal(count, 10 + broken_cases[i].replaced_count);
        assert_int_equal(tb_utf8_valid_len(tb_buffer_span(&out)), out.len);
        tb_buffer_release(&out);
        free_copy(text);
    }
}

static void test_decoding_broken_bytes_goes_on_by_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(broken_cases); i++) {
        struct tb_span text = exact_copy(broken_cases[i].text);
        uint32_t cp;
        if (broken_cases[i].valid_len < text.len) {
            size_t at = broken_cases[i].valid_len;
            assert_int_equal(tb_utf8_decode(text, at, &cp), 1);
            assert_int_equal(cp, TB_UTF8_REPLACEMENT);
        }
        free_copy(text);
    }
}

static void test_failed_repair_leaves_no_trace(void **state)
{
    struct tb_buffer out = TB_BUFFER(1000);
    uint64_t count = 0;
    static uint8_t broken[600];

    (void)state;
    memset(broken, 0xFF, sizeof(broken));
    struct tb_span text = {broken, sizeof(broken)};
    assert_int_equal(tb_buffer_append(&out, TB_SPAN("kept")), TB_OK);
    assert_int_equal(tb_utf8_repair(text, &out, &count), TB_ERR_LIMIT);
    tb_memory_fail_after(0);
    tb_status status = tb_utf8_repair(text, &out, &count);
    tb_memory_fail_after(-1);
    assert_true(status == TB_ERR_MEMORY || status == TB_ERR_LIMIT);
    assert_spans_equal(tb_buffer_span(&out), TB_SPAN("kept"));
    assert_int_equal(count, 0);
    tb_buffer_release(&out);
}

static void test_ascii_prefix_wherever_it_ends(void **state)
{
    uint8_t bytes[100];

    (void)state;
    for (size_t len = 0; len <= sizeof(bytes); len++) {
        for (size_t end = 0; end <= len; end++) {
            // the most and the fewest bits that ASCII can have
            for (int fill = 0; fill <= 0x7F; fill += 0x7F) {
                memset(bytes, fill, sizeof(bytes));
                if (end < len)
                    bytes[end] = 0x80;
                struct tb_span text = {bytes, len};
                assert_int_equal(tb_utf8_ascii_len(text), end);
            }
        }
    }
}

/* ---- normalize.h ---- */

static void assert_normal(struct tb_span text, enum tb_normal_form form,
                          struct tb_span expected)
{
    struct tb_span copy = exact_copy(text);
    struct tb_buffer out = TB_BUFFER(1 << 20);

    assert_int_equal(tb_buffer_append(&out, TB_SPAN("before ")), TB_OK);
    assert_int_equal(tb_normalize(copy, form, &out), TB_OK);
    assert_spans_equal(tb_span_from(tb_buffer_span(&out), 7), expected);
    if (tb_normalize_is_inert(copy, form))
        assert_spans_equal(text, expected);
    tb_buffer_release(&out);
    free_copy(copy);
}

static void test_normal_forms(void **state)
{
    static const struct {
        const char *text, *nfc, *nfd, *nfkc, *nfkd;
    } cases[] = {
        {"", "", "", "", ""},
        {"plain", "plain", "plain", "plain", "plain"},
        {u8"é", u8"é", u8"e\u0301", u8"é", u8"e\u0301"},
        {u8"xe\u0301y", u8"xéy", u8"xe\u0301y", u8"xéy", u8"xe\u0301y"},
        // marks are put in order before they join
        {u8"a\u0301\u0323", u8"\u1EA1\u0301", u8"a\u0323\u0301",
         u8"\u1EA1\u0301", u8"a\u0323\u0301"},
        // a mark of the same class stands between
        {u8"a\u0300\u0301", u8"\u00E0\u0301", u8"a\u0300\u0301",
         u8"\u00E0\u0301", u8"a\u0300\u0301"},
        // nothing before it to join
        {u8"\u0301a", u8"\u0301a", u8"\u0301a", u8"\u0301a", u8"\u0301a"},
        {u8"\u212B", u8"\u00C5", u8"A\u030A", u8"\u00C5", u8"A\u030A"},
        {u8"ﬁ²", u8"ﬁ²", u8"ﬁ²", "fi2", "fi2"},
        {u8"，Ａ", u8"，Ａ", u8"，Ａ", ",A", ",A"},
        {u8"\u1E9B\u0323", u8"\u1E9B\u0323", u8"\u017F\u0323\u0307", u8"\u1E69",
         u8"s\u0323\u0307"},
        // Hangul: jamo join, in two steps; a final alone does not
        {u8"\u1112\u1161\u11AB", u8"한", u8"\u1112\u1161\u11AB", u8"한",
         u8"\u1112\u1161\u11AB"},
        {u8"\uD558\u11AB", u8"한", u8"\u1112\u1161\u11AB", u8"한",
         u8"\u1112\u1161\u11AB"},
        {u8"한\u11A8", u8"한\u11A8", u8"\u1112\u1161\u11AB\u11A8", u8"한\u11A8",
         u8"\u1112\u1161\u11AB\u11A8"},
        // excluded from composition
        {u8"\u0958", u8"\u0915\u093C", u8"\u0915\u093C", u8"\u0915\u093C",
         u8"\u0915\u093C"},
        {u8"中文字", u8"中文字", u8"中文字", u8"中文字", u8"中文字"},
        // the longest expansion there is, 18 characters
        {u8"\uFDFA", u8"\uFDFA", u8"\uFDFA",
         u8"\u0635\u0644\u0649 \u0627\u0644\u0644\u0647 "
         u8"\u0639\u0644\u064A\u0647 \u0648\u0633\u0644\u0645",
         u8"\u0635\u0644\u0649 \u0627\u0644\u0644\u0647 "
         u8"\u0639\u0644\u064A\u0647 \u0648\u0633\u0644\u0645"},
        {u8"\U0001D1BB\u0301", u8"\U0001D1B9\U0001D165\u0301",
         u8"\U0001D1B9\U0001D165\u0301", u8"\U0001D1B9\U0001D165\u0301",
         u8"\U0001D1B9\U0001D165\u0301"},
        // younger than Unicode 9.0: U+11935 U+11930 would join, U+32FF would
        // fall apart, and U+08D3 would change places or let a mark join
        {u8"\U00011935\U00011930", u8"\U00011935\U00011930",
         u8"\U00011935\U00011930", u8"\U00011935\U00011930",
         u8"\U00011935\U00011930"},
        {u8"\u32FF", u8"\u32FF", u8"\u32FF", u8"\u32FF", u8"\u32FF"},
        {u8"a\u0301\u08D3", u8"\u00E1\u08D3", u8"a\u0301\u08D3",
         u8"\u00E1\u08D3", u8"a\u0301\u08D3"},
        {u8"a\u08D3\u0327", u8"a\u08D3\u0327", u8"a\u08D3\u0327",
         u8"a\u08D3\u0327", u8"a\u08D3\u0327"},
        {u8"a\u08D3\u0301", u8"a\u08D3\u0301", u8"a\u08D3\u0301",
         u8"a\u08D3\u0301", u8"a\u08D3\u0301"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct tb_span text = tb_span_of(cases[i].text);
        assert_normal(text, TB_NFC, tb_span_of(cases[i].nfc));
        assert_normal(text, TB_NFD, tb_span_of(cases[i].nfd));
        assert_normal(text, TB_NFKC, tb_span_of(cases[i].nfkc));
        assert_normal(text, TB_NFKD, tb_span_of(cases[i].nfkd));
    }
}

static void test_forms_that_leave_a_code_point_alone(void **state)
{
    enum { NFC = 1, NFD = 2, NFKC = 4, NFKD = 8, ALL = 15 };
    static const struct {
        uint32_t code_point;
        unsigned forms;
    } cases[] = {
        {'a', ALL},      {0x00E9, NFC | NFKC}, {0x00B2, NFC | NFD},
        {0x0301, 0},     {0x212B, 0},          {0x1161, NFD | NFKD},
        {0x32FF, ALL},   {0x1DF6, ALL},        {0x11930, ALL},
        {0x10FFFF, ALL}, {0x110000, 0},        {UINT32_MAX, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(tb_unicode_plain_forms(cases[i].code_point),
                         cases[i].forms);
}

static void test_inert_text(void **state)
{
    enum { NFC = 1, NFD = 2, NFKC = 4, NFKD = 8, ALL = 15 };
    static const struct {
        const char *text;
        unsigned forms; /* those it is inert in */
    } cases[] = {
        {"", ALL},
        {"The quick brown fox jumps over the lazy dog, and then some.", ALL},
        {u8"中文字", ALL},
        {u8"Привет", ALL},
        {u8"café", NFC | NFKC},
        {u8"한글", NFC | NFKC},
        {u8"1 m²", NFC | NFD},
        {u8"\U0001F600\u32FF", ALL},
        {u8"\u212B", 0},
        {u8"e\u0301", 0},
        {u8"\u1161", NFD | NFKD},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        unsigned forms = 0;
        for (unsigned form = TB_NFC; form <= TB_NFKD; form++) {
            if (tb_normalize_is_inert(tb_span_of(cases[i].text),
                                      (enum tb_normal_form)form))
                forms |= 1u << form;
        }
        assert_int_equal(forms, cases[i].forms);
    }
}

/* Two marks in turn, many times: the text whose ordering is slow when done by
 * insertion. All of the second kind come first in the result. */
static void test_a_pile_of_marks_is_ordered(void **state)
{
    enum { PAIR_COUNT = 500000, MARK_LEN = 2 };
    struct tb_buffer text = TB_BUFFER(1 << 24);
    struct tb_buffer out = TB_BUFFER(1 << 24);

    (void)state;
    for (size_t i = 0; i < PAIR_COUNT; i++)
        assert_int_equal(tb_buffer_append(&text, TB_SPAN(u8"\u0301\u0316")),
                         TB_OK);
    assert_int_equal(tb_normalize(tb_buffer_span(&text), TB_NFD, &out), TB_OK);
    assert_int_equal(out.len, text.len);
    for (size_t i = 0; i < PAIR_COUNT; i++) {
        uint8_t *low = out.ptr + i * MARK_LEN;
        uint8_t *high = low + PAIR_COUNT * MARK_LEN;
        assert_true(low[0] == 0xCC && low[1] == 0x96);
        assert_true(high[0] == 0xCC && high[1] == 0x81);
    }
    tb_buffer_release(&text);
    tb_buffer_release(&out);
}

static void test_malformed_text_does_no_harm(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(broken_cases); i++) {
        for (unsigned form = TB_NFC; form <= TB_NFKD; form++) {
            struct tb_span text = exact_copy(broken_cases[i].text);
            struct tb_buffer out = TB_BUFFER(1000);
            assert_int_equal(
                tb_normalize(text, (enum tb_normal_form)form, &out), TB_OK);
            tb_buffer_release(&out);
            free_copy(text);
        }
    }
}

static void test_normalizing_past_the_cap(void **state)
{
    struct tb_buffer out = TB_BUFFER(300);
    struct tb_buffer text = TB_BUFFER(1000);

    (void)state;
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(tb_buffer_append(&text, TB_SPAN(u8"a\u212B")), TB_OK);
    assert_int_equal(tb_buffer_append(&out, TB_SPAN("kept")), TB_OK);
    assert_int_equal(tb_normalize(tb_buffer_span(&text), TB_NFD, &out),
                     TB_ERR_LIMIT);
    assert_spans_equal(tb_buffer_span(&out), TB_SPAN("kept"));
    tb_buffer_release(&out);
    tb_buffer_release(&text);
}

/* Makes each allocation fail in turn until one more would not be made. */
static void test_every_allocation_of_normalizing_fails_once(void **state)
{
    struct tb_buffer text = TB_BUFFER(10000);
    long request = 0;
    tb_status status;

    (void)state;
    for (size_t i = 0; i < 400; i++)
        assert_int_equal(tb_buffer_append(&text, TB_SPAN(u8"\u0301\u0316")),
                         TB_OK);
    do {
        struct tb_buffer out = TB_BUFFER(10000);
        tb_memory_fail_after(request);
        status = tb_normalize(tb_buffer_span(&text), TB_NFC, &out);
        tb_memory_fail_after(-1);
        if (status != TB_OK) {
            assert_int_equal(status, TB_ERR_MEMORY);
            assert_int_equal(out.len, 0);
            request++;
        }
        tb_buffer_release(&out);
    } while (status != TB_OK);
    // the piece, the spare for sorting and the output at least
    assert_true(request >= 3);
    tb_buffer_release(&text);
}

static void test_every_allocation_of_an_origin_fails_once(void **state)
{
    (void)state;
    struct tb_buffer text = TB_BUFFER(10000);
    for (size_t i = 0; i < 400; i++)
        assert_int_equal(tb_buffer_append(&text, TB_SPAN(u8"\u0301\u0316")),
                         TB_OK);
    long request = 0;
    tb_status status;
    do {
        size_t made_len = 0;
        tb_memory_fail_after(request);
        status =
            tb_normalize_origin(tb_buffer_span(&text), 2, TB_NFC, &made_len);
        tb_memory_fail_after(-1);
        assert_true(status == TB_OK || status == TB_ERR_MEMORY);
        assert_int_equal(made_len, status == TB_OK ? 2 : 0);
        request += status != TB_OK;
    } while (status != TB_OK);
    // the piece and the spare for sorting at least
    assert_true(request >= 2);
    tb_buffer_release(&text);
}

/* What Hugging Face's tokenizers 0.23 tell as the offsets of characters, of
 * texts whose first character was one, or one and an x that was put in front.
 */
static void test_origins(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t origin_len;
        enum tb_normal_form form;
        size_t made_len;
    } cases[] = {
        {"\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB", 3, TB_NFC, 3},
        {"x\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB", 4, TB_NFKC, 4},
        {"\xED\x95\x9C", 3, TB_NFD, 9},
        {"x\xED\x95\x9C", 4, TB_NFD, 10},
        {"\xC4\xB0\xD9\x8E", 2, TB_NFD, 1},
        {"e\xCC\x81\xCC\xA3", 1, TB_NFC, 3},
        {"xe\xCC\x81\xCC\xA3", 2, TB_NFC, 4},
        {"\xC3\xA9\xCC\xA3", 2, TB_NFD, 1},
        {"\xCD\x84\xCC\xA3", 2, TB_NFC, 2},
        {"x\xCD\x84\xCC\xA3", 3, TB_NFC, 3},
        {"\xCD\x85\xCD\x84", 2, TB_NFKD, 4},
        {"x\xCD\x85\xCD\x84", 3, TB_NFKD, 5},
        {"\xEF\xB7\xBA", 3, TB_NFKD, 33},
        {"x\xCD\x84", 3, TB_NFC, 5},
        {"x\xE1\xB9\xA9\xCC\xA3", 4, TB_NFC, 4},
        {"plain", 1, TB_NFC, 1},
        {"e\xCC\x81", 0, TB_NFC, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t made_len;
        assert_int_equal(tb_normalize_origin(tb_span_of(cases[i].text),
                                             cases[i].origin_len, cases[i].form,
                                             &made_len),
                         TB_OK);
        if (made_len != cases[i].made_len)
            fail_msg("case %zu: %zu", i, made_len);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_origins),
        cmocka_unit_test(test_categories_have_as_many_members_as_in_16),
        cmocka_unit_test(test_flags_have_as_many_members_as_they_should),
        cmocka_unit_test(test_properties_of_single_code_points),
        cmocka_unit_test(test_masks_by_name),
        cmocka_unit_test(test_ranges_cover_a_mask_and_nothing_else),
        cmocka_unit_test(test_every_code_point_survives_encoding),
        cmocka_unit_test(test_encoding_what_is_no_code_point),
        cmocka_unit_test(test_valid_prefix),
        cmocka_unit_test(test_repair),
        cmocka_unit_test(test_decoding_broken_bytes_goes_on_by_one),
        cmocka_unit_test(test_failed_repair_leaves_no_trace),
        cmocka_unit_test(test_ascii_prefix_wherever_it_ends),
        cmocka_unit_test(test_normal_forms),
        cmocka_unit_test(test_forms_that_leave_a_code_point_alone),
        cmocka_unit_test(test_inert_text),
        cmocka_unit_test(test_a_pile_of_marks_is_ordered),
        cmocka_unit_test(test_malformed_text_does_no_harm),
        cmocka_unit_test(test_normalizing_past_the_cap),
        cmocka_unit_test(test_every_allocation_of_normalizing_fails_once),
        cmocka_unit_test(test_every_allocation_of_an_origin_fails_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
