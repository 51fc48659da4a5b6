// SPDX-License-Identifier: LGPL-2.1-or-later
// The rows of all tables as data. Each row macro stringises the symbol itself: handed on to another macro it would be
// expanded first if a system header defines it as one.
#include "runtime/cli/coverage.h"

namespace umwelt::cli
{

std::vector<CoverageTable> coverage_tables()
{
  std::vector<CoverageTable> tables;
#define UMW_TABLE(title) tables.push_back({title, {}});
#define UMW_CALL(result, name, kind, version, level, note, ...)                                                        \
  tables.back().rows.push_back({#name, version, #level, note});
#define UMW_CALL_VOID(name, kind, version, level, note, ...)                                                           \
  tables.back().rows.push_back({#name, version, #level, note});
#define UMW_LOCAL(name, version, level, note) tables.back().rows.push_back({#name, version, #level, note});
#define UMW_PTL_NOT_BLOCKING(name, of)                                                                                 \
  tables.back().rows.push_back({#name, "BXI", "PARTIAL", "waits where " #of " waits, never PTL_TRY_AGAIN"});
#define UMW_REFUSED(name) tables.back().rows.push_back({#name, "PMIx 4", "ERROR", "PMIX_ERR_NOT_SUPPORTED"});
#include "preload/abi/tables/all.h"
#undef UMW_TABLE
#undef UMW_CALL
#undef UMW_CALL_VOID
#undef UMW_LOCAL
#undef UMW_PTL_NOT_BLOCKING
#undef UMW_REFUSED
  return tables;
}

} // namespace umwelt::cli
