/* Reading back what a conversion wrote. */
#ifndef TB_FUZZ_ROWS_H
#define TB_FUZZ_ROWS_H

#include "fuzz.h"

/* Where a target may write rows. */
const char *fuzz_rows_path(void);

/* Returns how many rows the file has, and removes it with its meta file. With
 * `is_exact` each row must have as many ids as its length asks for. */
uint64_t fuzz_check_rows(const char *path, uint32_t block_size, bool is_exact);

#endif
