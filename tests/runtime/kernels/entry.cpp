// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/runtime/kernels/entry.h"

#include <cstddef>
#include <utility>

extern "C" {
void umw_test_entry();
void umw_test_entered();
umwelt::kernels::CallRegisters umw_test_frame;
std::uint64_t umw_test_result;
}

static_assert(offsetof(umwelt::kernels::CallRegisters, vector) == 48 &&
              offsetof(umwelt::kernels::CallRegisters, stack) == 112);

asm(R"(
.pushsection .text
.globl umw_test_entry
.type umw_test_entry, @function
umw_test_entry:
  movq umw_test_frame@GOTPCREL(%rip), %rax
  movq %rdi, 0(%rax)
  movq %rsi, 8(%rax)
  movq %rdx, 16(%rax)
  movq %rcx, 24(%rax)
  movq %r8, 32(%rax)
  movq %r9, 40(%rax)
  movq %xmm0, 48(%rax)
  movq %xmm1, 56(%rax)
  movq %xmm2, 64(%rax)
  movq %xmm3, 72(%rax)
  movq %xmm4, 80(%rax)
  movq %xmm5, 88(%rax)
  movq %xmm6, 96(%rax)
  movq %xmm7, 104(%rax)
  leaq 8(%rsp), %rcx
  movq %rcx, 112(%rax)
  subq $8, %rsp
  call umw_test_entered@PLT
  addq $8, %rsp
  movq umw_test_result@GOTPCREL(%rip), %rax
  movq (%rax), %rax
  movq %rax, %xmm0
  ret
.size umw_test_entry, . - umw_test_entry
.popsection
)");

namespace umwelt::kernels::test
{

namespace
{
std::function<void(const CallRegisters&)>& hook()
{
  static std::function<void(const CallRegisters&)> now;
  return now;
}
} // namespace

AnyFunction entry()
{
  return umw_test_entry;
}

void on_entry(std::function<void(const CallRegisters&)> now)
{
  hook() = std::move(now);
}

void return_bits(std::uint64_t bits)
{
  umw_test_result = bits;
}

std::vector<double> read_in(const Signature& signature, const std::function<void()>& calls)
{
  std::vector<double> values(signature.parameters().size());
  on_entry([&](const CallRegisters& frame) { signature.read(frame, values); });
  calls();
  on_entry({});
  return values;
}

} // namespace umwelt::kernels::test

extern "C" void umw_test_entered()
{
  if (umwelt::kernels::test::hook())
    umwelt::kernels::test::hook()(umw_test_frame);
}
