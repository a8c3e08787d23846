/* The server's counts of a call, by whichever API it was asked: OpenAI's chat
 * completions (also as LiteLLM and the toolkit write it), OpenAI's responses,
 * Anthropic's messages. Private to this layer.
 *
 * They disagree on one thing: whether `input_tokens` holds what came from the
 * cache. In Anthropic's own usage it does not, in all others it does. Here it
 * always does. */
#ifndef TB_USAGE_RECORD_H
#define TB_USAGE_RECORD_H

#include "json_reader.h"
#include "session.h"

/* Consumes the next value; one that is no object leaves `*usage` alone. With
 * `is_compat` the counts are those of prompt_tokens and completion_tokens, as
 * they are. */
TB_NODISCARD tb_status tb_usage_record_read(struct tb_json_reader *reader,
                                            struct tb_arena *arena,
                                            bool is_compat,
                                            struct tb_usage *usage);

#endif
