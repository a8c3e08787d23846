/* Which known name did somebody mean who mistyped one? */
#ifndef TB_NEAREST_H
#define TB_NEAREST_H

#include <stddef.h>

/* The best match so far, while the caller goes through the known names:
 *
 *     struct tb_nearest nearest = tb_nearest_to("blok-size");
 *     tb_nearest_offer(&nearest, "block-size");
 *     nearest.name  ->  "block-size", or NULL when nothing was near
 */
struct tb_nearest {
    const char *typed; /* borrowed, like the names */
    const char *name;
    size_t distance; /* letters to insert, drop or change */
};

struct tb_nearest tb_nearest_to(const char *typed);

/* Takes `name` if it is nearer than what was offered before. */
void tb_nearest_offer(struct tb_nearest *nearest, const char *name);

#endif
