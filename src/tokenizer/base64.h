/* Base64 (RFC 4648, with padding) to bytes. */
#ifndef TB_BASE64_H
#define TB_BASE64_H

#include "span.h"

/* Bytes that `len` characters become, at most. */
#define TB_BASE64_ROOM(len) ((len) / 4 * 3 + 3)

/* Writes the bytes that `text` stands for. False when it is no base64: another
 * character, padding that is missing or in the wrong place. */
bool tb_base64_decode(struct tb_span text, uint8_t *bytes, size_t *len);

#endif
