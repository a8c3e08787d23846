/* Letters with two cases that are newer than the system's Oniguruma may be:
 * Unicode 16.0 brought them. */
#include "regex.h"

struct pair_run {
    uint32_t upper, lower; /* the first of each */
    uint32_t count;
};

static const struct pair_run runs[] = {
    {0x1C89, 0x1C8A, 1}, {0xA7CB, 0x0264, 1},
    {0xA7CC, 0xA7CD, 1}, {0xA7DA, 0xA7DB, 1},
    {0xA7DC, 0x019B, 1}, {0x10D50, 0x10D70, 22}, /* Garay */
};

enum { RUN_COUNT = sizeof(runs) / sizeof(runs[0]) };

uint32_t tb_regex_new_case(uint32_t code)
{
    for (int i = 0; i < RUN_COUNT; i++) {
        if (code - runs[i].upper < runs[i].count)
            return code - runs[i].upper + runs[i].lower;
        if (code - runs[i].lower < runs[i].count)
            return code - runs[i].lower + runs[i].upper;
    }
    return 0;
}

uint32_t tb_regex_next_new_case(uint32_t from)
{
    uint32_t next = UINT32_MAX;
    for (int i = 0; i < RUN_COUNT; i++) {
        const uint32_t firsts[] = {runs[i].upper, runs[i].lower};
        for (int side = 0; side < 2; side++) {
            uint32_t first = firsts[side] > from ? firsts[side] : from;
            if (first < firsts[side] + runs[i].count && first < next)
                next = first;
        }
    }
    return next;
}
