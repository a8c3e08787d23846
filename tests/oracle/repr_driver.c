/* A JSON value per line in, its Python repr as a JSON string per line out;
 * "error" in brackets for a line that is none. For repr_oracle.py. */
#include <stdio.h>
#include <stdlib.h>

#include "json_writer.h"
#include "python_repr.h"

#define MAX_LEN ((size_t)1 << 30)

static bool read_line(struct tb_buffer *line)
{
    tb_buffer_clear(line);
    int byte = getchar();
    if (byte == EOF)
        return false;
    for (; byte != EOF && byte != '\n'; byte = getchar()) {
        if (tb_buffer_append_byte(line, (uint8_t)byte) != TB_OK)
            exit(1);
    }
    return true;
}

int main(void)
{
    struct tb_buffer line = TB_BUFFER(MAX_LEN);
    struct tb_buffer repr = TB_BUFFER(MAX_LEN);
    struct tb_buffer json = TB_BUFFER(MAX_LEN);
    while (read_line(&line)) {
        struct tb_error error = {0};
        tb_buffer_clear(&repr);
        tb_buffer_clear(&json);
        if (tb_python_repr(tb_buffer_span(&line), &repr, &error) != TB_OK) {
            printf("[\"%s\"]\n", error.message);
            continue;
        }
        if (tb_json_write_string(&json, tb_buffer_span(&repr)) != TB_OK)
            return 1;
        fwrite(json.ptr, 1, json.len, stdout);
        putchar('\n');
    }
    tb_buffer_release(&line);
    tb_buffer_release(&repr);
    tb_buffer_release(&json);
    return 0;
}
