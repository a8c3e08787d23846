/* SentencePiece's Unigram: of all ways to cut the text into pieces, the one
 * whose scores have the largest sum.
 *
 * Sums are kept as the library keeps them, in single precision from the
 * beginning of the text on, and taken back to zero when they have grown large,
 * since in a long text their rounding decides between ways that are almost
 * equal. Therefore a text cannot be cut and its parts encoded apart.
 */
#include "memory.h"
#include "sentence_piece.h"
#include "utf8.h"

#define NO_START UINT32_MAX
#define UNKNOWN_PENALTY 10.0F
#define LARGEST_SUM 100000.0F

/* The best way up to a byte: its last piece, and where that begins. */
struct tb_piece_step {
    float score;
    uint32_t start; /* NO_START: no way leads here */
    tb_token id;
};

struct lattice {
    const struct tb_sentence_piece *model;
    struct tb_piece_step *steps; /* by byte, the end included */
    struct tb_span text;
    size_t frontier; /* the last step that a way leads to */
};

static void offer(struct lattice *lattice, size_t end, float score,
                  size_t start, tb_token id)
{
    struct tb_piece_step *step = &lattice->steps[end];
    if (end > lattice->frontier)
        lattice->frontier = end;
    if (step->start == NO_START || score > step->score)
        *step = (struct tb_piece_step){score, (uint32_t)start, id};
}

/* No other piece has more than nothing: so symbols win, and of several ways
 * to read them that with the longest. */
static float score_of(const struct tb_sentence_piece *model, tb_token id,
                      size_t len)
{
    if (model->types[id] == TB_PIECE_USER_DEFINED)
        return (float)(0.1 * ((int)len - 1));
    return model->scores[id];
}

/* Offers every piece that begins at `at`; says whether one of them is the
 * character there, `len` bytes long. */
static bool offer_pieces(struct lattice *lattice, size_t at, size_t len)
{
    const struct tb_sentence_piece *model = lattice->model;
    const struct tb_trie *trie = &model->piece_trie;
    struct tb_span text = lattice->text;
    float before = lattice->steps[at].score;
    bool has_character = false;
    uint32_t node = 0;
    for (size_t end = at; end < text.len;) {
        node = tb_trie_step(trie, node, text.ptr[end++]);
        if (node == 0)
            break;
        tb_token id = trie->nodes[node].id;
        if (id == TB_NO_TOKEN || model->types[id] == TB_PIECE_UNUSED)
            continue;
        offer(lattice, end, score_of(model, id, end - at) + before, at, id);
        has_character |= end - at == len;
    }
    return has_character;
}

// Takes what has come together so far off all sums that are still open.
static void lower_sums(struct lattice *lattice, size_t at)
{
    float sum = lattice->steps[at].score;
    if (sum >= -LARGEST_SUM && sum <= LARGEST_SUM)
        return;
    for (size_t i = at; i <= lattice->frontier; i++)
        if (i == at || lattice->steps[i].start != NO_START)
            lattice->steps[i].score -= sum;
    lattice->steps[at].score = 0.0F;
}

static void find_best(struct lattice *lattice)
{
    const struct tb_sentence_piece *model = lattice->model;
    float unknown_score = model->least_score - UNKNOWN_PENALTY;
    for (size_t i = 0; i <= lattice->text.len; i++)
        lattice->steps[i] = (struct tb_piece_step){0.0F, NO_START, TB_NO_TOKEN};
    for (size_t at = 0, len; at < lattice->text.len; at += len) {
        uint32_t code_point;
        len = tb_utf8_decode(lattice->text, at, &code_point);
        lower_sums(lattice, at);
        if (!offer_pieces(lattice, at, len))
            offer(lattice, at + len, unknown_score + lattice->steps[at].score,
                  at, model->unknown);
    }
}

/* The steps of the best way lie behind each other from the end; this turns
 * them round, so that each tells where its piece ends. */
static void turn_round(struct tb_piece_step *steps, size_t len)
{
    size_t end = len;
    uint32_t behind = NO_START;
    while (end > 0) {
        uint32_t start = steps[end].start;
        steps[end].start = behind;
        behind = (uint32_t)end;
        end = start;
    }
    steps[0].start = behind;
}

tb_status tb_piece_encode_unigram(const struct tb_sentence_piece *model,
                                  struct tb_piece_work *work,
                                  struct tb_span part, struct tb_tokens *tokens)
{
    if (part.len >= UINT32_MAX)
        return TB_ERR_LIMIT;
    struct tb_piece_step *steps = tb_array_grow(
        work->steps, &work->steps_capacity, part.len + 1, sizeof(*steps));
    if (!steps)
        return TB_ERR_MEMORY;
    work->steps = steps;
    size_t start = tokens->count;
    find_best(&(struct lattice){model, steps, part, 0});
    turn_round(steps, part.len);
    for (size_t at = 0; at < part.len; at = steps[at].start) {
        size_t end = steps[at].start;
        struct tb_span text = {part.ptr + at, end - at};
        TB_TRY(tb_piece_append(model, text, steps[end].id, tokens, start));
    }
    return TB_OK;
}
