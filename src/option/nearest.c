#include "nearest.h"

#include <string.h>

enum { LETTERS_MAX = 64 };

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

// Levenshtein's distance, one row of its table at a time.
static size_t edit_distance(const char *a, const char *b)
{
    size_t a_len = strlen(a), b_len = strlen(b);
    size_t row[LETTERS_MAX + 1];
    if (a_len > LETTERS_MAX || b_len > LETTERS_MAX)
        return LETTERS_MAX;
    for (size_t j = 0; j <= b_len; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t above = row[j];
            row[j] = smallest(above + 1, row[j - 1] + 1,
                              diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[b_len];
}

struct tb_nearest tb_nearest_to(const char *typed)
{
    // A third of the letters may be wrong, and two in any case.
    size_t limit = strlen(typed) / 3;
    return (struct tb_nearest){typed, NULL, (limit < 2 ? 2 : limit) + 1};
}

void tb_nearest_offer(struct tb_nearest *nearest, const char *name)
{
    size_t typed_len = strlen(nearest->typed);
    size_t distance = edit_distance(nearest->typed, name);
    // "--token" means --tokenizer, however much is missing.
    if (typed_len >= 3 && strncmp(nearest->typed, name, typed_len) == 0)
        distance = 1;
    if (distance < nearest->distance && distance < strlen(name)) {
        nearest->distance = distance;
        nearest->name = name;
    }
}
