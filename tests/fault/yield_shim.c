/* Threads that give way at random around locks (LD_PRELOAD), so that they meet
 * in orders that a quiet machine never shows. TB_YIELD=SEED sets the order of
 * the dice; thread_check.py drives it. It leaves memory alone, so that it goes
 * with the thread sanitizer. */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t seed; // 0: nothing is done

/* The library's own functions; found before there are threads. */
static int (*real_lock)(pthread_mutex_t *lock);
static int (*real_unlock)(pthread_mutex_t *lock);
static int (*real_signal)(pthread_cond_t *condition);

// What dlsym gives is no function in ISO C.
static void find(const char *name, void *pointer)
{
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(pointer, &found, sizeof(found));
}

static void find_all(void)
{
    find("pthread_mutex_lock", &real_lock);
    find("pthread_mutex_unlock", &real_unlock);
    find("pthread_cond_signal", &real_signal);
}

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("TB_YIELD");
    find_all();
    seed = text ? strtoull(text, NULL, 10) : 0;
}

static void give_way(void)
{
    static _Thread_local uint64_t state;
    if (!seed)
        return;
    if (!state)
        state = seed * 0x9E3779B97F4A7C15u ^ (uint64_t)(uintptr_t)&state;
    state = state * 6364136223846793005u + 1442695040888963407u;
    unsigned choice = (unsigned)(state >> 60);
    struct timespec pause = {0, (long)(state >> 44 & 0xFFFF) * 8};
    if (choice < 4)
        (void)nanosleep(&pause, NULL); // up to half a millisecond
    else if (choice < 10)
        (void)sched_yield();
}

// Other libraries may begin, and lock, before this one.
int pthread_mutex_lock(pthread_mutex_t *lock)
{
    if (!real_lock)
        find_all();
    give_way();
    return real_lock(lock);
}

int pthread_mutex_unlock(pthread_mutex_t *lock)
{
    if (!real_unlock)
        find_all();
    int result = real_unlock(lock);
    give_way();
    return result;
}

int pthread_cond_signal(pthread_cond_t *condition)
{
    if (!real_signal)
        find_all();
    give_way();
    return real_signal(condition);
}
