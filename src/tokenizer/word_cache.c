#include "word_cache.h"

#include "memory.h"

tb_status tb_word_cache_init(struct tb_word_cache *cache)
{
    cache->short_words =
        tb_memory_zeroed(TB_SHORT_SLOTS, sizeof(*cache->short_words));
    cache->long_words =
        tb_memory_zeroed(TB_LONG_SLOTS, sizeof(*cache->long_words));
    return cache->short_words && cache->long_words ? TB_OK : TB_ERR_MEMORY;
}

void tb_word_cache_release(struct tb_word_cache *cache)
{
    tb_memory_free(cache->short_words);
    tb_memory_free(cache->long_words);
    *cache = (struct tb_word_cache){0};
}
