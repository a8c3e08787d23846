/* Which vector instructions may be used. The environment variable
 * TB_CPU=portable says none, so that every portable twin can be tested on any
 * machine. */
#ifndef TB_CPU_H
#define TB_CPU_H

#include <stdbool.h>

/* AVX2, BMI, POPCNT and PCLMULQDQ are there. Always the same answer within a
 * process. */
bool tb_cpu_has_avx2(void);

#endif
