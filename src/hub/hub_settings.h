/* What the environment says about the Hugging Face hub, by the names that
 * huggingface_hub reads:
 *
 *     HF_ENDPOINT                     another hub than https://huggingface.co
 *     HF_TOKEN, HUGGING_FACE_HUB_TOKEN
 *     HF_TOKEN_PATH, $HF_HOME/token   a file with the token
 *     HF_HUB_DISABLE_IMPLICIT_TOKEN   send none
 *     HF_HUB_OFFLINE, TRANSFORMERS_OFFLINE
 *     HF_HUB_ETAG_TIMEOUT, HF_HUB_DOWNLOAD_TIMEOUT   seconds
 *     HF_HUB_CACHE, HF_HOME           where the cache is
 */
#ifndef TB_HUB_SETTINGS_H
#define TB_HUB_SETTINGS_H

#include "status.h"

/* `token` is a secret and never part of a message. */
struct tb_hub_settings {
    char endpoint[256];   /* without a '/' at its end */
    char token[256];      /* "": there is none */
    bool is_token_barred; /* HF_HUB_DISABLE_IMPLICIT_TOKEN is set */
    unsigned connect_s, stall_s;
};

/* TB_ERR_VALUE when an address or a token cannot be one. */
TB_NODISCARD tb_status tb_hub_settings_read(struct tb_hub_settings *settings,
                                            struct tb_error *error);

/* The variable that forbids the network, or NULL. */
const char *tb_hub_offline_reason(void);

/* The folder of the cache, as huggingface_hub finds it. False: no home. */
bool tb_hub_cache_folder(char *path, size_t size);

#endif
