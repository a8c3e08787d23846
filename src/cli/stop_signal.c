#include "stop_signal.h"

#include <signal.h>
#include <stddef.h>

#include "wait_fd.h"

// A handler has nowhere else to write to.
static volatile sig_atomic_t stop_signal;

static void note(int number)
{
    stop_signal = number;
}

static bool has_come(void)
{
    return stop_signal != 0;
}

void tb_stop_signal_watch(void)
{
    tb_wait_on_signal(has_come);
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct sigaction old, action = {0};
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN)
            continue;
        action.sa_handler = note;
        action.sa_flags = (int)SA_RESETHAND;
        (void)sigemptyset(&action.sa_mask);
        (void)sigaction(numbers[i], &action, NULL);
    }
}

int tb_stop_signal(void)
{
    return stop_signal;
}
