// SPDX-License-Identifier: LGPL-2.1-or-later
// Calls of a kernel by their sizes: how many, and what they took. Of the first few thousand different sizes each is a
// class; sizes that come later are rounded to eighths of a power of two, so that a program whose sizes never repeat
// takes no more memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace umwelt::kernels
{

class SizeClasses
{
public:
  static constexpr std::size_t most_exact = 4000;

  struct Class {
    std::uint64_t calls = 0;
    double seconds = 0; // of all of them

    bool operator==(const Class&) const = default;
  };

  // Sizes that are no numbers (of an FFTW plan that nobody knows, behind a null reference) are of one class without
  // any.
  void add(std::span<const double> sizes, double seconds);
  SizeClasses& operator+=(const SizeClasses& other);

  // By sizes, ascending.
  [[nodiscard]] const std::map<std::vector<double>, Class>& classes() const { return classes_; }

  // Lines of numbers, each of some hundred classes, and back. At least one.
  [[nodiscard]] std::vector<std::string> texts() const;
  // Adds them. False: it was no such text.
  bool read(std::istream& from);

  struct Range {
    double least = 0;
    double median = 0; // of calls
    double most = 0;
  };
  // Of each size, where there are any.
  [[nodiscard]] std::vector<Range> ranges() const;

private:
  void add(std::vector<double> sizes, const Class& more);

  std::map<std::vector<double>, Class> classes_;
};

} // namespace umwelt::kernels
