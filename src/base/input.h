/* Bytes in: a file, standard input, or either of them compressed.
 *
 * "-" is standard input. What begins with gzip's or zstd's magic number is
 * decompressed while it is read (all members or frames), whatever the file is
 * called. What decompresses to over 4 GiB and 10,000 times its size is taken
 * for a bomb: TB_ERR_LIMIT. Reads in pieces, never maps: a file that shrinks
 * meanwhile is an error, not a signal. EINTR and short reads are handled.
 */
#ifndef TB_INPUT_H
#define TB_INPUT_H

#include "buffer.h"
#include "decompress.h"
#include "status.h"

struct tb_input; /* one thread at a time, but for tb_input_read_at */

/* `path` is copied. Waits for the first bytes. TB_ERR_NOT_FOUND or TB_ERR_IO
 * with the reason; TB_ERR_INTERRUPTED as wait_fd.h has it. On failure *input is
 * NULL. */
TB_NODISCARD tb_status tb_input_open(const char *path, struct tb_input **input,
                                     struct tb_error *error);

/* The same, and `is_stopping` is asked as after tb_input_on_signal, also while
 * this waits. */
TB_NODISCARD tb_status tb_input_open_until(bool (*is_stopping)(void *context),
                                           void *context, const char *path,
                                           struct tb_input **input,
                                           struct tb_error *error);

/* Reads up to `size` bytes; `*len` is 0 at the end and only there. TB_ERR_IO
 * also where a file ends that was longer when it was opened. */
TB_NODISCARD tb_status tb_input_read(struct tb_input *input, uint8_t *bytes,
                                     size_t size, size_t *len,
                                     struct tb_error *error);

/* Would a read give bytes, or the end, without waiting for whoever writes them?
 * No more than a guess for compressed data, of which some may be there. */
bool tb_input_is_ready(const struct tb_input *input);

/* Appends all of the file `path` to `content`, up to its cap. */
TB_NODISCARD tb_status tb_input_read_all(const char *path,
                                         struct tb_buffer *content,
                                         struct tb_error *error);

/* When a signal arrives while bytes are waited for, asks `is_stopping` too, not
 * only the process (wait_fd.h); true ends the read with TB_ERR_INTERRUPTED.
 * NULL: asks no more. */
void tb_input_on_signal(struct tb_input *input,
                        bool (*is_stopping)(void *context), void *context);

/* Is it a plain file, so that tb_input_read_at works? */
bool tb_input_is_seekable(const struct tb_input *input);

/* Can its path be opened again and give the same, as a pipe's cannot? */
bool tb_input_can_reopen(const struct tb_input *input);

/* Goes on at `offset` of the uncompressed content, or at its end when that
 * comes before. Nothing may have been read before. The fingerprint is of what
 * is read then. */
TB_NODISCARD tb_status tb_input_skip(struct tb_input *input, uint64_t offset,
                                     struct tb_error *error);

/* From now on keeps a copy of all that is read in an unlinked temporary file
 * ($TMPDIR or /tmp), so that tb_input_read_at works for a pipe or compressed
 * input too. Nothing may have been read before; nothing happens when the
 * input is seekable. */
TB_NODISCARD tb_status tb_input_keep(struct tb_input *input,
                                     struct tb_error *error);

/* Reads exactly `size` bytes at `offset` of the uncompressed content; fewer
 * being there is TB_ERR_CUT. Thread-safe, and does not move tb_input_read. */
TB_NODISCARD tb_status tb_input_read_at(struct tb_input *input, uint64_t offset,
                                        uint8_t *bytes, size_t size,
                                        struct tb_error *error);

/* What was read so far once more, and no more than that: of an input that is
 * seekable or was kept. The fingerprint is of what was read before. At the end
 * of what became something else meanwhile, tb_input_read gives TB_ERR_IO. */
void tb_input_rewind(struct tb_input *input);

/* What the file's first bytes say it is. */
tb_compression tb_input_compression(const struct tb_input *input);

const char *tb_input_path(const struct tb_input *input);

/* Bytes taken from the file so far, before decompression, and its size (0: not
 * known), for progress. */
uint64_t tb_input_bytes_done(const struct tb_input *input);
uint64_t tb_input_bytes_total(const struct tb_input *input);

/* XXH3-128 of all bytes that were read so far, uncompressed, as 32 hex
 * digits. */
void tb_input_fingerprint(const struct tb_input *input, char text[33]);

/* NULL is accepted. */
void tb_input_close(struct tb_input *input);

#endif
