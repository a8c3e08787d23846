#include "rank_file.h"

#include <string.h>

#include "base64.h"

/* Ranks without a token cost memory, and a file that is all gaps is damaged:
 * beyond its own length in bytes there are at most so many. */
enum { MOST_GAPS = 1 << 17 };

/* Where the reader stands. */
struct rank_reader {
    struct tb_span content;
    tb_token last_rank; /* the largest that is accepted */
    size_t at;          /* where the line begins */
    uint64_t line;
    struct tb_buffer bytes; /* of a token */
    struct tb_error *error;
};

static tb_status fail_at(const struct rank_reader *reader, tb_status status)
{
    if (reader->error) {
        reader->error->line = reader->line;
        reader->error->offset = reader->at;
    }
    return status;
}

static struct tb_span line_at(struct tb_span content, size_t at)
{
    struct tb_span rest = tb_span_from(content, at);
    const uint8_t *end = rest.len ? memchr(rest.ptr, '\n', rest.len) : NULL;
    if (end)
        rest.len = (size_t)(end - rest.ptr);
    return rest;
}

static struct tb_span without_return(struct tb_span line)
{
    if (line.len && line.ptr[line.len - 1] == '\r')
        line.len--;
    return line;
}

/* Digits only, and at most `last`. */
static bool read_rank(struct tb_span digits, tb_token last, tb_token *rank)
{
    uint64_t value = 0;
    for (size_t i = 0; i < digits.len; i++) {
        if (digits.ptr[i] < '0' || digits.ptr[i] > '9' || value > last)
            return false;
        value = value * 10 + (digits.ptr[i] - '0');
    }
    *rank = (tb_token)value;
    return digits.len > 0 && value <= last;
}

static tb_status read_line(struct rank_reader *reader, struct tb_span line,
                           struct tb_vocab *vocab)
{
    const uint8_t *space = memchr(line.ptr, ' ', line.len);
    tb_token rank;
    if (!space)
        return fail_at(reader, tb_fail(reader->error, TB_ERR_SYNTAX,
                                       "expected a token in base64, a space "
                                       "and its rank"));
    struct tb_span token = {line.ptr, (size_t)(space - line.ptr)};
    if (token.len > TB_VOCAB_MAX_TOKEN_LEN)
        return fail_at(reader, tb_fail(reader->error, TB_ERR_LIMIT,
                                       "a token is longer than %d bytes",
                                       TB_VOCAB_MAX_TOKEN_LEN));
    tb_buffer_clear(&reader->bytes);
    TB_TRY(tb_buffer_reserve(&reader->bytes, TB_BASE64_ROOM(token.len)));
    if (!tb_base64_decode(token, reader->bytes.ptr, &reader->bytes.len) ||
        reader->bytes.len == 0)
        return fail_at(reader, tb_fail(reader->error, TB_ERR_SYNTAX,
                                       "'%.*s' is no token in base64",
                                       tb_span_shown(token, 60),
                                       (const char *)token.ptr));
    struct tb_span digits = tb_span_from(line, token.len + 1);
    if (!read_rank(digits, reader->last_rank, &rank))
        return fail_at(reader,
                       tb_fail(reader->error, TB_ERR_VALUE,
                               "'%.*s' is no rank from 0 to %u",
                               tb_span_shown(digits, 60),
                               (const char *)digits.ptr, reader->last_rank));
    tb_status status =
        tb_vocab_set(vocab, rank, tb_buffer_span(&reader->bytes));
    if (status == TB_ERR_VALUE)
        tb_fail(reader->error, status, "rank %u is there twice", rank);
    return status == TB_OK ? TB_OK : fail_at(reader, status);
}

bool tb_rank_file_is(struct tb_span content)
{
    size_t at = 0;
    while (at < content.len &&
           (content.ptr[at] == '\n' || content.ptr[at] == '\r'))
        at++;
    struct tb_span line = without_return(line_at(content, at));
    const uint8_t *space = line.len ? memchr(line.ptr, ' ', line.len) : NULL;
    if (!space)
        return false;
    size_t len = (size_t)(space - line.ptr);
    uint8_t bytes[TB_BASE64_ROOM(256)];
    tb_token rank;
    return len > 0 && len <= 256 &&
           tb_base64_decode((struct tb_span){line.ptr, len}, bytes, &len) &&
           read_rank(tb_span_from(line, (size_t)(space - line.ptr) + 1),
                     TB_VOCAB_MAX_ID, &rank);
}

static tb_status read_lines(struct rank_reader *reader, struct tb_vocab *vocab)
{
    while (reader->at < reader->content.len) {
        struct tb_span line = line_at(reader->content, reader->at);
        size_t next = reader->at + line.len + 1;
        line = without_return(line);
        if (line.len)
            TB_TRY(read_line(reader, line, vocab));
        reader->at = next;
        reader->line++;
    }
    return TB_OK;
}

// Goes back to the line with this rank, which is there.
static void go_to_rank(struct rank_reader *reader, tb_token wanted)
{
    reader->at = 0;
    for (reader->line = 1;; reader->line++) {
        struct tb_span line = line_at(reader->content, reader->at);
        struct tb_span text = without_return(line);
        const uint8_t *space =
            text.len ? memchr(text.ptr, ' ', text.len) : NULL;
        tb_token rank;
        if (space &&
            read_rank(tb_span_from(text, (size_t)(space - text.ptr) + 1),
                      reader->last_rank, &rank) &&
            rank == wanted)
            return;
        reader->at += line.len + 1;
    }
}

static tb_status check(struct rank_reader *reader, const struct tb_vocab *vocab)
{
    tb_token id, twin;
    if (tb_vocab_find_twins(vocab, &id, &twin)) {
        go_to_rank(reader, twin);
        return fail_at(reader,
                       tb_fail(reader->error, TB_ERR_VALUE,
                               "ranks %u and %u are the same token", id, twin));
    }
    int byte = tb_vocab_missing_byte(vocab);
    if (byte < 0)
        return TB_OK;
    return tb_fail(reader->error, TB_ERR_VALUE,
                   "byte 0x%02X is no token: text with it would have no ids",
                   (unsigned)byte);
}

tb_status tb_rank_file_read(struct tb_span content, struct tb_vocab *vocab,
                            struct tb_error *error)
{
    size_t last = content.len + MOST_GAPS;
    struct rank_reader reader = {
        .content = content,
        .last_rank = last < TB_VOCAB_MAX_ID ? (tb_token)last : TB_VOCAB_MAX_ID,
        .line = 1,
        .bytes = TB_BUFFER(2 * TB_VOCAB_MAX_TOKEN_LEN),
        .error = error};
    tb_status status = read_lines(&reader, vocab);
    if (status == TB_OK)
        status = tb_vocab_index(vocab, NULL, NULL);
    if (status == TB_OK)
        status = check(&reader, vocab);
    tb_buffer_release(&reader.bytes);
    return status;
}
