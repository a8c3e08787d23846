#include "first_map.h"

#include "memory.h"

enum { GROUP = 8 }; // words of 64 bits

tb_status tb_first_map_init(struct tb_first_map *map, uint64_t place_count)
{
    uint64_t groups = place_count / (64 * GROUP) + 1;
    *map = (struct tb_first_map){.word_count = groups * GROUP};
    map->words = tb_memory_zeroed((size_t)map->word_count, sizeof(uint64_t));
    map->before = tb_memory_zeroed((size_t)groups, sizeof(uint64_t));
    return map->words && map->before ? TB_OK : TB_ERR_MEMORY;
}

void tb_first_map_set(struct tb_first_map *map, uint64_t place)
{
    map->words[place / 64] |= UINT64_C(1) << (place % 64);
}

static uint64_t bits_of(uint64_t word)
{
    return (uint64_t)__builtin_popcountll(word);
}

uint64_t tb_first_map_count(struct tb_first_map *map)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < map->word_count; i++) {
        if (i % GROUP == 0)
            map->before[i / GROUP] = count;
        count += bits_of(map->words[i]);
    }
    return count;
}

uint64_t tb_first_map_before(const struct tb_first_map *map, uint64_t place)
{
    uint64_t word = place / 64;
    uint64_t count = map->before[word / GROUP];
    for (uint64_t i = word / GROUP * GROUP; i < word; i++)
        count += bits_of(map->words[i]);
    uint64_t below = (UINT64_C(1) << (place % 64)) - 1;
    return count + bits_of(map->words[word] & below);
}

void tb_first_map_release(struct tb_first_map *map)
{
    tb_memory_free(map->words);
    tb_memory_free(map->before);
    *map = (struct tb_first_map){0};
}
