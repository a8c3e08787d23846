/* Some of the sessions of a file of rows, whole, with the mix of all.
 *
 * A session here is one that was recorded: with those that name it as their
 * parent_session_id. Sessions are put in order of which agents are in them, of
 * their rows, and of their tokens; this order is cut into as many equal parts
 * as sessions are wanted, and one is drawn from each (stratified sampling). So
 * agents, turns and lengths keep their shares up to what one session makes.
 *
 *     struct tb_session_sample sample = {0};
 *     TB_TRY(tb_session_sample_add(&sample, &record));       // all rows
 *     tb_session_sample_draw(&sample, seed, count);
 *     if (tb_session_sample_takes(&sample, &record))         // all rows again
 *         ...
 *
 * Only whole numbers are computed with, so a seed gives the same sample on
 * every machine. 64 bytes and its name for each session. One thread at a time;
 * zero-initialised is empty and ready.
 */
#ifndef TB_SESSION_SAMPLE_H
#define TB_SESSION_SAMPLE_H

#include "mooncake_record.h"
#include "name_table.h"

struct tb_sampled_session {
    uint64_t agents; /* a bit each, the 64th for all further ones */
    uint64_t tokens; /* of all its rows' lengths, up to UINT64_MAX */
    uint32_t row_count;
    uint32_t number; /* by first appearance */
    bool is_taken;
};

struct tb_session_sample {
    struct tb_name_table names, agents;
    struct tb_sampled_session *items; /* by number */
    size_t capacity;
    uint32_t count;
    uint32_t *named;    /* session of a name, by the name's number */
    uint32_t *nameless; /* rows without a session are one each: in order */
    size_t named_capacity, nameless_capacity;
    size_t nameless_count, next_nameless;
    uint32_t taken_count;
    uint64_t taken_tokens;
};

/* Takes a row into account. TB_ERR_MEMORY, TB_ERR_LIMIT beyond 2^32 - 2
 * sessions. */
TB_NODISCARD tb_status tb_session_sample_add(
    struct tb_session_sample *sample, const struct tb_mooncake_record *record);

/* Draws `count` sessions, 1 to all of them. */
void tb_session_sample_draw(struct tb_session_sample *sample, uint64_t seed,
                            uint32_t count);

/* Draws as many sessions as come out at no more than `tokens`, starting from
 * what the mean of all promises. False when not even one does; then none is
 * drawn. */
bool tb_session_sample_draw_tokens(struct tb_session_sample *sample,
                                   uint64_t seed, uint64_t tokens);

/* Is the row of a session that was drawn? To be asked of all rows, in their
 * order, once. */
bool tb_session_sample_takes(struct tb_session_sample *sample,
                             const struct tb_mooncake_record *record);

void tb_session_sample_release(struct tb_session_sample *sample);

#endif
