/* A command line as one text, so that a shell takes it again. */
#ifndef TB_COMMAND_TEXT_H
#define TB_COMMAND_TEXT_H

#include "buffer.h"

/* Appends "tracebake COMMAND ARGUMENT..." and a zero byte. */
TB_NODISCARD tb_status tb_command_text(struct tb_buffer *text,
                                       const char *command, int argc,
                                       char *const *argv);

#endif
