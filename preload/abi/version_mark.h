/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What stands before the version in each library of Umwelt, so that `umwelt doctor` (and what(1)) can tell from a file
 * alone which build it is of. */
#pragma once

#define UMW_VERSION_MARK "@(#)umwelt "
