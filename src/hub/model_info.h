/* What the hub says of a model at a revision (/api/models/NAME/revision/REV):
 * the commit, and which of the wanted files it has. Untrusted JSON. */
#ifndef TB_MODEL_INFO_H
#define TB_MODEL_INFO_H

#include "hub_name.h"

enum {
    TB_HUB_FILE_MAX = 96,  /* bytes of a file's name */
    TB_HUB_FILES_MAX = 16, /* names in each list */
};

/* Which files are wanted. "*.end" stands for any name with that end. The lists
 * end with NULL. */
struct tb_hub_files {
    const char *const *main;   /* the first that is there is the one */
    const char *const *beside; /* all that are there */
};

struct tb_model_info {
    char commit[TB_HUB_COMMIT_LEN + 1];
    char main[TB_HUB_FILE_MAX + 1]; /* "": none of them is there */
    unsigned main_count; /* files that the same name of the list stands for */
    char beside[TB_HUB_FILES_MAX][TB_HUB_FILE_MAX + 1];
    size_t beside_count;
};

/* `is_there` names the files of a folder one by one; picks those wanted. */
void tb_model_info_offer(struct tb_model_info *info, struct tb_span file,
                         const struct tb_hub_files *files);

/* TB_ERR_SYNTAX and its kin when it is not what a hub says, TB_ERR_VALUE when
 * the commit is none. Names in folders are passed over. */
TB_NODISCARD tb_status tb_model_info_read(struct tb_span json,
                                          const struct tb_hub_files *files,
                                          struct tb_model_info *info,
                                          struct tb_error *error);

#endif
