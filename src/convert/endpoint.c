#include "endpoint.h"

/* The content of every message: a word that no template and no neighbour
 * changes the tokens of. */
#define WORD "word"

struct probe {
    const struct tb_chat_template_set *templates;
    const struct tb_chat_template *chat_template;
    struct tb_encoder *encoder;
    struct tb_buffer messages, text;
    struct tb_arena arena;
    struct tb_tokens tokens;
};

static tb_status count_tokens(struct probe *probe, struct tb_span text,
                              uint64_t *count)
{
    probe->tokens.count = 0;
    TB_TRY(tb_encoder_encode(probe->encoder, text, &probe->tokens));
    *count = probe->tokens.count;
    return TB_OK;
}

// The conversation up to and with user message `turn`.
static tb_status write_messages(struct probe *probe, uint32_t turn)
{
    const char *user = "{\"role\": \"user\", \"content\": \"" WORD "\"}";
    const char *both = "{\"role\": \"user\", \"content\": \"" WORD "\"}, "
                       "{\"role\": \"assistant\", \"content\": \"" WORD "\"}, ";
    tb_buffer_clear(&probe->messages);
    TB_TRY(tb_buffer_append_byte(&probe->messages, '['));
    for (uint32_t i = 0; i < turn; i++)
        TB_TRY(tb_buffer_append(&probe->messages, tb_span_of(both)));
    TB_TRY(tb_buffer_append(&probe->messages, tb_span_of(user)));
    return tb_buffer_append_byte(&probe->messages, ']');
}

static tb_status count_turn(struct probe *probe, uint32_t turn,
                            uint64_t word_count, uint64_t *added)
{
    TB_TRY(write_messages(probe, turn));
    struct tb_chat_input input = tb_chat_template_set_input(probe->templates);
    input.messages = tb_buffer_span(&probe->messages);
    tb_buffer_clear(&probe->text);
    tb_arena_reset(&probe->arena);
    TB_TRY(tb_chat_template_render(probe->chat_template, &input, &probe->arena,
                                   &probe->text, NULL));
    uint64_t count;
    TB_TRY(count_tokens(probe, tb_buffer_span(&probe->text), &count));
    uint64_t contents = word_count * (2 * (uint64_t)turn + 1);
    *added = count > contents ? count - contents : 0;
    return TB_OK;
}

static tb_status count_turns(struct probe *probe, struct tb_endpoint *endpoint)
{
    uint64_t word_count;
    TB_TRY(count_tokens(probe, TB_SPAN(WORD), &word_count));
    for (uint32_t turn = 0; turn < TB_ENDPOINT_MAX_TURNS; turn++) {
        TB_TRY(count_turn(probe, turn, word_count, &endpoint->added[turn]));
        endpoint->turn_count = turn + 1;
    }
    return TB_OK;
}

tb_status tb_endpoint_init(struct tb_endpoint *endpoint,
                           const struct tb_chat_template_set *templates,
                           const struct tb_tokenizer *tokenizer)
{
    *endpoint = (struct tb_endpoint){.status = TB_ERR_NOT_FOUND};
    const struct tb_chat_template_entry *entry =
        tb_chat_template_set_find(templates, false);
    if (!entry)
        return TB_OK;
    struct probe probe = {.templates = templates,
                          .chat_template = entry->compiled,
                          .messages = TB_BUFFER(1 << 20),
                          .text = TB_BUFFER(1 << 24)};
    tb_status status = tb_encoder_new(tokenizer, &probe.encoder);
    if (status == TB_OK)
        status = count_turns(&probe, endpoint);
    tb_encoder_free(probe.encoder);
    tb_buffer_release(&probe.messages);
    tb_buffer_release(&probe.text);
    tb_arena_release(&probe.arena);
    tb_tokens_release(&probe.tokens);
    endpoint->status = status;
    return status == TB_ERR_MEMORY ? status : TB_OK;
}

uint64_t tb_endpoint_added(const struct tb_endpoint *endpoint, uint32_t turn)
{
    if (endpoint->turn_count == 0)
        return 0;
    if (turn >= endpoint->turn_count)
        turn = endpoint->turn_count - 1;
    uint64_t before = turn > 0 ? endpoint->added[turn - 1] : 0;
    return endpoint->added[turn] > before ? endpoint->added[turn] - before : 0;
}
