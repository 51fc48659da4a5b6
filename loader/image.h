// SPDX-License-Identifier: LGPL-2.1-or-later
// A dynamic linker of one's own: the file that a program names as its interpreter, mapped once more at an address of
// its own, as the kernel does at execve(2).
#pragma once

#include <cstdint>
#include <string>

#include <link.h>

namespace umwelt::loader
{

class Image
{
public:
  // Maps it. Where the code would end the process (its own `_exit`, the only way out it has when it gives up), it calls
  // `gave_up(argument, status)` instead, which must not return. Throws std::system_error, or std::runtime_error for a
  // file that is no dynamic linker. Stays mapped.
  Image(const std::string& path, void (*gave_up)(void*, int), void* argument);

  [[nodiscard]] std::uintptr_t base() const { return base_; }
  [[nodiscard]] std::uintptr_t entry() const { return base_ + header_->e_entry; }
  [[nodiscard]] const ElfW(Ehdr) & header() const { return *header_; }
  [[nodiscard]] const ElfW(Phdr) * segments() const;
  // Whether the way out was found: else a linker that gives up ends the process.
  [[nodiscard]] bool returns() const { return returns_; }
  // Address of what it exports; null: nothing of that name.
  [[nodiscard]] void* symbol(const char* name) const;

private:
  void replace_exit(std::uintptr_t trampoline, void (*gave_up)(void*, int), void* argument);

  std::uintptr_t base_ = 0;
  const ElfW(Ehdr) * header_ = nullptr;
  bool returns_ = false;
};

} // namespace umwelt::loader
