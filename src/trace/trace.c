#include "trace.h"

#include <assert.h>
#include <math.h>

#include "dialect.h"
#include "memory.h"

static const struct tb_dialect *const dialects[] = {
    [TB_DIALECT_NAT] = &tb_dialect_nat,
    [TB_DIALECT_TELEMETRY] = &tb_dialect_telemetry,
};

struct tb_trace_reader {
    const struct tb_dialect *dialect;
    void *state;
};

static const struct tb_dialect *find_dialect(tb_dialect_id id)
{
    assert((size_t)id < sizeof(dialects) / sizeof(dialects[0]));
    return dialects[id];
}

tb_status tb_trace_open(tb_dialect_id dialect,
                        const struct tb_trace_options *options,
                        struct tb_input *input, struct tb_trace_reader **reader,
                        struct tb_error *error)
{
    struct tb_trace_reader *made = tb_memory_zeroed(1, sizeof(*made));
    if (!made)
        return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    made->dialect = find_dialect(dialect);
    tb_status status = made->dialect->open(options, input, &made->state, error);
    if (status != TB_OK) {
        tb_trace_close(made);
        return status;
    }
    *reader = made;
    return TB_OK;
}

tb_status tb_trace_next(struct tb_trace_reader *reader,
                        struct tb_trace_event *event, struct tb_error *error)
{
    *event = (struct tb_trace_event){.kind = TB_TRACE_END};
    return reader->dialect->next(reader->state, event, error);
}

struct tb_trace_counts tb_trace_counts(const struct tb_trace_reader *reader)
{
    return reader->dialect->counts(reader->state);
}

void tb_trace_close(struct tb_trace_reader *reader)
{
    if (!reader)
        return;
    reader->dialect->close(reader->state);
    tb_memory_free(reader);
}

tb_status tb_trace_parse(const struct tb_trace_parser *parser,
                         struct tb_span json, uint64_t offset, uint64_t line,
                         struct tb_arena *arena, struct tb_part *part,
                         struct tb_error *error)
{
    struct tb_error unused;
    *part = (struct tb_part){.call = {.start_s = NAN,
                                      .end_s = NAN,
                                      .first_token_s = NAN,
                                      .offset = offset,
                                      .line = line}};
    return find_dialect(parser->dialect)
        ->parse(parser, json, offset, line, arena, part,
                error ? error : &unused);
}

tb_status tb_trace_peek_model(tb_dialect_id dialect, struct tb_span json,
                              struct tb_arena *arena, struct tb_span *model)
{
    *model = (struct tb_span){0};
    return find_dialect(dialect)->peek_model(json, arena, model);
}

bool tb_dialect_is_loss(tb_status status, tb_loss *loss)
{
    switch (status) {
    case TB_ERR_CUT:
        *loss = TB_LOSS_CUT;
        return true;
    case TB_ERR_TYPE:
        *loss = TB_LOSS_TYPE;
        return true;
    case TB_ERR_SYNTAX:
    case TB_ERR_VALUE:
    case TB_ERR_LIMIT:
        *loss = TB_LOSS_SYNTAX;
        return true;
    default:
        return false;
    }
}

void tb_dialect_make_loss(struct tb_trace_event *event, tb_loss loss,
                          const struct tb_error *error,
                          const struct tb_input *input)
{
    *event = (struct tb_trace_event){.kind = TB_TRACE_LOSS,
                                     .loss = loss,
                                     .offset = error->offset,
                                     .line = error->line,
                                     .error = *error};
    tb_error_set_path(&event->error, tb_input_path(input));
}
