// SPDX-License-Identifier: LGPL-2.1-or-later
// This process's memory by way of /proc/self/mem, which fails where there is no memory (or no longer the file's code)
// and leaves protections as they are (proc(5)).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace umwelt::rank_host
{

class CodeMemory
{
public:
  static constexpr unsigned char int3 = 0xcc;

  CodeMemory();
  ~CodeMemory();
  CodeMemory(const CodeMemory&) = delete;
  CodeMemory& operator=(const CodeMemory&) = delete;

  // How many bytes of it there are.
  std::size_t read(std::uintptr_t address, std::span<unsigned char> bytes) const;
  // What is not to be written is, too. False: it is not there.
  [[nodiscard]] bool write(std::uintptr_t address, std::span<const unsigned char> bytes) const;
  [[nodiscard]] bool write(std::uintptr_t address, unsigned char byte) const { return write(address, {&byte, 1}); }
  // Whether a breakpoint stands there.
  [[nodiscard]] bool is_patched(std::uintptr_t pc) const;

private:
  const int memory_;
};

} // namespace umwelt::rank_host
