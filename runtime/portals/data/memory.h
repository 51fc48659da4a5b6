// SPDX-License-Identifier: LGPL-2.1-or-later
// The memory of a simulated process, and regions of it as memory descriptors and list entries describe them.
//
// A rank in the runtime's own process is read and written directly; one in another process where it shares memory with
// the runtime, elsewhere through process_vm_readv(2) and process_vm_writev(2). Large transfers between processes are
// copied by two threads.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "preload/abi/gate.h"
#include "runtime/portals/data/folded_parts.h"

namespace umwelt::portals
{

class Memory
{
public:
  // pid 0: this process. `shared`: UMW_SHARED_RANGES of it lie at the same addresses here.
  explicit Memory(pid_t pid = 0, const umw_shared_range* shared = nullptr) : pid_(pid), shared_(shared) {}

  [[nodiscard]] bool local() const { return pid_ == 0; }
  // What of it need not be copied; outlives it.
  void set_folded(const FoldedParts* folded) { folded_ = folded; }
  // Null: all of it has to be.
  [[nodiscard]] const FoldedParts* folded() const
  {
    return folded_ != nullptr && !folded_->empty() ? folded_ : nullptr;
  }
  // All of it is memory of another process that lies here, too.
  [[nodiscard]] bool shares(const void* start, std::size_t size) const;

  // False if the process has no such memory. Memory of this process is only checked if `checked` is set: a check costs
  // a system call, and a bad address then raises SIGSEGV as it would in the program.
  [[nodiscard]] bool read(void* to, const void* from, std::size_t size, bool checked = false) const;
  [[nodiscard]] bool write(void* to, const void* from, std::size_t size, bool checked = false) const;

private:
  pid_t pid_;
  const umw_shared_range* shared_;
  const FoldedParts* folded_ = nullptr;
};

// A contiguous range, or a scatter/gather list that behaves as one (Portals 4.3, 3.10). The list is copied when the
// region is made, which the specification allows.
class Region
{
public:
  Region() = default;
  // options: those of the descriptor or entry; with PTL_IOVEC `length` counts elements. False if the list is not
  // readable or the sum of its lengths overflows.
  [[nodiscard]] bool bind(const Memory& memory, void* start, ptl_size_t length, unsigned options);
  // Accesses go through the kernel and fail instead of faulting: for entries that may span unmapped memory.
  void set_checked() { checked_ = true; }

  [[nodiscard]] ptl_size_t length() const { return length_; }
  // Address of byte `offset`, as events report it; offset may be the length.
  [[nodiscard]] void* address(ptl_size_t offset) const;

  // Visits the contiguous pieces of [offset, offset + size), which must lie inside; stops when visit returns false.
  template <class Visit> bool pieces(ptl_size_t offset, ptl_size_t size, Visit&& visit) const;

  [[nodiscard]] bool checked() const { return checked_; }

  // False if [offset, offset + size) and the part of `other` share no byte; lists are not looked through.
  [[nodiscard]] bool may_overlap(ptl_size_t offset, ptl_size_t size, const Region& other, ptl_size_t other_offset,
                                 ptl_size_t other_size) const
  {
    const std::uintptr_t begin = start_ + offset;
    const std::uintptr_t other_begin = other.start_ + other_offset;
    return !list_.empty() || !other.list_.empty() || (begin < other_begin + other_size && other_begin < begin + size);
  }

private:
  std::uintptr_t start_ = 0; // an integer: descriptors of start 0 and length SIZE_MAX are common, and legal
  ptl_size_t length_ = 0;
  std::vector<ptl_iovec_t> list_;
  bool checked_ = false;
};

// A place in the memory of a process.
struct MemoryRef {
  const Memory* memory = nullptr;
  const Region* region = nullptr;
  ptl_size_t offset = 0;
};

// All three return false if memory was not accessible; part of the bytes may have moved then. Bytes that need not be
// copied on either side are left as they are, and zeros where they are copied out.
[[nodiscard]] bool copy_out(const MemoryRef& from, void* to, ptl_size_t size);
[[nodiscard]] bool copy_in(const MemoryRef& to, const void* from, ptl_size_t size);
[[nodiscard]] bool copy(const MemoryRef& from, const MemoryRef& to, ptl_size_t size);

template <class Visit> bool Region::pieces(ptl_size_t offset, ptl_size_t size, Visit&& visit) const
{
  if (size == 0)
    return true;
  if (list_.empty())
    return visit(reinterpret_cast<std::byte*>(start_ + offset), size);
  for (const ptl_iovec_t& piece : list_) {
    if (offset >= piece.iov_len) {
      offset -= piece.iov_len;
      continue;
    }
    const ptl_size_t part = size < piece.iov_len - offset ? size : piece.iov_len - offset;
    if (!visit(static_cast<std::byte*>(piece.iov_base) + offset, part))
      return false;
    size -= part;
    offset = 0;
    if (size == 0)
      break;
  }
  return true;
}

} // namespace umwelt::portals
