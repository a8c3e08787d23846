/* Numbers and times as text, the way data files write them.
 *
 * The functions of C go by the locale of the program that we are a library of:
 * under de_DE.UTF-8, snprintf writes "1,5" and strtod stops at the point of
 * "1.5". These always go by the locale "C". All are for any thread, allocate
 * nothing, and leave the locale as it was.
 */
#ifndef TB_C_LOCALE_H
#define TB_C_LOCALE_H

#include <stdarg.h>
#include <stddef.h>
#include <time.h>

/* As strtod; `end` may be NULL. */
double tb_real_of_text(const char *text, char **end);

/* As snprintf of "%.*f", with `letter` one of eEfFgG. */
void tb_real_to_text(char *text, size_t size, int precision, char letter,
                     double value);

/* As vsnprintf. */
int tb_format_text(char *text, size_t size, const char *format,
                   va_list arguments);

/* As strftime: the bytes written without the zero, 0 when there is no room. */
size_t tb_time_to_text(char *text, size_t size, const char *format,
                       const struct tm *parts);

#endif
