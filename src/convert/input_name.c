/* Names of outputs and sessions, from the names of inputs. */
#include <stdio.h>
#include <string.h>

#include "convert.h"
#include "input_name.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

size_t tb_input_name_stem_len(const char *path)
{
    size_t len = strlen(path);
    if (len > 3 && strcmp(path + len - 3, ".gz") == 0)
        len -= 3;
    else if (len > 4 && strcmp(path + len - 4, ".zst") == 0)
        len -= 4;
    const char *name = base_name(path);
    size_t first = (size_t)(name - path);
    for (size_t at = len; at > first + 1; at--)
        if (path[at - 1] == '.')
            return at - 1;
    return len;
}

struct tb_span tb_input_name_stem(const char *path)
{
    if (strcmp(path, "-") == 0)
        return TB_SPAN("stdin");
    const char *name = base_name(path);
    size_t len = tb_input_name_stem_len(path) - (size_t)(name - path);
    return (struct tb_span){(const uint8_t *)name, len};
}

void tb_convert_output_path(const char *input, char *path, size_t size)
{
    if (strcmp(input, "-") == 0)
        (void)snprintf(path, size, "-");
    else
        (void)snprintf(path, size, "%.*s_mooncake.jsonl",
                       (int)tb_input_name_stem_len(input), input);
}
