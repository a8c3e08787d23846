/* Proves: whatever a hub answers, what is kept of it to become part of a path
 * (the commit, files' names, ETags) is a name that leads nowhere else. */
#include "fuzz.h"

#include <string.h>

#include "http_head.h"
#include "model_info.h"

static const char *const main_files[] = {"tokenizer.json", "*.model", NULL};
static const char *const beside_files[] = {"config.json", "*.jinja", NULL};
static const struct tb_hub_files files = {main_files, beside_files};

static void check_name(const char *name)
{
    FUZZ_CHECK(name[0] == '\0' || tb_hub_is_file_name(tb_span_of(name)));
    FUZZ_CHECK(!strchr(name, '/') && name[0] != '.');
}

static void check_info(struct tb_span json)
{
    struct tb_model_info info;
    struct tb_error error = {0};
    tb_status status = tb_model_info_read(json, &files, &info, &error);
    FUZZ_CHECK(error.status == status);
    if (status != TB_OK)
        return;
    FUZZ_CHECK(tb_hub_is_commit(tb_span_of(info.commit)));
    check_name(info.main);
    for (size_t i = 0; i < info.beside_count; i++)
        check_name(info.beside[i]);
}

static void check_head(struct tb_span text)
{
    struct tb_http_head head = tb_http_head_none();
    while (text.len > 0) {
        const uint8_t *end = memchr(text.ptr, '\n', text.len);
        size_t len = end ? (size_t)(end - text.ptr) + 1 : text.len;
        tb_http_head_add(&head, (struct tb_span){text.ptr, len});
        text = tb_span_from(text, len);
        check_name(head.etag.text);
        check_name(head.linked_etag.text);
        check_name(head.error_code);
        FUZZ_CHECK(!head.etag.is_bad || !head.etag.text[0]);
        FUZZ_CHECK(!head.commit.text[0] ||
                   tb_hub_is_commit(tb_span_of(head.commit.text)));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_info((struct tb_span){data, size});
    check_head((struct tb_span){data, size});
    return 0;
}
