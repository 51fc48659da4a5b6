/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdint.h>

uint64_t library_time_stamp(void);
