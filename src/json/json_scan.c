#include "json_scan.h"

#include "byte_vector.h"
#include "cpu.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// Hot loop: one byte at a time, what the vector code must be equal to.
size_t tb_json_scan_portable(struct tb_json_scan *scan, struct tb_span bytes)
{
    size_t at = 0;
    while (at < bytes.len && scan->depth > 0) {
        uint8_t byte = bytes.ptr[at++];
        if (scan->is_escaped)
            scan->is_escaped = false;
        else if (byte == '\\')
            scan->is_escaped = true;
        else if (byte == '"')
            scan->in_string = !scan->in_string;
        else if (!scan->in_string && (byte | 0x20) == '{')
            scan->depth++;
        else if (!scan->in_string && (byte | 0x20) == '}')
            scan->depth--;
    }
    return at;
}

/* The bytes of a block that matter, one bit for each of 64. A bracket of
 * either kind is the same: '[' and '{' differ in one bit, as do ']' and '}'. */
struct marks {
    uint64_t backslash, quote, open, close;
};

#if defined(__x86_64__)
#define TB_VECTOR __attribute__((target("avx2,bmi,popcnt,pclmul")))

struct block {
    __m256i low, high;
};

TB_VECTOR static inline uint64_t mask_of(struct block block, char byte)
{
    __m256i wanted = _mm256_set1_epi8(byte);
    uint32_t low =
        (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(block.low, wanted));
    uint32_t high =
        (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(block.high, wanted));
    return (uint64_t)high << 32 | low;
}

TB_VECTOR static inline struct marks find_marks(const uint8_t *bytes)
{
    struct block raw = {_mm256_loadu_si256((const __m256i *)bytes),
                        _mm256_loadu_si256((const __m256i *)(bytes + 32))};
    __m256i bit = _mm256_set1_epi8(0x20);
    struct block lower = {_mm256_or_si256(raw.low, bit),
                          _mm256_or_si256(raw.high, bit)};
    return (struct marks){mask_of(raw, '\\'), mask_of(raw, '"'),
                          mask_of(lower, '{'), mask_of(lower, '}')};
}

// Bit i of the result: is the number of quotes up to and with i odd?
TB_VECTOR static inline uint64_t prefix_xor(uint64_t bits)
{
    __m128i all = _mm_set1_epi8(-1);
    __m128i product =
        _mm_clmulepi64_si128(_mm_set_epi64x(0, (long long)bits), all, 0);
    return (uint64_t)_mm_cvtsi128_si64(product);
}

#elif defined(TB_HAS_BYTES16)
#define TB_VECTOR

static inline uint64_t mask_of(const tb_bytes16 block[4], char byte)
{
    const tb_bytes16 mask[4] = {
        tb_bytes16_equal(block[0], byte), tb_bytes16_equal(block[1], byte),
        tb_bytes16_equal(block[2], byte), tb_bytes16_equal(block[3], byte)};
    return tb_bytes64_bits(mask);
}

static inline struct marks find_marks(const uint8_t *bytes)
{
    tb_bytes16 raw[4], lower[4];
    for (int i = 0; i < 4; i++) {
        raw[i] = tb_bytes16_load(bytes + 16 * i);
        lower[i] = tb_bytes16_or(raw[i], tb_bytes16_of(0x20));
    }
    return (struct marks){mask_of(raw, '\\'), mask_of(raw, '"'),
                          mask_of(lower, '{'), mask_of(lower, '}')};
}

// As above. Not every such machine multiplies without carry.
static inline uint64_t prefix_xor(uint64_t bits)
{
    for (unsigned distance = 1; distance < 64; distance *= 2)
        bits ^= bits << distance;
    return bits;
}
#endif

#if defined(TB_VECTOR)
/* Bits of bytes that follow an odd run of backslashes. Runs that begin at an
 * odd position carry, by the addition, into the bit behind their end when
 * their length is odd; see Langdale and Lemire, "Parsing Gigabytes of JSON
 * per Second" (VLDB Journal 2019), section 3.1.1. */
