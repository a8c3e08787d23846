/* Which tokenizer a trace wants when nobody says: by the names of the models
 * in it, as the Python converter chooses. */
#ifndef TB_MODEL_CHOICE_H
#define TB_MODEL_CHOICE_H

#include "span.h"

/* Where a trace has no model that is known, and for telemetry. */
#define TB_DEFAULT_NAT_TOKENIZER "meta-llama/Llama-3.1-8B-Instruct"
#define TB_DEFAULT_TELEMETRY_TOKENIZER                                         \
    "deepseek-ai/DeepSeek-R1-Distill-Llama-8B"

/* The tokenizer of a model's name (any case), or NULL when it is not known. */
const char *tb_tokenizer_of_model(struct tb_span model);

#endif
