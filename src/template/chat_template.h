/* A model's chat template: from messages and tools to the prompt, exactly as
 * Hugging Face transformers 5.24 renders it with
 * apply_chat_template(messages, tools=..., add_generation_prompt=True,
 * tokenize=False): jinja2 3.1.6 in its immutable sandbox with trim_blocks,
 * lstrip_blocks, loop controls, `generation` blocks, its own tojson,
 * raise_exception and strftime_now.
 *
 * What transformers does to the messages first is done here too: keys of a
 * message that are null are dropped, and reasoning is to be had under all of
 * its names.
 *
 *     TB_TRY(tb_chat_template_compile(source, &template, error));
 *     struct tb_chat_input input = {.messages = messages, ...};
 *     TB_TRY(tb_chat_template_render(template, &input, &arena, &out, error));
 *     ...
 *     tb_chat_template_free(template);
 *
 * Left out, each an error by its name: block, extends, include, import,
 * autoescape; the filters wordwrap, striptags, urlize, xmlattr, pprint and
 * random; integers beyond 64 bits. Templates come from strangers: they reach
 * no files, and steps, memory, output and nesting are limited (render.h,
 * jinja_parser.h).
 */
#ifndef TB_CHAT_TEMPLATE_H
#define TB_CHAT_TEMPLATE_H

#include "arena.h"
#include "buffer.h"
#include "memo.h"

/* Read-only once compiled, shared by threads. */
struct tb_chat_template;

/* A variable that every rendering has, such as bos_token. */
struct tb_special_token {
    struct tb_span name, text;
};

struct tb_chat_input {
    struct tb_span messages; /* raw JSON, a list of objects */
    struct tb_span tools;    /* raw JSON list; empty or null: None */
    const struct tb_special_token *special;
    size_t special_count;
    struct tb_span kwargs; /* raw JSON object of more variables, or empty; they
                              win over special tokens */
    struct tb_memo *memo;  /* keeps what messages were read to, or NULL */
    bool has_no_generation_prompt; /* add_generation_prompt=False */
    double now_s; /* strftime_now's clock: seconds since 1970, shown as UTC */
};

/* `source` is not needed afterwards. TB_ERR_SYNTAX with the line;
 * TB_ERR_UNSUPPORTED for what jinja2 has and this has not; TB_ERR_LIMIT;
 * TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_chat_template_compile(
    struct tb_span source, struct tb_chat_template **chat_template,
    struct tb_error *error);

/* Does the template speak of `name` anywhere, for example "tools"? */
bool tb_chat_template_mentions(const struct tb_chat_template *chat_template,
                               struct tb_span name);

/* Appends the prompt to `out`; `arena` holds what is needed meanwhile and may
 * be reset afterwards. TB_ERR_VALUE: the template refuses (raise_exception) or
 * fails as it would in Python, with that message; TB_ERR_SYNTAX or TB_ERR_CUT:
 * the input is no JSON; TB_ERR_UNSUPPORTED, TB_ERR_LIMIT, TB_ERR_MEMORY.
 * After a failure `out` is as it was. One thread per arena and buffer. */
TB_NODISCARD tb_status tb_chat_template_render(
    const struct tb_chat_template *chat_template,
    const struct tb_chat_input *input, struct tb_arena *arena,
    struct tb_buffer *out, struct tb_error *error);

/* NULL is accepted. */
void tb_chat_template_free(struct tb_chat_template *chat_template);

#endif
