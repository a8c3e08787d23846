/* Unicode normal forms, as Hugging Face's normalizers give them: those of
 * Unicode 9.0, whatever version the system's utf8proc has. A code point that
 * 9.0 had not assigned stays as it is and joins nothing.
 *
 * Leaves out case folding and the stripping of accents. All functions are
 * pure and may be used from any thread. Text must be well-formed UTF-8
 * (utf8.h); bytes that are not do no harm, but what becomes of them is not
 * defined.
 *
 *     if (!tb_normalize_is_inert(text, TB_NFC)) {
 *         TB_TRY(tb_normalize(text, TB_NFC, &buffer));
 *         text = tb_buffer_span(&buffer);
 *     }
 */
#ifndef TB_NORMALIZE_H
#define TB_NORMALIZE_H

#include "buffer.h"
#include "span.h"
#include "status.h"

/* The order is that of tools/make_unicode_tables.py. */
enum tb_normal_form {
    TB_NFC,
    TB_NFD,
    TB_NFKC,
    TB_NFKD,
};

/* Returns true when `text` is certainly in `form`. False proves nothing: some
 * normal text with combining marks is not recognised. Costs next to nothing
 * on ASCII, and one look-up per character on the rest. */
bool tb_normalize_is_inert(struct tb_span text, enum tb_normal_form form);

/* Appends `text` in `form` to `out`; `text` must not lie in `out`. Time is
 * linear in the length of `text`, whatever marks it piles up. TB_ERR_LIMIT or
 * TB_ERR_MEMORY leave the content of `out` as it was. */
TB_NODISCARD tb_status tb_normalize(struct tb_span text,
                                    enum tb_normal_form form,
                                    struct tb_buffer *out);

/* How many bytes of `text` in `form` stand for its first `origin_len` bytes, as
 * alignments of Hugging Face's NormalizedString have it: they count characters,
 * each of what came out for the next ones of what went in, whether it was made
 * of these or only stands where they stood. TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_normalize_origin(struct tb_span text,
                                           size_t origin_len,
                                           enum tb_normal_form form,
                                           size_t *made_len);

#endif
