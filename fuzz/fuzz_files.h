/* For targets that need more than one file. */
#ifndef TB_FUZZ_FILES_H
#define TB_FUZZ_FILES_H

#include "fuzz.h"

/* The path of a file in a folder of this process, which is removed with all
 * that is in it when the process ends well. Eight paths live at a time. */
const char *fuzz_path(const char *name);

/* Writes such a file, or removes it when there is no content; its path. */
const char *fuzz_put(const char *name, struct tb_span content);

/* Removes all that is in that folder. */
void fuzz_clear(void);

/* Removes the input's bytes up to the first 0, and that, and gives them back:
 * a file of several. */
struct tb_span fuzz_take_file(const uint8_t **data, size_t *size);

/* Is it one JSON object, strictly? */
bool fuzz_is_object(struct tb_span json);

#endif
