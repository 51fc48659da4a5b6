// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/portals/data/sparse_copy.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/portals/data/part_copy.h"
#include "runtime/portals/data/written_pages.h"

namespace umwelt::portals
{

namespace
{

constexpr std::size_t page = WrittenPages::page;
// Giving back fewer pages costs more than writing zeros to them.
constexpr std::size_t least_given_back = 16 * page;
// After so many copies of memory that was all there, only one of some is asked about. Not sooner: an ordinary copy
// makes pages exist, in the source the zero page, and so all copies from there on.
constexpr unsigned patience = 64;
constexpr unsigned asked_about = 16;

using Piece = WrittenPages::Piece;

std::uintptr_t up(std::uintptr_t address)
{
  return (address + page - 1) / page * page;
}

void make_zero(const Piece& piece, std::uintptr_t begin, std::uintptr_t end)
{
  const std::uintptr_t first = up(begin);
  const std::uintptr_t last = end / page * page;
  if (piece.anonymous && last > first && last - first >= least_given_back &&
      madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED) == 0) {
    std::memset(reinterpret_cast<void*>(begin), 0, first - begin);
    std::memset(reinterpret_cast<void*>(last), 0, end - last);
  } else
    std::memset(reinterpret_cast<void*>(begin), 0, end - begin);
}

class SparseCopies
{
public:
  [[nodiscard]] bool copy(std::uintptr_t to, std::uintptr_t from, std::size_t size)
  {
    const std::unique_lock only(one_at_a_time_, std::try_to_lock);
    if (!only)
      return false;
    ++whole_;
    if ((whole_ > patience && whole_ % asked_about != 0) || !is_open())
      return false;
    if (all_present(from, size) || !pages_->find(from, from + size, source_) || !pages_->find(to, to + size, target_) ||
        is_whole(source_, from, size))
      return false;
    whole_ = 0;
    move(to, from, size);
    return true;
  }

private:
  [[nodiscard]] bool is_open()
  {
    if (process_ != getpid()) { // the first copy here, or a child's
      process_ = getpid();
      pages_ = std::make_unique<WrittenPages>();
    }
    return pages_->usable();
  }

  // Errs towards true where pages of it are the zero page.
  [[nodiscard]] bool all_present(std::uintptr_t from, std::size_t size)
  {
    const std::uintptr_t begin = from / page * page;
    const std::size_t count = (up(from + size) - begin) / page;
    if (present_.size() < count)
      present_.resize(count);
    // What has been swapped out counts as absent here; then find() tells.
    if (mincore(reinterpret_cast<void*>(begin), count * page, present_.data()) == 0 &&
        std::memchr(present_.data(), 0, count) != nullptr)
      return false;
    const std::uintptr_t middle = begin + count / 2 * page;
    return pages_->find(middle, middle + page, source_) && !source_.empty();
  }

  [[nodiscard]] static bool is_whole(const std::vector<Piece>& pieces, std::uintptr_t from, std::size_t size)
  {
    return pieces.size() == 1 && pieces.front().begin == from && pieces.front().end == from + size;
  }

  void move(std::uintptr_t to, std::uintptr_t from, std::size_t size)
  {
    auto written = target_.begin();
    std::uintptr_t at = from; // up to here all is done
    const auto clear = [&](std::uintptr_t until) {
      const std::uintptr_t begin = at - from + to;
      const std::uintptr_t end = until - from + to;
      for (; written != target_.end() && written->begin < end; ++written) {
        if (written->end > begin)
          make_zero(*written, std::max(begin, written->begin), std::min(end, written->end));
        if (written->end > end)
          break; // reaches into what comes next
      }
    };
    for (const Piece& piece : source_) {
      clear(piece.begin);
      copy_in_parts(reinterpret_cast<void*>(piece.begin - from + to), reinterpret_cast<const void*>(piece.begin),
                    piece.end - piece.begin);
      at = piece.end;
    }
    clear(from + size);
  }

  std::mutex one_at_a_time_;
  pid_t process_ = 0;
  std::unique_ptr<WrittenPages> pages_;
  std::vector<Piece> source_;
  std::vector<Piece> target_;
  std::vector<unsigned char> present_;
  unsigned whole_ = 0; // copies since memory was found that was not all there
};

} // namespace

bool copy_sparsely(void* to, const void* from, std::size_t size)
{
  static SparseCopies copies;
  return copies.copy(reinterpret_cast<std::uintptr_t>(to), reinterpret_cast<std::uintptr_t>(from), size);
}

} // namespace umwelt::portals
