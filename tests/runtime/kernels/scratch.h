// SPDX-License-Identifier: LGPL-2.1-or-later
// Files of a test in a directory of its own, which goes with it.
#pragma once

#include <string>
#include <string_view>

#include "runtime/kernels/kernels_file.h"

namespace umwelt::kernels
{

class Scratch
{
public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // Returns the path.
  std::string write(const std::string& name, std::string_view text) const;
  [[nodiscard]] const std::string& directory() const { return directory_; }

private:
  std::string directory_;
};

// What a kernels file with this text says.
Kernels read_text(std::string_view text);
// What is wrong with it, without the directory of the file; "no error" if nothing is.
std::string error_of(std::string_view text);
// The same, of a file beside others.
std::string error_of(const Scratch& scratch, std::string_view text);

// Time of a call, in seconds, at node 0 unless said otherwise.
double seconds(const Model& model, std::span<const double> values, std::uint64_t call = 0, const Place& place = {});

} // namespace umwelt::kernels
