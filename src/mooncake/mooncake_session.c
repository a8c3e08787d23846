#include "mooncake_session.h"

#include "hash.h"
#include "memory.h"

tb_status tb_mooncake_sessions_find(struct tb_mooncake_sessions *sessions,
                                    struct tb_span name,
                                    struct tb_mooncake_session **session)
{
    uint32_t number = tb_name_table_find(&sessions->names, name);
    if (number == TB_NAME_NONE) {
        // First the room, so that no number is ever without its session.
        struct tb_mooncake_session *grown =
            tb_array_grow(sessions->items, &sessions->capacity,
                          (size_t)sessions->names.count + 1, sizeof(*grown));
        if (!grown)
            return TB_ERR_MEMORY;
        sessions->items = grown;
        grown[sessions->names.count] =
            (struct tb_mooncake_session){.number = sessions->names.count + 1};
        TB_TRY(tb_name_table_add(&sessions->names, name, &number));
    }
    *session = &sessions->items[number];
    return TB_OK;
}

void tb_mooncake_sessions_release(struct tb_mooncake_sessions *sessions)
{
    tb_name_table_release(&sessions->names);
    tb_memory_free(sessions->items);
    *sessions = (struct tb_mooncake_sessions){0};
}

static uint64_t hash_of(const struct tb_mooncake_record *record, uint64_t count)
{
    struct tb_span bytes = {(const uint8_t *)record->ids,
                            (size_t)count * sizeof(*record->ids)};
    return tb_hash64(bytes, 0);
}

static bool begins_like(const struct tb_mooncake_record *record,
                        uint64_t input_length,
                        const struct tb_prompt_head *head)
{
    return head->block_count > 0 && head->block_count <= record->id_count &&
           head->input_length <= input_length &&
           hash_of(record, head->block_count) == head->hash;
}

bool tb_mooncake_session_is_extended(const struct tb_mooncake_session *session,
                                     const struct tb_mooncake_record *record,
                                     uint64_t input_length)
{
    return session->row_count > 0 &&
           (begins_like(record, input_length, &session->last) ||
            begins_like(record, input_length, &session->first));
}

void tb_mooncake_session_keep(struct tb_mooncake_session *session,
                              const struct tb_mooncake_record *record,
                              uint64_t input_length, uint64_t block_size)
{
    uint64_t count = input_length / block_size;
    if (count > record->id_count)
        count = record->id_count;
    session->last =
        (struct tb_prompt_head){count, hash_of(record, count), input_length};
    if (session->row_count == 0)
        session->first = session->last;
}
