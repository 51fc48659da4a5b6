// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/function_entry.h"

#include <cstddef>

#include <cpuid.h>

namespace umwelt::rank_host
{

static_assert(offsetof(EnteredFrame, rbx) == 128 && offsetof(EnteredFrame, skipped) == 136 &&
              offsetof(EnteredFrame, rax) == 144 && offsetof(EnteredFrame, called_from) == 216);
static_assert(offsetof(ReturnedFrame, return_address) == 80);

bool can_enter_functions()
{
  constexpr unsigned os_uses_xsave = 1U << 27;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & os_uses_xsave) != 0;
}

#define UMWELT_PUSH                                                                                                    \
  "push %r11\n\t"                                                                                                      \
  "push %r10\n\t"                                                                                                      \
  "push %r9\n\t"                                                                                                       \
  "push %r8\n\t"                                                                                                       \
  "push %rcx\n\t"                                                                                                      \
  "push %rdx\n\t"                                                                                                      \
  "push %rsi\n\t"                                                                                                      \
  "push %rdi\n\t"                                                                                                      \
  "push %rax\n\t"
#define UMWELT_POP                                                                                                     \
  "pop %rax\n\t"                                                                                                       \
  "pop %rdi\n\t"                                                                                                       \
  "pop %rsi\n\t"                                                                                                       \
  "pop %rdx\n\t"                                                                                                       \
  "pop %rcx\n\t"                                                                                                       \
  "pop %r8\n\t"                                                                                                        \
  "pop %r9\n\t"                                                                                                        \
  "pop %r10\n\t"                                                                                                       \
  "pop %r11\n\t"

// Calls the handler with the address of the frame, which is where the stack ends, and comes back with %rbx there and
// all that xsave(1) knows of x87, vectors and masks as it was (Intel SDM, volume 1, chapter 13: components 0 to 2 and 5
// to 7, at most 2,688 bytes in the standard form; what of its header is not written must be 0). The caller need not
// have aligned the stack (-fipa-stack-alignment).
#define UMWELT_CALL(handler)                                                                                           \
  "mov %rsp, %rbx\n\t"                                                                                                 \
  "mov %rsp, %rdi\n\t"                                                                                                 \
  "sub $2752, %rsp\n\t"                                                                                                \
  "and $-64, %rsp\n\t"                                                                                                 \
  "xor %eax, %eax\n\t"                                                                                                 \
  "mov %rax, 512(%rsp)\n\t"                                                                                            \
  "mov %rax, 520(%rsp)\n\t"                                                                                            \
  "mov %rax, 528(%rsp)\n\t"                                                                                            \
  "mov %rax, 536(%rsp)\n\t"                                                                                            \
  "mov %rax, 544(%rsp)\n\t"                                                                                            \
  "mov %rax, 552(%rsp)\n\t"                                                                                            \
  "mov %rax, 560(%rsp)\n\t"                                                                                            \
  "mov %rax, 568(%rsp)\n\t"                                                                                            \
  "mov $0xe7, %eax\n\t"                                                                                                \
  "xor %edx, %edx\n\t"                                                                                                 \
  "xsave64 (%rsp)\n\t"                                                                                                 \
  "call " handler "\n\t"                                                                                               \
  "mov $0xe7, %eax\n\t"                                                                                                \
  "xor %edx, %edx\n\t"                                                                                                 \
  "xrstor64 (%rsp)\n\t"                                                                                                \
  "mov %rbx, %rsp\n\t"

// The function is entered by a return to what has become of `called_from`.
#define UMWELT_ENTRY(handler)                                                                                          \
  asm(UMWELT_PUSH "sub $144, %rsp\n\t"                                                                                 \
                  "movups %xmm0, (%rsp)\n\t"                                                                           \
                  "movups %xmm1, 16(%rsp)\n\t"                                                                         \
                  "movups %xmm2, 32(%rsp)\n\t"                                                                         \
                  "movups %xmm3, 48(%rsp)\n\t"                                                                         \
                  "movups %xmm4, 64(%rsp)\n\t"                                                                         \
                  "movups %xmm5, 80(%rsp)\n\t"                                                                         \
                  "movups %xmm6, 96(%rsp)\n\t"                                                                         \
                  "movups %xmm7, 112(%rsp)\n\t"                                                                        \
                  "mov %rbx, 128(%rsp)\n\t" UMWELT_CALL(handler) "movups (%rsp), %xmm0\n\t"                            \
                                                                 "mov 128(%rsp), %rbx\n\t"                             \
                                                                 "cmpq $0, 136(%rsp)\n\t"                              \
                                                                 "lea 144(%rsp), %rsp\n\t"                             \
                                                                 "jne 1f\n\t" UMWELT_POP "ret\n"                       \
                                                                 "1:\n\t" UMWELT_POP "lea 8(%rsp), %rsp\n\t"           \
                                                                 "ret")

extern "C" __attribute__((naked)) void umwelt_function_entry()
{
  UMWELT_ENTRY("umwelt_entered");
}

extern "C" __attribute__((naked)) void umwelt_function_entry_of_child()
{
  UMWELT_ENTRY("umwelt_entered_in_child");
}

extern "C" __attribute__((naked)) void umwelt_function_return()
{
  asm("lea -8(%rsp), %rsp\n\t" UMWELT_PUSH "push %rbx\n\t" UMWELT_CALL("umwelt_returned") "pop %rbx\n\t" UMWELT_POP
                                                                                          "ret");
}

} // namespace umwelt::rank_host
