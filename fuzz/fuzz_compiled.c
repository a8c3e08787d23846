/* Proves: a compiled tokenizer that was changed at a few places, cut or added
 * to is not used; the file as it was written is.
 *
 * The first two bytes are how much is cut off, then one byte how much is added;
 * then come changes: three bytes of place, one of what is put there. */
#include "fuzz.h"

#include <string.h>

#include "compiled.h"
#include "tokenizer.h"

static struct tb_buffer whole = {.max_len = 1 << 24};

// The file that is changed; made once.
static void make_whole(void)
{
    struct tb_tokenizer *tokenizer;
    const char *path = fuzz_file((const uint8_t *)"", 0);
    FUZZ_CHECK(tb_tokenizer_open(FUZZ_TOKENIZER, &tokenizer, NULL) == TB_OK);
    // Saving renames another file to this name, so it goes beside it.
    char beside[300];
    (void)snprintf(beside, sizeof(beside), "%s.form", path);
    FUZZ_CHECK(tb_compiled_save(tokenizer, beside) == TB_OK);
    char fingerprint[33];
    FUZZ_CHECK(fuzz_read_file(beside, 1 << 16, &whole, fingerprint) == TB_OK);
    (void)remove(beside);
    tb_tokenizer_free(tokenizer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tb_buffer file = TB_BUFFER(1 << 25);
    struct tb_tokenizer *tokenizer;
    if (whole.len == 0)
        make_whole();
    size_t cut = fuzz_take(&data, &size, 2) % whole.len;
    FUZZ_CHECK(tb_buffer_append(&file, (struct tb_span){
                                           whole.ptr, whole.len - cut}) ==
               TB_OK);
    for (uint32_t more = fuzz_take(&data, &size, 1); more > 0; more--)
        FUZZ_CHECK(tb_buffer_append_byte(&file, 0) == TB_OK);
    while (size > 0) {
        size_t at = fuzz_take(&data, &size, 3) % file.len;
        file.ptr[at] = (uint8_t)fuzz_take(&data, &size, 1);
    }
    bool is_same = file.len == whole.len &&
                   memcmp(file.ptr, whole.ptr, whole.len) == 0;
    tb_status status =
        tb_compiled_load(fuzz_file(file.ptr, file.len), &tokenizer);
    FUZZ_CHECK(status == (is_same ? TB_OK : TB_ERR_NOT_FOUND));
    if (status == TB_OK)
        tb_tokenizer_free(tokenizer);
    tb_buffer_release(&file);
    return 0;
}
