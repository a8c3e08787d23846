#include "tokenizer_kind.h"

#include <string.h>

#include "json_reader.h"
#include "rank_file.h"

/* A tokenizer.json has a `model`, a tekken.json its `config` instead. */
static bool is_tekken(struct tb_span json)
{
    struct tb_json_reader reader;
    tb_json_reader_init_span(&reader, json, 0, 1);
    if (tb_json_enter_object(&reader) != TB_OK)
        return false;
    bool has_config = false;
    for (;;) {
        struct tb_span key;
        if (tb_json_next_key(&reader, &key) != TB_OK || !key.ptr ||
            tb_span_equal(key, TB_SPAN("model")))
            return false;
        has_config |= tb_span_equal(key, TB_SPAN("config"));
        if (has_config)
            return true;
        if (tb_json_skip(&reader) != TB_OK)
            return false;
    }
}

tb_tokenizer_kind tb_tokenizer_kind_of(const char *path, struct tb_span content)
{
    struct tb_span name = tb_span_of(path);
    size_t at = 0;
    while (at < content.len &&
           memchr("\xEF\xBB\xBF \t\r\n", content.ptr[at], 7))
        at++;
    // A model of SentencePiece may begin with these bytes too.
    bool is_model = tb_span_ends_with(name, TB_SPAN(".model"));
    if (at < content.len && content.ptr[at] == '{' && !is_model)
        return is_tekken(content) ? TB_TOKENIZER_TEKKEN : TB_TOKENIZER_JSON;
    if (tb_rank_file_is(content) ||
        tb_span_ends_with(name, TB_SPAN(".tiktoken")))
        return TB_TOKENIZER_RANKS;
    if (tb_span_ends_with(name, TB_SPAN(".json")))
        return TB_TOKENIZER_JSON;
    return TB_TOKENIZER_SENTENCE_PIECE;
}
