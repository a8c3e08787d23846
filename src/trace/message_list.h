/* The messages of a prompt, in the forms in which frameworks record them.
 * Private to this layer.
 *
 * An item of the list is an object with `role` (OpenAI) or `type` (LangChain)
 * and `content`; or a bare string (LlamaIndex). Beyond what the Python
 * converters know, and only when they are not to be imitated: `text`, `items`
 * or `parts` for `content`, one object for a list of one, and an object that
 * holds a list of `messages` (Semantic Kernel). */
#ifndef TB_MESSAGE_LIST_H
#define TB_MESSAGE_LIST_H

#include "json_reader.h"
#include "memo.h"
#include "session.h"

struct tb_message_list {
    struct tb_arena *arena;
    struct tb_memo *memo;     /* of objects that came before, or NULL */
    bool is_compat;           /* as the Python converters see it */
    bool is_shown_by_repr;    /* contents that are no string become Python's
                                 str(), which escapes a lone surrogate: it does
                                 not count there */
    struct tb_message *items; /* in the arena */
    size_t count, capacity;
    uint32_t image_count; /* parts of contents that are no text */
    /* Seen by readers of its own; to be added to those of the reader. */
    uint64_t lone_surrogate_count, bad_utf8_count;
};

/* Reads the next value of a reader over memory and appends its messages.
 * Whatever is no message is stepped over. With is_compat a string is taken
 * letter by letter and an object key by key, as iterating does in Python. */
TB_NODISCARD tb_status tb_message_list_read(struct tb_message_list *list,
                                            struct tb_json_reader *reader);

/* Gives what was read to the call whose prompt it is. */
void tb_message_list_give(const struct tb_message_list *list,
                          struct tb_call *call);

#endif
