/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#pragma GCC visibility push(hidden)
/* popen has made it, and pclose has not had it. */
bool umw_is_child_stream(const FILE* stream);
#pragma GCC visibility pop
