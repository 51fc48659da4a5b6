/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Registers as the first instruction of a function finds them: what the System V x86-64 ABI (3.2.3) passes arguments
 * in. The shim fills it in where a kernel of the program is entered; runtime/kernels/signature.h reads arguments. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct umw_kernel_frame {
  uint64_t general[6];   /* rdi, rsi, rdx, rcx, r8, r9 */
  uint64_t vector[8];    /* low halves of xmm0 to xmm7 */
  const uint64_t* stack; /* the first argument in memory: behind the return address */
};

#ifdef __cplusplus
}
#endif
