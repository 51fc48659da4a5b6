// SPDX-License-Identifier: LGPL-2.1-or-later
// The floating-point environment (rounding, traps, exception flags): every rank's thread has its own, and so has the
// runtime.
//
// A rank that has exceptions trap (feenableexcept(3), gfortran's -ffpe-trap) must not be killed by what the runtime
// computes, nor by a flag that another rank has left in the x87 status word: that traps as soon as the exception is
// unmasked. And rounding that a rank has chosen must not change times. The kernel does this for signal handlers;
// between two fibers it knows nothing.
#pragma once

#include <cstdint>

namespace umwelt::engine
{

// Rank -> runtime: keeps the rank's and sets the default one, until the end of its life. About 5 ns, unless the rank's
// x87 is not as usual.
class OwnFloatingPoint
{
public:
  OwnFloatingPoint()
  {
    std::uint16_t control, status;
    asm volatile("stmxcsr %0\n\tfnstcw %1\n\tfnstsw %2" : "=m"(mxcsr_), "=m"(control), "=a"(status));
    if ((mxcsr_ & ~all_flags) != usual_mxcsr) [[unlikely]] {
      asm volatile("ldmxcsr %0" : : "m"(usual_mxcsr));
    }
    x87_unusual_ = control != usual_control || (status & (all_flags & ~inexact)) != 0;
    if (x87_unusual_) [[unlikely]] {
      asm volatile("fnstenv %0\n\tfninit" : "=m"(x87_) : : "memory");
    }
  }
  ~OwnFloatingPoint()
  {
    asm volatile("ldmxcsr %0" : : "m"(mxcsr_));
    if (x87_unusual_) [[unlikely]] {
      asm volatile("fldenv %0" : : "m"(x87_) : "memory");
    }
  }
  OwnFloatingPoint(const OwnFloatingPoint&) = delete;
  OwnFloatingPoint& operator=(const OwnFloatingPoint&) = delete;

private:
  static constexpr std::uint32_t usual_mxcsr = 0x1f80; // all masked, to the nearest; flags aside
  static constexpr std::uint16_t usual_control = 0x37f;
  static constexpr unsigned all_flags = 0x3f;
  static constexpr unsigned inexact = 0x20; // next to every result is

  std::uint32_t mxcsr_;
  bool x87_unusual_;
  std::uint32_t x87_[7]; // Intel SDM volume 1, figure 8-9
};

} // namespace umwelt::engine