static inline uint64_t find_escaped(uint64_t backslash, bool *carry)
{
    const uint64_t even_bits = 0x5555555555555555u;
    if (backslash == 0) {
        uint64_t escaped = *carry;
        *carry = false;
        return escaped;
    }
    backslash &= ~(uint64_t)*carry;
    uint64_t follows = backslash << 1 | *carry;
    uint64_t odd_starts = backslash & ~even_bits & ~follows;
    uint64_t sum;
    *carry = __builtin_add_overflow(odd_starts, backslash, &sum);
    return (even_bits ^ (sum << 1)) & follows;
}

// Walks the brackets of one block in order; returns 64 or where it ended.
TB_VECTOR static inline size_t walk(struct tb_json_scan *scan, uint64_t open,
                                    uint64_t close)
{
    uint64_t both = open | close;
    while (both) {
        uint64_t lowest = both & (~both + 1);
        if (open & lowest)
            scan->depth++;
        else if (--scan->depth == 0)
            return (size_t)__builtin_ctzll(both) + 1;
        both ^= lowest;
    }
    return 64;
}

// Hot loop: 64 bytes at a time.
TB_VECTOR static size_t scan_blocks(struct tb_json_scan *scan,
                                    struct tb_span bytes)
{
    uint64_t string_before = scan->in_string ? ~(uint64_t)0 : 0;
    bool escape_carry = scan->is_escaped;
    size_t at = 0;
    while (bytes.len - at >= 64) {
        struct marks marks = find_marks(bytes.ptr + at);
        uint64_t escaped = find_escaped(marks.backslash, &escape_carry);
        uint64_t quote = marks.quote & ~escaped;
        uint64_t in_string = prefix_xor(quote) ^ string_before;
        string_before = (uint64_t)((int64_t)in_string >> 63);
        uint64_t outside = ~(in_string | escaped);
        uint64_t open = marks.open & outside;
        uint64_t close = marks.close & outside;
        uint64_t close_count = (uint64_t)__builtin_popcountll(close);
        if (close_count < scan->depth) {
            scan->depth += (uint64_t)__builtin_popcountll(open) - close_count;
        } else {
            size_t walked = walk(scan, open, close);
            if (scan->depth == 0) {
                scan->in_string = scan->is_escaped = false;
                return at + walked;
            }
        }
        at += 64;
    }
    scan->in_string = string_before != 0;
    scan->is_escaped = escape_carry;
    return at;
}
#endif

size_t tb_json_scan_container(struct tb_json_scan *scan, struct tb_span bytes)
{
    size_t at = 0;
#if defined(TB_VECTOR)
    if (bytes.len >= 64 && tb_cpu_has_vectors())
        at = scan_blocks(scan, bytes);
#endif
    return at + tb_json_scan_portable(scan, tb_span_from(bytes, at));
}

// Hot loop: 16 bytes at a time where the machine can.
static size_t plain_len(struct tb_span bytes, bool *has_high)
{
    size_t at = 0;
#if defined(TB_HAS_BYTES16)
    while (bytes.len - at >= 16) {
        tb_bytes16 text = tb_bytes16_load(bytes.ptr + at);
        uint64_t stop = tb_bytes16_bits(tb_bytes16_or(
            tb_bytes16_equal(text, '"'), tb_bytes16_equal(text, '\\')));
        uint64_t high = tb_bytes16_bits(tb_bytes16_high(text));
        if (stop) {
            *has_high |= (high & tb_bytes16_before(stop)) != 0;
            return at + tb_bytes16_first(stop);
        }
        *has_high |= high != 0;
        at += 16;
    }
#endif
    while (at < bytes.len && bytes.ptr[at] != '"' && bytes.ptr[at] != '\\') {
        *has_high |= bytes.ptr[at] > 127;
        at++;
    }
    return at;
}

struct tb_json_string_scan tb_json_scan_string(struct tb_span bytes)
{
    struct tb_json_string_scan scan = {0};
    for (;;) {
        scan.len += plain_len(tb_span_from(bytes, scan.len), &scan.has_high);
        if (scan.len == bytes.len)
            return scan;
        if (bytes.ptr[scan.len] == '"') {
            scan.is_closed = true;
            return scan;
        }
        scan.has_escape = true;
        if (bytes.len - scan.len < 2) {
            scan.ends_escaped = true;
            scan.len = bytes.len;
            return scan;
        }
        scan.len += 2;
    }
}
