// SPDX-License-Identifier: LGPL-2.1-or-later
#include "loader/tls_reserve.h"

#include <cstdint>

namespace umwelt::loader
{

namespace
{
constexpr std::size_t alignment = 64;
// The linker places sections of thread-local data in the order of its input: this object is linked last (runtime/CMakeLists).
__attribute__((section(".tbss"), used, tls_model("local-exec"))) thread_local char reserve[tls_reserve_bytes]
    __attribute__((aligned(alignment)));
} // namespace

bool tls_reserve_is_last()
{
  std::uintptr_t thread_pointer = 0;
  asm("mov %%fs:0, %0" : "=r"(thread_pointer));
  const auto end = reinterpret_cast<std::uintptr_t>(reserve + sizeof reserve);
  return end <= thread_pointer && thread_pointer - end < alignment;
}

} // namespace umwelt::loader
