/* Ends a program that starts a thread (LD_PRELOAD): tests that are declared as
 * one_thread in tests/CMakeLists.txt run with it, and fail when that is no
 * longer true. Python, which drives them, may have its threads. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_STATUS = 70 };

typedef int create(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                   void *);

static void end(void)
{
    static const char text[] =
        "one_thread_shim: a thread, in a test that is declared to have one\n";
    ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);
    (void)written;
    _exit(EXIT_STATUS);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                   void *(*start)(void *), void *argument)
{
    create *real;
    // What dlsym gives is no function in ISO C.
    void *found = dlsym(RTLD_NEXT, "pthread_create");
    if (strncmp(program_invocation_short_name, "python", 6) != 0)
        end();
    memcpy(&real, &found, sizeof(found));
    return real(thread, attributes, start, argument);
}
