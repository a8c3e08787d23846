/* What a comparison of a replay with its recording found, told to a person or
 * to a program.
 *
 * Both sort the series of `check`. Both append to `buffer`; TB_ERR_LIMIT and
 * TB_ERR_MEMORY leave a part of it there. */
#ifndef TB_VERIFICATION_H
#define TB_VERIFICATION_H

#include "buffer.h"
#include "replay_cause.h"

/* All borrowed. */
struct tb_verification {
    const char *run_path, *calls_path;
    const char *rows_path; /* "" when it is not known */
    struct tb_replay_check *check;
    const struct tb_replay_run *run;
    const struct tb_replayed_rows *rows;
    const struct tb_replay_causes *causes;
};

/* Is the replay the recorded load? Yes when everything is within the tolerance
 * and there is no cause why it would not be. */
bool tb_verification_is_good(const struct tb_verification *verification);

/* Text of up to 80 columns. What did not happen is not shown. Names stand as
 * recorded: whoever prints it on a terminal takes care of control characters.
 */
TB_NODISCARD tb_status tb_verification_text(
    const struct tb_verification *verification, struct tb_buffer *buffer);

/* One JSON object on one line. All keys are always there, but where it says
 * "when known", and stay:
 *
 * run, calls_file, rows_file  paths; rows_file is "" when not known
 * equal                 the replay is the recorded load
 * calls                 with a row; skipped_calls: without
 * requests              that are measured; warmup_requests: others
 * answered, failed, missing   calls; they add up to `calls`
 * extra, repeated       requests of no call, and of one that has one already
 * lost_lines            object: calls, requests: lines that could not be read
 * tolerance             tokens, when given; late: ms, when given
 * prompt_tokens, output_tokens, gap_ms, start_ms
 *                       objects: recorded, replayed: count, mean, p50, p90,
 *                       max; exact, within, off, not_compared: calls. Times
 *                       are never called exact, and off only with `late`
 * prompts_counted_by    object: server, aiperf: calls
 * late_ms, start_late_ms
 *                       objects: p50, p90, max: how much later than recorded
 *                       turns came, and sessions began, counted from the
 *                       first; early_max: the most that one came early
 * cached                object: calls of which both told, recorded_tokens,
 *                       recorded_prompt_tokens, replayed_tokens,
 *                       replayed_prompt_tokens, recorded_share, replayed_share
 * worst                 list of the calls that are furthest off, up to 10: row,
 *                       session_id, turn; when compared, each with `replayed_`
 *                       before its name too: prompt_tokens, output_tokens,
 *                       start_ms (turn 0) or gap_ms
 * without_request       list of the first 10: row, session_id, turn
 * without_call          list of the first 10: session_id, turn
 * settings              object: aiperf, block_size, tokenizer, endpoint of the
 *                       run ("" and 0: not known); has_rows_meta, and what
 *                       that says: rows_block_size, rows_tokenizer
 * causes                list of objects: cause, message, change; the names of
 *                       causes are in docs/FORMATS.md
 * messages              list of texts: the first line lost of each file, and
 *                       why settings could not be read
 */
TB_NODISCARD tb_status tb_verification_json(
    const struct tb_verification *verification, struct tb_buffer *buffer);

#endif
