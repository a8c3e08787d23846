#include "command_text.h"

#include <string.h>

static tb_status append_word(struct tb_buffer *text, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-+=./:,@%";
    TB_TRY(tb_buffer_append_byte(text, ' '));
    if (*word && word[strspn(word, plain)] == '\0')
        return tb_buffer_append(text, tb_span_of(word));
    TB_TRY(tb_buffer_append_byte(text, '\''));
    for (; *word; word++)
        TB_TRY(*word == '\'' ? tb_buffer_append(text, TB_SPAN("'\\''"))
                             : tb_buffer_append_byte(text, (uint8_t)*word));
    return tb_buffer_append_byte(text, '\'');
}

tb_status tb_command_text(struct tb_buffer *text, const char *command, int argc,
                          char *const *argv)
{
    TB_TRY(tb_buffer_printf(text, "tracebake %s", command));
    for (int i = 0; i < argc; i++)
        TB_TRY(append_word(text, argv[i]));
    return tb_buffer_append_byte(text, 0);
}
