/* The figures of a trace as a page: one HTML file that asks for nothing from
 * anywhere, shows them as charts and tables, and opens at once however many
 * rows there were, since what it holds is counted here and not there.
 *
 * Its parts are src/report/page/ and data/uplot/; the build puts them together
 * with their hashes, which the page's Content Security Policy admits and
 * nothing else. Names of a trace get there only as strings of one JSON object,
 * and on the screen only as text.
 */
#ifndef TB_ANALYSIS_PAGE_H
#define TB_ANALYSIS_PAGE_H

#include "analysis.h"
#include "json_form.h"

enum {
    TB_PAGE_CURVES = 8,      /* of agents: those with most rows or calls */
    TB_PAGE_LANE_CALLS = 200 /* of a session that are drawn: its first */
};

/* Appends the page. Of agents and priorities it lists
 * TB_ANALYSIS_MOST_GROUPS. The analysis is finished; sorts its tallies.
 * TB_ERR_LIMIT or TB_ERR_MEMORY leave a part of it in `buffer`. */
TB_NODISCARD tb_status tb_analysis_page(const struct tb_analysis_report *report,
                                        struct tb_buffer *buffer);

/* Its charts: one JSON object on one line. Every point is exact; between the
 * points of a curve of lengths or cache sizes, which lie closer than 1/32 of
 * their value, a curve only rises or only falls.
 *
 * agents, priorities  how many there are
 * caches              list of {block_size, blocks: [sizes], tokens: [served]}:
 *                     LRU caches, up to the first that serves all
 * prompt_length, new_length, output_length
 *                     objects: at: [tokens], curves: list of {name,
 *                     count, rows: [rows of at least so many]}; the first,
 *                     without a name, of all rows, then of agents
 * gaps                the same in ms: curves delay and interval, with calls
 *                     also recorded
 * times               width_ms, first_ms (of the first bin), rows,
 *                     prompt_tokens, new_tokens, sessions: lists by bin
 *                     (time_bins.h)
 * calls               null without calls, else an object:
 *   agents, models, sessions
 *                     how many there are
 *   service           as prompt_length, in ms, of agents with most calls
 *   in_flight         width_ms, and least, most, mean: lists by bin, the first
 *                     from the first start on (in_flight.h)
 *   lanes             list of {session, calls, shown: [[start, end, state]]}:
 *                     the TB_CALL_LANES sessions with most calls, of each the
 *                     first TB_PAGE_LANE_CALLS; ms since the first start; end
 *                     is null when it is not known; state is 1 for one that
 *                     never ended, 2 for one that was sent again
 */
TB_NODISCARD tb_status tb_analysis_curves(
    const struct tb_analysis_report *report, struct tb_buffer *buffer);

/* The calls for tb_analysis_curves; `calls` may be NULL. */
void tb_call_curves(struct tb_json_form *form, struct tb_call_analysis *calls);

/* Appends `json` so that it can stand between <script> and </script>: nothing
 * in it ends that, or begins a comment. */
TB_NODISCARD tb_status tb_page_json(struct tb_buffer *buffer,
                                    struct tb_span json);

#endif
