#include "analysis_page.h"

#include <assert.h>
#include <string.h>

/* page/report.html with all that belongs into it; the data is still to come. */
extern const unsigned char tb_report_page[];
extern const size_t tb_report_page_len;

#define DATA_MARK TB_SPAN("@data@")
#define DATA_MAX_LEN ((size_t)1 << 30)

tb_status tb_page_json(struct tb_buffer *buffer, struct tb_span json)
{
    size_t begin = 0;
    for (size_t at = 0; at < json.len; at++) {
        if (json.ptr[at] != '<')
            continue;
        TB_TRY(tb_buffer_append(
            buffer, (struct tb_span){json.ptr + begin, at - begin}));
        TB_TRY(tb_buffer_append(buffer, TB_SPAN("\\u003c")));
        begin = at + 1;
    }
    return tb_buffer_append(buffer, tb_span_from(json, begin));
}

static tb_status put_data(const struct tb_analysis_report *report,
                          struct tb_buffer *json)
{
    struct tb_analysis_report shortened = *report;
    shortened.most_groups = TB_ANALYSIS_MOST_GROUPS;
    TB_TRY(tb_buffer_append(json, TB_SPAN("{\"figures\": ")));
    TB_TRY(tb_analysis_json(&shortened, json));
    TB_TRY(tb_buffer_append(json, TB_SPAN(", \"curves\": ")));
    TB_TRY(tb_analysis_curves(report, json));
    return tb_buffer_append(json, TB_SPAN("}\n"));
}

tb_status tb_analysis_page(const struct tb_analysis_report *report,
                           struct tb_buffer *buffer)
{
    struct tb_span page = {tb_report_page, tb_report_page_len};
    struct tb_buffer json = TB_BUFFER(DATA_MAX_LEN);
    const uint8_t *mark =
        memmem(page.ptr, page.len, DATA_MARK.ptr, DATA_MARK.len);
    assert(mark != NULL);
    size_t head_len = (size_t)(mark - page.ptr);
    tb_status status = put_data(report, &json);
    if (status == TB_OK)
        status = tb_buffer_append(buffer, (struct tb_span){page.ptr, head_len});
    if (status == TB_OK)
        status = tb_page_json(buffer, tb_buffer_span(&json));
    if (status == TB_OK)
        status = tb_buffer_append(buffer,
                                  tb_span_from(page, head_len + DATA_MARK.len));
    tb_buffer_release(&json);
    return status;
}
