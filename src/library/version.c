#include "tracebake.h"

#include <assert.h>

#include "status.h"

/* A program that was built against one library runs with a later one: what it
 * keeps in memory of its own cannot change. */
static_assert(sizeof(struct tb_error) == 920, "size of tb_error");
static_assert(sizeof(tb_status) == sizeof(int), "size of tb_status");

const char *tb_version(void)
{
    return TB_VERSION;
}
