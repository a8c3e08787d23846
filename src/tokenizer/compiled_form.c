#include "compiled_form.h"

#include <string.h>

enum {
    ALIGNMENT = 16,
    BORROWED_MIN_LEN = 64 << 10 /* bytes; shorter ones are copied */
};

void tb_form_refuse(struct tb_compiled_form *form)
{
    if (form->status == TB_OK)
        form->status = TB_ERR_SYNTAX;
}

// The next part begins where the kind changes.
static struct tb_form_part *part_for(struct tb_compiled_form *form,
                                     const uint8_t *borrowed)
{
    size_t count = form->part_count;
    if (count == 0 || borrowed || form->parts[count - 1].borrowed)
        form->parts[form->part_count++] = (struct tb_form_part){borrowed, 0};
    return &form->parts[form->part_count - 1];
}

static void write(struct tb_compiled_form *form, struct tb_span bytes)
{
    // One part more may follow what is borrowed.
    bool is_borrowed =
        bytes.len >= BORROWED_MIN_LEN && form->part_count + 2 <= TB_FORM_PARTS;
    if (form->status == TB_OK && !is_borrowed)
        form->status = tb_buffer_append(&form->out, bytes);
    if (form->status != TB_OK)
        return;
    part_for(form, is_borrowed ? bytes.ptr : NULL)->len += bytes.len;
    form->len += bytes.len;
}

size_t tb_form_parts(const struct tb_compiled_form *form,
                     struct tb_span parts[TB_FORM_PARTS])
{
    const uint8_t *own = form->out.ptr;
    for (size_t i = 0; i < form->part_count; i++) {
        const struct tb_form_part *part = &form->parts[i];
        parts[i] =
            (struct tb_span){part->borrowed ? part->borrowed : own, part->len};
        if (!part->borrowed)
            own += part->len;
    }
    return form->part_count;
}

// The next bytes of the file; NULL when there are not so many.
static const uint8_t *take(struct tb_compiled_form *form, size_t len)
{
    if (form->status != TB_OK || len > form->in.len - form->at) {
        tb_form_refuse(form);
        return NULL;
    }
    const uint8_t *bytes = form->in.ptr + form->at;
    form->at += len;
    return bytes;
}

void tb_form_carry(struct tb_compiled_form *form, void *value, size_t len)
{
    if (!form->is_reading) {
        write(form, (struct tb_span){value, len});
        return;
    }
    const uint8_t *bytes = take(form, len);
    if (bytes)
        memcpy(value, bytes, len);
    else
        memset(value, 0, len);
}

void tb_form_count(struct tb_compiled_form *form, size_t *count, size_t most)
{
    uint64_t number = *count;
    TB_CARRY(form, number);
    if (number > most) {
        tb_form_refuse(form);
        number = 0;
    }
    *count = (size_t)number;
}

static void align(struct tb_compiled_form *form)
{
    static const uint8_t zeros[ALIGNMENT];
    size_t at = form->is_reading ? form->at : form->len;
    size_t gap = (ALIGNMENT - at % ALIGNMENT) % ALIGNMENT;
    if (form->is_reading)
        (void)take(form, gap);
    else
        write(form, (struct tb_span){zeros, gap});
}

void *tb_form_table(struct tb_compiled_form *form, const void *items,
                    size_t count, size_t size)
{
    align(form);
    if (!form->is_reading) {
        write(form, (struct tb_span){items, count * size});
        return (void *)(uintptr_t)items;
    }
    if (count > form->in.len / size) {
        tb_form_refuse(form);
        return NULL;
    }
    // The cast takes away const: nobody writes to a loaded tokenizer.
    return (void *)(uintptr_t)take(form, count * size);
}

void tb_form_text(struct tb_compiled_form *form, struct tb_span *text)
{
    tb_form_count(form, &text->len, UINT32_MAX);
    if (!form->is_reading)
        write(form, *text);
    else if (!(text->ptr = take(form, text->len)))
        text->len = 0;
}
