/* What all fuzz targets use. A target is one file with LLVMFuzzerTestOneInput,
 * headed by what it proves; replay.c or libFuzzer gives it its main. */
#ifndef TB_FUZZ_H
#define TB_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "buffer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Like assert, and in every build. */
#define FUZZ_CHECK(condition)                                                  \
    do {                                                                       \
        if (!(condition)) {                                                    \
            (void)fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, \
                          #condition);                                         \
            abort();                                                           \
        }                                                                      \
    } while (0)

/* The path of a temporary file with this content, the same one each time; it
 * is removed when the process ends well. */
const char *fuzz_file(const uint8_t *data, size_t size);

/* Removes the first `count` bytes of the input and gives them back as a
 * number; missing ones count as 0. */
uint32_t fuzz_take(const uint8_t **data, size_t *size, size_t count);

/* For tb_json_reader_init_stream: gives `left` away, `step` bytes at a time. */
struct fuzz_stream {
    struct tb_span left;
    size_t step;
};
tb_status fuzz_read_stream(void *stream, uint8_t *bytes, size_t size,
                           size_t *len, struct tb_error *error);

/* Appends the content of a file, read `step` bytes at a time. */
tb_status fuzz_read_file(const char *path, size_t step,
                         struct tb_buffer *content, char fingerprint[33]);

#endif
