/* What Hugging Face's components think of characters, as it was measured:
 * they were built with Unicode tables of different ages, so that what counts
 * as a punctuation mark or a number differs from part to part.
 *
 * The tables are generated (make_character_tables.py). All functions are
 * pure.
 */
#ifndef TB_CHARACTER_H
#define TB_CHARACTER_H

#include "span.h"

/* Sets of characters; the order does not matter. */
enum tb_characters {
    TB_CHARACTERS_STRIPPED_ACCENT, /* StripAccents takes these away */
    TB_CHARACTERS_BERT_CONTROL,    /* ... BertNormalizer's clean_text */
    TB_CHARACTERS_BERT_ACCENT,     /* ... and its strip_accents */
    TB_CHARACTERS_PUNCTUATION,
    TB_CHARACTERS_NUMERIC, /* of Digits */
    TB_CHARACTERS_WORD,    /* \w of Whitespace and of added tokens */
    /* What patterns mean by \w, [[:alpha:]] and so on. */
    TB_CHARACTERS_PATTERN_WORD,
    TB_CHARACTERS_PATTERN_ALPHA,
    TB_CHARACTERS_PATTERN_ALNUM,
    TB_CHARACTERS_PATTERN_LOWER,
    TB_CHARACTERS_PATTERN_UPPER,
    TB_CHARACTERS_PATTERN_PUNCT,
    TB_CHARACTERS_PATTERN_GRAPH,
    TB_CHARACTERS_PATTERN_PRINT,
    TB_CHARACTERS_PATTERN_CNTRL,
    TB_CHARACTERS_PATTERN_BLANK,
    TB_CHARACTERS_PATTERN_DIGIT,
    TB_CHARACTERS_PATTERN_SPACE,
    TB_CHARACTERS_PATTERN_EMOJI,
    TB_CHARACTERS_PATTERN_PICTOGRAPH,
    TB_CHARACTERS_PATTERN_IDEOGRAPH,
    TB_CHARACTERS_COUNT,
};

/* Where runs of members begin and end, by turns; sorted. */
struct tb_character_set {
    const uint32_t *bounds;
    size_t count;
};

extern const struct tb_character_set tb_character_sets[TB_CHARACTERS_COUNT];

bool tb_character_in(uint32_t code_point, enum tb_characters set);

/* Lower case of one character. U+0130 becomes two, of which this gives the
 * first; the second is U+0307. */
uint32_t tb_character_lower(uint32_t code_point);

/* For grapheme clusters (UAX #29), as far as short ones depend on it: pairs
 * of flags and Hangul syllables aside, each has a class. */
enum tb_grapheme_class {
    TB_GRAPHEME_PLAIN,
    TB_GRAPHEME_CONTROL,
    TB_GRAPHEME_EXTEND,
    TB_GRAPHEME_EXTEND_UNLINKED, /* breaks a conjunct */
    TB_GRAPHEME_LINKER,
    TB_GRAPHEME_JOINER, /* U+200D */
    TB_GRAPHEME_SPACING,
    TB_GRAPHEME_PREPEND,
    TB_GRAPHEME_LEAD, /* Hangul L, V, T, and syllables without and with T */
    TB_GRAPHEME_VOWEL,
    TB_GRAPHEME_TRAIL,
    TB_GRAPHEME_PICTOGRAPH,
    TB_GRAPHEME_CONSONANT,
    /* not in the table */
    TB_GRAPHEME_SYLLABLE,
    TB_GRAPHEME_SYLLABLE_TRAIL,
};

enum tb_grapheme_class tb_grapheme_class_of(uint32_t code_point);

/* The end of the extended grapheme cluster that begins at `at`. */
size_t tb_grapheme_end(struct tb_span text, size_t at);

/* The script that UnicodeScripts cuts by; 0 goes with any. */
uint8_t tb_split_script_of(uint32_t code_point);

/* The number of a script by its name or short name, in lower case and without
 * separators; 0: none. */
unsigned tb_pattern_script_of_name(struct tb_span name);

/* Is its script Han? */
bool tb_character_is_han(uint32_t code_point);

/* The first run of code points of script `number` at or after `*first`; both
 * ends inclusive. False when there is none. */
bool tb_pattern_script_next_range(unsigned number, uint32_t *first,
                                  uint32_t *last);

/* ---- the tables ---- */

/* From `first` to `last`, each `step`-th becomes itself + `delta`. */
struct tb_lower_run {
    uint32_t first, last, step;
    int32_t delta;
};

extern const struct tb_lower_run tb_lower_runs[];
extern const size_t tb_lower_run_count;

/* Runs as (first << 8 | value); each ends where the next begins. */
extern const uint32_t tb_grapheme_runs[];
extern const size_t tb_grapheme_runs_count;
extern const uint32_t tb_split_script_runs[];
extern const size_t tb_split_script_runs_count;
extern const uint32_t tb_pattern_script_runs[];
extern const size_t tb_pattern_script_runs_count;
extern const char *const tb_pattern_script_names[][2];
extern const size_t tb_pattern_script_count;

#endif
