// SPDX-License-Identifier: LGPL-2.1-or-later
// Tables of the summary.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace umwelt::observe
{

using Row = std::vector<std::string>;

// Rows in columns as wide as their widest entry; `left` columns from the first are aligned left, the others right.
std::string aligned(const std::vector<Row>& rows, std::size_t left);

// "0 B", "1 B", "4-7 B", "1.00 KiB-": of a class of observe::SizeHistogram.
std::string size_range(std::size_t size_class);

} // namespace umwelt::observe
