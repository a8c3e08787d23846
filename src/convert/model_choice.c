#include "model_choice.h"

#include <stddef.h>

// In this order: the first that the model's name contains.
static const struct {
    const char *part;
    const char *tokenizer;
} known_models[] = {
    {"llama-3.3-70b", "meta-llama/Llama-3.3-70B-Instruct"},
    {"llama-3.1-70b", "meta-llama/Llama-3.1-70B-Instruct"},
    {"llama-3.1-8b", "meta-llama/Llama-3.1-8B-Instruct"},
    {"llama-3-70b", "meta-llama/Meta-Llama-3-70B-Instruct"},
    {"llama-3-8b", "meta-llama/Meta-Llama-3-8B-Instruct"},
};

static bool begins_with(struct tb_span text, struct tb_span part)
{
    if (part.len > text.len)
        return false;
    for (size_t i = 0; i < part.len; i++) {
        uint8_t byte = text.ptr[i];
        if (byte >= 'A' && byte <= 'Z')
            byte |= 0x20;
        if (byte != part.ptr[i])
            return false;
    }
    return true;
}

const char *tb_tokenizer_of_model(struct tb_span model)
{
    for (size_t i = 0; i < sizeof(known_models) / sizeof(known_models[0]); i++)
        for (size_t at = 0; at < model.len; at++)
            if (begins_with(tb_span_from(model, at),
                            tb_span_of(known_models[i].part)))
                return known_models[i].tokenizer;
    return NULL;
}
