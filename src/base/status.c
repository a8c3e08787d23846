#include "status.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const status_names[] = {
    [TB_OK] = "ok",
    [TB_ERR_MEMORY] = "out of memory",
    [TB_ERR_LIMIT] = "limit",
    [TB_ERR_IO] = "input/output",
    [TB_ERR_CLOSED] = "closed",
    [TB_ERR_SYNTAX] = "syntax",
    [TB_ERR_CUT] = "cut off",
    [TB_ERR_TYPE] = "type",
    [TB_ERR_VALUE] = "value",
    [TB_ERR_UNSUPPORTED] = "unsupported",
    [TB_ERR_NOT_FOUND] = "not found",
    [TB_ERR_USAGE] = "usage",
    [TB_ERR_EMPTY] = "empty",
    [TB_ERR_INTERRUPTED] = "interrupted",
};

const char *tb_status_name(tb_status status)
{
    size_t count = sizeof(status_names) / sizeof(status_names[0]);
    if ((size_t)status >= count)
        return "unknown";
    return status_names[status];
}

TB_PRINTF(3, 0)
static void fill(struct tb_error *error, tb_status status, const char *format,
                 va_list arguments)
{
    *error = (struct tb_error){.status = status};
    (void)vsnprintf(error->message, sizeof(error->message), format, arguments);
}

tb_status tb_fail(struct tb_error *error, tb_status status, const char *format,
                  ...)
{
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        fill(error, status, format, arguments);
        va_end(arguments);
    }
    return status;
}

tb_status tb_fail_errno(struct tb_error *error, tb_status status,
                        const char *format, ...)
{
    int number = errno;
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        fill(error, status, format, arguments);
        va_end(arguments);
        size_t used = strlen(error->message);
        (void)snprintf(error->message + used, sizeof(error->message) - used,
                       ": %s", strerror(number));
    }
    return status;
}

void tb_error_set_path(struct tb_error *error, const char *path)
{
    if (error && path && error->path[0] == '\0')
        (void)snprintf(error->path, sizeof(error->path), "%s", path);
}

void tb_error_format(const struct tb_error *error, char *text, size_t size)
{
    char place[64] = "";
    if (error->line > 0)
        (void)snprintf(place, sizeof(place), "%" PRIu64 ":%" PRIu64 ": ",
                       error->line, error->offset);
    (void)snprintf(text, size, "%s%s%s%s%s%s", error->path,
                   error->path[0] ? (place[0] ? ":" : ": ") : "", place,
                   error->json_path, error->json_path[0] ? ": " : "",
                   error->message[0] ? error->message
                                     : tb_status_name(error->status));
}
