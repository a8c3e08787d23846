// The header is C++ too.
#include <tracebake.h>
#include <tracebake.h>

int main()
{
    tb_error error;
    tb_tokenizer *tokenizer = nullptr;
    tb_load_options options = {};
    options.size = sizeof(options);
    tb_status status =
        tb_tokenizer_load("builtin", &options, &tokenizer, &error);
    tb_tokenizer_free(tokenizer);
    return status == TB_OK ? 0 : 1;
}
