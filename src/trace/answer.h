/* The text of an answer, out of the message that the server sent: what the
 * model wrote, in the order in which it writes it: reasoning, content, names
 * and arguments of tool calls. For counting its tokens when the server did not.
 * Private to this layer. */
#ifndef TB_ANSWER_H
#define TB_ANSWER_H

#include "json_reader.h"

/* Reads the next value of a reader over memory: an assistant message of
 * OpenAI's, LangChain's or LlamaIndex's form; anything else has no text.
 * `*text` borrows from the record or lives in `arena`. */
TB_NODISCARD tb_status tb_answer_read(struct tb_json_reader *reader,
                                      struct tb_arena *arena,
                                      struct tb_span *text);

#endif
