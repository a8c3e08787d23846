/* The list of merges of a tokenizer.json: "left right" or ["left", "right"],
 * the first one has rank 0. Private to bpe_json.c.
 *
 * A file of 9 MB has 280,000 of them, and each is looked up in a vocabulary
 * larger than a core's cache: two thirds of what a first start takes. So a long
 * list is read in parts, by two threads where there are two cores. What comes
 * of it, and which fault is told, is as if one had read it from front to back.
 */
#ifndef TB_MERGE_LIST_H
#define TB_MERGE_LIST_H

#include "bpe.h"
#include "json_reader.h"

struct tb_merge_list {
    struct tb_json_reader *reader;  /* over memory, in front of the list */
    struct tb_span json;            /* the list */
    const struct tb_vocab *strings; /* as the file writes them, indexed */
    size_t mark_len; /* bytes of the prefix inside words: it goes from the
                        second token of a merge when the two join */
    /* What else there is to do, at the same time on another thread. */
    void (*beside)(void *context);
    void *context;
};

/* Adds all merges to `bpe`, whose other members are not looked at. `beside` was
 * done when this went well, and is not under way in any case. TB_ERR_MEMORY, or
 * what the reader's error says. */
TB_NODISCARD tb_status tb_merge_list_read(const struct tb_merge_list *list,
                                          struct tb_bpe *bpe);

#endif
