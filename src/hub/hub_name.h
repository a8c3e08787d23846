/* A model's name on the Hugging Face hub: "org/name" or "name", with
 * "@revision" behind it or without.
 *
 * What a name becomes part of a path with cannot lead out of the cache: only
 * what the hub allows in names is one. */
#ifndef TB_HUB_NAME_H
#define TB_HUB_NAME_H

#include "status.h"

enum {
    TB_HUB_PART_MAX = 96,      /* bytes of the organisation, of the name */
    TB_HUB_REVISION_MAX = 128, /* bytes of a revision */
    TB_HUB_COMMIT_LEN = 40     /* hex digits of a commit */
};

struct tb_hub_name {
    char repo[2 * TB_HUB_PART_MAX + 2];     /* "org/name" */
    char folder[2 * TB_HUB_PART_MAX + 16];  /* "models--org--name" */
    char revision[TB_HUB_REVISION_MAX + 1]; /* "main" when none is given */
    bool has_revision;
};

/* False when `text` cannot be a name on the hub. */
bool tb_hub_name_parse(const char *text, struct tb_hub_name *name);

/* The name of a repository's folder in the cache, "models--org--name", as a
 * name without a revision; false when it is no such folder. */
bool tb_hub_name_of_folder(const char *folder, struct tb_hub_name *name);

/* Has it no organisation? */
bool tb_hub_name_is_bare(const struct tb_hub_name *name);

/* May `text` be a file's name in the cache: letters, digits, '-', '_' and '.',
 * not with '.' first? */
bool tb_hub_is_file_name(struct tb_span text);

/* Is it the full name of a commit, 40 hex digits? Could it be its beginning, 5
 * to 39? */
bool tb_hub_is_commit(struct tb_span text);
bool tb_hub_is_short_commit(struct tb_span text);

#endif
