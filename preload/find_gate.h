/* SPDX-License-Identifier: LGPL-2.1-or-later
 * The rank's gate, for the shim's libraries as they begin. */
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "preload/abi/gate.h"

/* A linker per rank: in the auxiliary vector, which the shim's getauxval() does not show. */
unsigned long __getauxval(unsigned long type);
/* A dlmopen namespace: a symbol that the object at its head defines (loader/stub.h). */
extern struct umw_gate umw_stub_gate __attribute__((weak, visibility("default")));

/* Null: the process is no rank's. */
static inline struct umw_gate* umw_find_gate(void)
{
  return &umw_stub_gate ? &umw_stub_gate : (struct umw_gate*)__getauxval(UMW_GATE_AUXV);
}
