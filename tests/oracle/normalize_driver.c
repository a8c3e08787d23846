/* Answers normalize_oracle.py: a line "2e385bc" (the form's number, then UTF-8
 * as hexadecimal digits) gives a line with the normal form in such digits.
 *
 * Exits with 1 on a line it cannot read, on a failure, and when text that was
 * called inert comes out changed. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>

#include "normalize.h"

static int digit_value(int character)
{
    if (character >= '0' && character <= '9')
        return character - '0';
    if (character >= 'a' && character <= 'f')
        return character - 'a' + 10;
    return -1;
}

/* Reads one line into `text`; false at the end of the input. */
static bool read_question(enum tb_normal_form *form, struct tb_buffer *text)
{
    int character = getchar_unlocked();

    if (character == EOF)
        return false;
    *form = (enum tb_normal_form)(character - '0');
    tb_buffer_clear(text);
    while ((character = getchar_unlocked()) != '\n') {
        int high = digit_value(character);
        int low = digit_value(getchar_unlocked());
        if (high < 0 || low < 0 ||
            tb_buffer_append_byte(text, (uint8_t)(high << 4 | low)) != TB_OK) {
            fprintf(stderr, "cannot read a line\n");
            exit(1);
        }
    }
    return true;
}

static void write_answer(struct tb_span text)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < text.len; i++) {
        putchar_unlocked(digits[text.ptr[i] >> 4]);
        putchar_unlocked(digits[text.ptr[i] & 15]);
    }
    putchar_unlocked('\n');
}

int main(void)
{
    struct tb_buffer text = TB_BUFFER(1 << 24);
    struct tb_buffer normal = TB_BUFFER(1 << 28);
    enum tb_normal_form form;

    while (read_question(&form, &text)) {
        struct tb_span question = tb_buffer_span(&text);
        tb_buffer_clear(&normal);
        if (tb_normalize(question, form, &normal) != TB_OK) {
            fprintf(stderr, "cannot normalise\n");
            return 1;
        }
        struct tb_span answer = tb_buffer_span(&normal);
        if (tb_normalize_is_inert(question, form) &&
            !tb_span_equal(question, answer)) {
            fprintf(stderr, "inert text has changed\n");
            return 1;
        }
        write_answer(answer);
    }
    tb_buffer_release(&text);
    tb_buffer_release(&normal);
    return 0;
}
