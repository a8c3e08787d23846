/* Which vector instructions may be used, beyond those that every machine of its
 * kind has (byte_vector.h). The environment variable TB_CPU=portable says none,
 * so that their portable twins can be tested on any machine. */
#ifndef TB_CPU_H
#define TB_CPU_H

#include <stdbool.h>

/* On x86-64: AVX2, BMI, POPCNT and PCLMULQDQ are there. On 64-bit ARM: always,
 * since NEON is. Always the same answer within a process. */
bool tb_cpu_has_vectors(void);

#endif
