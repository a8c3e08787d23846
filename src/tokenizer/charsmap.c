#include "charsmap.h"

#include <string.h>

#include "base64.h"
#include "character.h"
#include "utf8.h"

/* Clusters of fewer bytes are looked up as a whole; longer ones are looked up
 * character by character, as the reference does. */
enum { SHORT_CLUSTER_LEN = 6 };

/* ---- reading ---------------------------------------------------------------
 */

static uint32_t little_endian(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 |
           (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static tb_status read_owned(struct tb_charsmap *map, struct tb_arena *arena,
                            struct tb_span bytes)
{
    if (bytes.len < 4)
        return TB_ERR_SYNTAX;
    size_t trie_len = little_endian(bytes.ptr);
    if (trie_len > bytes.len - 4 || trie_len < 4)
        return TB_ERR_SYNTAX;
    map->unit_count = trie_len / 4;
    uint32_t *units = TB_ARENA_NEW(arena, uint32_t, map->unit_count);
    if (!units)
        return TB_ERR_MEMORY;
    for (size_t i = 0; i < map->unit_count; i++)
        units[i] = little_endian(bytes.ptr + 4 + i * 4);
    map->units = units;
    map->texts = tb_span_from(bytes, 4 + map->unit_count * 4);
    return tb_utf8_valid_len(map->texts) == map->texts.len ? TB_OK
                                                           : TB_ERR_SYNTAX;
}

tb_status tb_charsmap_read_bytes(struct tb_charsmap *map,
                                 struct tb_arena *arena, struct tb_span bytes)
{
    TB_TRY(tb_arena_copy(arena, bytes, &bytes));
    return read_owned(map, arena, bytes);
}

tb_status tb_charsmap_read(struct tb_charsmap *map, struct tb_arena *arena,
                           struct tb_span base64)
{
    size_t len;
    uint8_t *bytes = tb_arena_alloc(arena, TB_BASE64_ROOM(base64.len));
    if (!bytes)
        return TB_ERR_MEMORY;
    if (!tb_base64_decode(base64, bytes, &len))
        return TB_ERR_SYNTAX;
    return read_owned(map, arena, (struct tb_span){bytes, len});
}

/* ---- looking up -------------------------------------------------------------
 */

static size_t offset_of(uint32_t unit)
{
    return (size_t)(unit >> 10) << ((unit & (1u << 9)) >> 6);
}

/* Walks down the trie with the bytes of a key. */
struct descent {
    size_t node;
    size_t value_at; /* place of a replacement that ends here, or SIZE_MAX */
};

static struct descent descend(const struct tb_charsmap *map)
{
    return (struct descent){offset_of(map->units[0]), SIZE_MAX};
}

// One byte further; false when no key goes on so.
static bool step(const struct tb_charsmap *map, struct descent *descent,
                 uint8_t byte)
{
    descent->value_at = SIZE_MAX;
    size_t node = descent->node ^ byte;
    if (byte == 0 || node >= map->unit_count)
        return false;
    uint32_t unit = map->units[node];
    if ((unit & ((1u << 31) | 0xFF)) != byte)
        return false;
    descent->node = node ^ offset_of(unit);
    if (descent->node >= map->unit_count)
        return false;
    if (unit >> 8 & 1)
        descent->value_at = map->units[descent->node] & 0x7FFFFFFF;
    return true;
}

// What follows a unit's key: a block of 256 units, and a value in it.
static bool is_sound_unit(const struct tb_charsmap *map, size_t at)
{
    uint32_t unit = map->units[at];
    if (unit >> 31)
        return (unit & 0x7FFFFFFF) < map->texts.len;
    size_t next = at ^ offset_of(unit);
    return (next | 0xFF) < map->unit_count &&
           (!(unit >> 8 & 1) || map->units[next] >> 31);
}

bool tb_charsmap_is_sound(const struct tb_charsmap *map)
{
    if (map->unit_count % 256 != 0 || map->texts.len == 0 ||
        map->texts.ptr[map->texts.len - 1] != 0)
        return false;
    uint32_t root = map->units[0];
    if (root >> 31 || (root & 0xFF) || (root >> 8 & 1) || offset_of(root) == 0)
        return false;
    for (size_t i = 0; i < map->unit_count; i++)
        if (!is_sound_unit(map, i))
            return false;
    return true;
}

static struct tb_span text_at(const struct tb_charsmap *map, size_t at)
{
    struct tb_span text = tb_span_from(map->texts, at);
    const uint8_t *end = text.len ? memchr(text.ptr, 0, text.len) : NULL;
    if (end)
        text.len = (size_t)(end - text.ptr);
    return text;
}

/* The replacement of the shortest prefix of `key` that has one. */
static bool find(const struct tb_charsmap *map, struct tb_span key,
                 struct tb_span *text)
{
    struct descent descent = descend(map);
    for (size_t i = 0; i < key.len && step(map, &descent, key.ptr[i]); i++) {
        if (descent.value_at == SIZE_MAX)
            continue;
        if (descent.value_at > map->texts.len)
            return false;
        *text = text_at(map, descent.value_at);
        return true;
    }
    return false;
}

bool tb_charsmap_find_longest(const struct tb_charsmap *map,
                              struct tb_span text, size_t *len,
                              struct tb_span *replacement)
{
    if (map->unit_count == 0)
        return false;
    struct descent descent = descend(map);
    size_t value_at = SIZE_MAX;
    for (size_t i = 0; i < text.len && step(map, &descent, text.ptr[i]); i++)
        if (descent.value_at <= map->texts.len) {
            value_at = descent.value_at;
            *len = i + 1;
        }
    if (value_at == SIZE_MAX)
        return false;
    *replacement = text_at(map, value_at);
    return true;
}

// Is anything replaced that begins so?
static bool has_key_from(const struct tb_charsmap *map, struct tb_span text)
{
    struct descent descent = descend(map);
    for (size_t i = 0; i < text.len; i++)
        if (!step(map, &descent, text.ptr[i]))
            return false;
    return true;
}

static bool is_sign(uint8_t byte)
{
    return byte > ' ' && byte < 0x7F;
}

static bool becomes_sign(const struct tb_charsmap *map, uint8_t sign)
{
    struct tb_span becomes;
    return !find(map, (struct tb_span){&sign, 1}, &becomes) ||
           (becomes.len == 1 && is_sign(becomes.ptr[0]));
}

/* A sign stands in a cluster behind such a character, else at its beginning,
 * and then a space ends it. */
static bool has_key_from_prepended(const struct tb_charsmap *map)
{
    for (size_t i = 0; i + 1 < tb_grapheme_runs_count; i++) {
        if ((tb_grapheme_runs[i] & 0xFF) != TB_GRAPHEME_PREPEND)
            continue;
        uint32_t code = tb_grapheme_runs[i] >> 8;
        for (; code < tb_grapheme_runs[i + 1] >> 8; code++) {
            uint8_t bytes[TB_UTF8_MAX_LEN];
            size_t len = tb_utf8_encode(code, bytes);
            if (has_key_from(map, (struct tb_span){bytes, len}))
                return true;
        }
    }
    return false;
}

bool tb_charsmap_keeps_words(const struct tb_charsmap *map)
{
    for (uint8_t byte = 0; byte < 0x7F; byte++)
        if (is_sign(byte) && !becomes_sign(map, byte))
            return false;
    return !has_key_from(map, TB_SPAN(" ")) && !has_key_from_prepended(map);
}

/* What has been appended, and how much of it stands for the first character
 * of the whole text. */
struct progress {
    struct tb_buffer *out;
    size_t start, origin_end; /* bytes of `out` */
    size_t origin_len;        /* bytes of the text */
    size_t first_len; /* of what the first character that is left became */
};

static size_t next_character(struct tb_span text, size_t at)
{
    uint32_t code_point;
    return at < text.len ? at + tb_utf8_decode(text, at, &code_point) : at;
}

/* Appends what `old`, at `at` in the text, becomes. The first characters of
 * both stand for each other, and so on; what is more than before belongs to
 * the last one. */
static tb_status append(struct progress *progress, size_t at,
                        struct tb_span old, struct tb_span new)
{
    size_t before = progress->out->len;
    bool is_alone = next_character(old, 0) == old.len;
    if (before == progress->start)
        progress->first_len = is_alone ? new.len : next_character(new, 0);
    TB_TRY(tb_buffer_append(progress->out, new));
    size_t old_at = 0, new_at = 0;
    while (new_at < new.len && at + old_at < progress->origin_len) {
        new_at = next_character(new, new_at);
        size_t next = next_character(old, old_at);
        if (next < old.len)
            old_at = next;
        progress->origin_end = before + new_at;
    }
    return TB_OK;
}

static tb_status replace_characters(const struct tb_charsmap *map, size_t at,
                                    struct tb_span cluster,
                                    struct progress *progress)
{
    for (size_t i = 0, end; i < cluster.len; i = end) {
        end = next_character(cluster, i);
        struct tb_span old = {cluster.ptr + i, end - i};
        struct tb_span new = old;
        (void)find(map, old, &new);
        TB_TRY(append(progress, at + i, old, new));
    }
    return TB_OK;
}

tb_status tb_charsmap_apply(const struct tb_charsmap *map, struct tb_span text,
                            struct tb_buffer *out, size_t *origin_len)
{
    struct progress progress = {
        .out = out,
        .start = out->len,
        .origin_end = out->len,
        .origin_len = *origin_len,
    };
    for (size_t at = 0, end; at < text.len; at = end) {
        end = tb_grapheme_end(text, at);
        struct tb_span cluster = {text.ptr + at, end - at};
        struct tb_span found;
        if (cluster.len < SHORT_CLUSTER_LEN && find(map, cluster, &found))
            TB_TRY(append(&progress, at, cluster, found));
        else
            TB_TRY(replace_characters(map, at, cluster, &progress));
    }
    if (*origin_len == 0)
        return TB_OK;
    // Where the first character vanishes, the next one takes its place.
    *origin_len = progress.origin_end - progress.start;
    if (*origin_len == 0)
        *origin_len = progress.first_len;
    return TB_OK;
}
