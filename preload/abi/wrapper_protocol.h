/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a process of a wrapper (a script around the program, or a tool like env) asks Umwelt before it executes
 * something.
 *
 * It connects to the abstract socket that UMWELT_WRAPPER names and sends a umw_wrapper_head, with its open descriptors
 * among 0, 1, 2 as SCM_RIGHTS, then `bytes` bytes of strings, each ended by a NUL: the file to be executed, PATH, the
 * working directory, `arguments` arguments, and the environment for the rest. The answer is one byte: native, and the
 * process executes the file as if nothing had been; refused, and that fails with EPERM; or taken: it is a rank's
 * program. Then the process stands in for the rank and ends as that does: with the status that comes next, as wait(2)
 * reports it.
 */
#pragma once

#include <stdint.h>

#define UMW_WRAPPER_VARIABLE "UMWELT_WRAPPER" /* NAME:RANK */

enum { umw_wrapper_native = 'n', umw_wrapper_refused = 'r', umw_wrapper_taken = 't' };

typedef struct umw_wrapper_head {
  uint32_t bytes;
  uint32_t rank;
  uint32_t arguments;
  uint32_t persona; /* personality(2) */
  uint8_t searched; /* the file is looked up in PATH if its name has no slash */
  uint8_t open[3];  /* which of 0, 1, 2 come with it */
} umw_wrapper_head;
