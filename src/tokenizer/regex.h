/* Patterns that no scanner was written for, on Oniguruma, as Hugging Face runs
 * them; but what is a letter, a space, a word character or a script comes from
 * our own tables (Unicode 16.0), which the pattern is rewritten with, since
 * the system's library may be older.
 *
 * A pattern that cannot be compiled is TB_ERR_VALUE with Oniguruma's words;
 * a property or a piece of syntax that would not mean the same here is
 * TB_ERR_UNSUPPORTED with its name. Searching has limits: one that backtracks
 * without end is TB_ERR_LIMIT, as the reference gives up there too.
 *
 *     struct tb_regex_walk walk = {0};
 *     TB_TRY(tb_regex_next(regex, region, text, &walk));
 *     while (walk.found) {
 *         use(walk.start, walk.end);
 *         TB_TRY(tb_regex_next(regex, region, text, &walk));
 *     }
 */
#ifndef TB_REGEX_H
#define TB_REGEX_H

#include "buffer.h"

/* Read-only once it is made, shared by threads. */
struct tb_regex;

/* Room for the places of a match; one per thread. */
struct tb_regex_region;

TB_NODISCARD tb_status tb_regex_new(struct tb_span pattern,
                                    struct tb_regex **regex,
                                    struct tb_error *error);
void tb_regex_free(struct tb_regex *regex);

/* The pattern as it was given. */
struct tb_span tb_regex_pattern(const struct tb_regex *regex);

TB_NODISCARD tb_status tb_regex_region_new(struct tb_regex_region **region);
void tb_regex_region_free(struct tb_regex_region *region);

/* Matches one after the other; zero-initialised stands before the first. An
 * empty match is given, but not right behind the match before it. */
struct tb_regex_walk {
    size_t start, end; /* of the match */
    bool found;
    size_t from;      /* private: where the search goes on */
    bool is_underway; /* private */
};

TB_NODISCARD tb_status tb_regex_next(const struct tb_regex *regex,
                                     struct tb_regex_region *region,
                                     struct tb_span text,
                                     struct tb_regex_walk *walk);

/* Private to regex_expand.c: the other case of a letter that is newer than the
 * library may be, or 0; and the first such letter from `from` on, or
 * UINT32_MAX. */
uint32_t tb_regex_new_case(uint32_t code);
uint32_t tb_regex_next_new_case(uint32_t from);

/* Private to regex.c: appends the pattern with properties as ranges. */
TB_NODISCARD tb_status tb_regex_expand(struct tb_span pattern,
                                       struct tb_buffer *expanded,
                                       struct tb_error *error);

#endif
