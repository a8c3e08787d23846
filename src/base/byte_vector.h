/* Sixteen bytes at a time, the same on every machine that can: SSE2, which
 * every x86-64 has, and NEON, which every 64-bit ARM has. TB_HAS_BYTES16 says
 * whether this machine can; whoever uses it has a loop of single bytes for the
 * others, and for what is left of a text.
 *
 *     tb_bytes16 text = tb_bytes16_load(p);
 *     uint64_t stop = tb_bytes16_bits(tb_bytes16_equal(text, '"'));
 *     if (stop)
 *         return at + tb_bytes16_first(stop);
 *
 * A comparison gives a mask: bytes whose highest bit says yes or no, and of
 * which nothing else may be used. Masks may be joined by `or`. */
#ifndef TB_BYTE_VECTOR_H
#define TB_BYTE_VECTOR_H

#include <stdint.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#define TB_HAS_BYTES16 1
typedef __m128i tb_bytes16;

/* How many bits one byte has in what tb_bytes16_bits() gives. */
enum { TB_BYTES16_WIDTH = 1 };

static inline tb_bytes16 tb_bytes16_load(const uint8_t *bytes)
{
    return _mm_loadu_si128((const __m128i *)(const void *)bytes);
}

static inline void tb_bytes16_store(uint8_t *to, tb_bytes16 bytes)
{
    _mm_storeu_si128((__m128i *)(void *)to, bytes);
}

static inline tb_bytes16 tb_bytes16_or(tb_bytes16 left, tb_bytes16 right)
{
    return _mm_or_si128(left, right);
}

/* Sixteen times one byte. */
static inline tb_bytes16 tb_bytes16_of(char byte)
{
    return _mm_set1_epi8(byte);
}

static inline tb_bytes16 tb_bytes16_equal(tb_bytes16 bytes, char wanted)
{
    return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(wanted));
}

/* Bytes from `first` to `last`, of which `first` is not 0 and `last` is below
 * 127. Signed: what is no ASCII lies below everything. */
static inline tb_bytes16 tb_bytes16_between(tb_bytes16 bytes, char first,
                                            char last)
{
    return _mm_and_si128(
        _mm_cmpgt_epi8(bytes, _mm_set1_epi8((char)(first - 1))),
        _mm_cmplt_epi8(bytes, _mm_set1_epi8((char)(last + 1))));
}

/* Bytes that are no ASCII. */
static inline tb_bytes16 tb_bytes16_high(tb_bytes16 bytes)
{
    return bytes;
}

/* The mask as bits, TB_BYTES16_WIDTH for each byte, the first ones lowest. */
static inline uint64_t tb_bytes16_bits(tb_bytes16 mask)
{
    return (uint64_t)(unsigned)_mm_movemask_epi8(mask);
}

/* The masks of 64 bytes in a row, one bit for each. */
static inline uint64_t tb_bytes64_bits(const tb_bytes16 mask[4])
{
    return tb_bytes16_bits(mask[0]) | tb_bytes16_bits(mask[1]) << 16 |
           tb_bytes16_bits(mask[2]) << 32 | tb_bytes16_bits(mask[3]) << 48;
}

#elif defined(__aarch64__) && defined(__AARCH64EL__)
#include <arm_neon.h>
#define TB_HAS_BYTES16 1
typedef uint8x16_t tb_bytes16;

enum { TB_BYTES16_WIDTH = 4 };

static inline tb_bytes16 tb_bytes16_load(const uint8_t *bytes)
{
    return vld1q_u8(bytes);
}

static inline void tb_bytes16_store(uint8_t *to, tb_bytes16 bytes)
{
    vst1q_u8(to, bytes);
}

static inline tb_bytes16 tb_bytes16_or(tb_bytes16 left, tb_bytes16 right)
{
    return vorrq_u8(left, right);
}

static inline tb_bytes16 tb_bytes16_of(char byte)
{
    return vdupq_n_u8((uint8_t)byte);
}

static inline tb_bytes16 tb_bytes16_equal(tb_bytes16 bytes, char wanted)
{
    return vceqq_u8(bytes, tb_bytes16_of(wanted));
}

static inline tb_bytes16 tb_bytes16_between(tb_bytes16 bytes, char first,
                                            char last)
{
    return vandq_u8(vcgeq_u8(bytes, tb_bytes16_of(first)),
                    vcleq_u8(bytes, tb_bytes16_of(last)));
}

static inline tb_bytes16 tb_bytes16_high(tb_bytes16 bytes)
{
    return vcltzq_s8(vreinterpretq_s8_u8(bytes));
}

// NEON has no instruction for this. To shift and to narrow keeps four bits of
// each byte, which costs one, and is enough to find the first.
static inline uint64_t tb_bytes16_bits(tb_bytes16 mask)
{
    uint8x8_t narrow = vshrn_n_u16(vreinterpretq_u16_u8(mask), 4);
    return vget_lane_u64(vreinterpret_u64_u8(narrow), 0);
}

// Each byte keeps the bit of its place among eight; to add neighbours three
// times puts eight into one.
static inline uint64_t tb_bytes64_bits(const tb_bytes16 mask[4])
{
    const uint8x16_t place = {1, 2, 4, 8, 16, 32, 64, 128,
                              1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t low =
        vpaddq_u8(vandq_u8(mask[0], place), vandq_u8(mask[1], place));
    uint8x16_t high =
        vpaddq_u8(vandq_u8(mask[2], place), vandq_u8(mask[3], place));
    uint8x16_t all = vpaddq_u8(low, high);
    all = vpaddq_u8(all, all);
    return vgetq_lane_u64(vreinterpretq_u64_u8(all), 0);
}
#endif

#if defined(TB_HAS_BYTES16)
/* Which of the sixteen bytes is the first one in `bits`, which are not 0. */
static inline unsigned tb_bytes16_first(uint64_t bits)
{
    return (unsigned)__builtin_ctzll(bits) / TB_BYTES16_WIDTH;
}

/* The bits of all bytes in front of the first one in `bits`, as above. */
static inline uint64_t tb_bytes16_before(uint64_t bits)
{
    return (bits & (~bits + 1)) - 1;
}
#endif

#endif
