/* What a conversion did, told to a person or to a program.
 *
 * Both sort the series of `stats`, so no row may be added afterwards. Both
 * append to `buffer`; TB_ERR_LIMIT and TB_ERR_MEMORY leave a part of it there.
 */
#ifndef TB_SUMMARY_H
#define TB_SUMMARY_H

#include "buffer.h"
#include "stats.h"

/* Aligned text of up to 80 columns, with pictures in up to `width`, 0: without.
 * What did not happen is not shown. Names stand as recorded: whoever prints it
 * on a terminal takes care of control characters. */
TB_NODISCARD tb_status tb_summary_text(struct tb_stats *stats, unsigned width,
                                       struct tb_buffer *buffer);

/* One JSON object on one line. All keys are always there, and stay:
 *
 * rows, sessions, calls       numbers; calls = rows + all of skipped
 * skipped                     object: reason (tb_skip_key) -> calls
 * turns, input_length, output_length, ids_per_row
 *                             objects: min, max, mean, p50, p90, p99
 * input_tokens, output_tokens sums over all rows
 * prefix_cache                seen_tokens, prompt_tokens, share (0..1): tokens
 *                             in blocks that an infinite prefix cache has seen
 * recorded_cache              rows, cached_tokens, prompt_tokens, share: what
 *                             the server said of its own cache
 * counts                      rows with a server's count; differing: how many
 *                             differ from ours; server_leads: in how many of
 *                             these input_length is the server's; median and
 *                             max of the difference / the server's count
 * output_counted, output_unknown
 *                             rows whose output_length is not recorded
 * agents, priorities          lists of objects: name, rows, input_tokens,
 *                             output_tokens, differing, median_difference
 * losses                      records, cut_sessions, empty_sessions, answers,
 *                             lone_surrogates, bad_utf8, images
 * rendered                    rows whose text is the chat template's
 * failed_rows                 rows of calls that never ended
 * tried_again                 calls that never ended and were made again
 * branches                    calls that began a conversation of their own
 * overlaps                    calls that began before one had ended
 * messages                    list of texts, the first things that went wrong
 * message_count               all of them
 * block_size                  tokens
 * tokenizer                   name, origin, reason, fingerprint
 * format                      "nat" or "telemetry"
 * compat                      true or false
 * run                         inputs, bytes, records, encoded_tokens,
 *                             reused_tokens, seconds, output
 */
TB_NODISCARD tb_status tb_summary_json(struct tb_stats *stats,
                                       struct tb_buffer *buffer);

#endif
