#include "c_locale.h"

#include <assert.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

// Made once and kept: it is needed for every number with a point.
static pthread_once_t is_made = PTHREAD_ONCE_INIT;
static locale_t made;

static void make(void)
{
    made = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* 0 if there is no memory for it, which the C libraries that we know do not
 * need for "C"; the program's own locale has to do then. */
static locale_t c_locale(void)
{
    (void)pthread_once(&is_made, make);
    return made;
}

double tb_real_of_text(const char *text, char **end)
{
    locale_t locale = c_locale();
    return locale ? strtod_l(text, end, locale) : strtod(text, end);
}

// Not every C library has a vsnprintf that takes a locale.
int tb_format_text(char *text, size_t size, const char *format,
                   va_list arguments)
{
    locale_t locale = c_locale();
    locale_t before = locale ? uselocale(locale) : (locale_t)0;
    // The format is the caller's, as it is vsnprintf's.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    int len = vsnprintf(text, size, format, arguments);
#pragma GCC diagnostic pop
    if (before)
        (void)uselocale(before);
    return len;
}

static void format_one(char *text, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)tb_format_text(text, size, format, arguments);
    va_end(arguments);
}

void tb_real_to_text(char *text, size_t size, int precision, char letter,
                     double value)
{
    char format[] = "%.*f";
    assert(letter && strchr("eEfFgG", letter));
    format[3] = letter;
    format_one(text, size, format, precision, value);
}

size_t tb_time_to_text(char *text, size_t size, const char *format,
                       const struct tm *parts)
{
    locale_t locale = c_locale();
    // The format is the caller's, as it is strftime's.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    return locale ? strftime_l(text, size, format, parts, locale)
                  : strftime(text, size, format, parts);
#pragma GCC diagnostic pop
}
