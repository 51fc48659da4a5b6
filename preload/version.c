/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which build a library is of. Its own file: it is compiled again after each commit. */
#include "preload/abi/version_mark.h"

#include "generated/version_text.h"

__attribute__((used)) static const char mark[] = UMW_VERSION_MARK UMWELT_VERSION;
