/* Ctrl-C and its kin: noted, so that a run can end without half an output. */
#ifndef TB_STOP_SIGNAL_H
#define TB_STOP_SIGNAL_H

/* From now on SIGINT, SIGTERM and SIGHUP are noted, and end every wait for an
 * input or output; a second one ends the process at once. What the caller's
 * shell chose to ignore stays ignored. */
void tb_stop_signal_watch(void);

/* The number of the signal that came, or 0. */
int tb_stop_signal(void);

#endif
