/* SPDX-License-Identifier: LGPL-2.1-or-later
 * A kernel of a library that the program is linked to, and what its other file has. */
#pragma once

double library_kernel(int n);
int twice_elsewhere(int n); /* of the program: twice.c */
