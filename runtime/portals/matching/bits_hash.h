// SPDX-License-Identifier: LGPL-2.1-or-later
// Items hashed by the match bits that a mask leaves, in order of insertion.
//
// Portals matching takes the first entry of a list that fits (Portals 4.3, 3.12). Programs use few distinct ignore
// masks (Open MPI two or three), so one such table per mask finds the candidates of each mask without walking the list.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "preload/abi/portals4.h"

namespace umwelt::portals
{

template <class T> struct ChainLink {
  T* previous = nullptr;
  T* next = nullptr;
};

// LinkOf()(item) gives the ChainLink of an item for this table. Items of other bits may share a chain; callers compare.
template <class T, class LinkOf> class BitsHash
{
public:
  BitsHash(ptl_match_bits_t ignore, LinkOf link) : ignore_(ignore), link_(link), buckets_(initial_buckets) {}

  [[nodiscard]] ptl_match_bits_t ignore() const { return ignore_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] T* first(ptl_match_bits_t bits) const { return buckets_[slot(bits)].head; }
  [[nodiscard]] T* next(T& item) const { return link_(item).next; }

  void append(T& item, ptl_match_bits_t bits)
  {
    Bucket& bucket = buckets_[slot(bits)];
    link_(item) = {bucket.tail, nullptr};
    (bucket.tail ? link_(*bucket.tail).next : bucket.head) = &item;
    bucket.tail = &item;
    ++size_;
  }
  void remove(T& item, ptl_match_bits_t bits)
  {
    Bucket& bucket = buckets_[slot(bits)];
    ChainLink<T>& link = link_(item);
    (link.previous ? link_(*link.previous).next : bucket.head) = link.next;
    (link.next ? link_(*link.next).previous : bucket.tail) = link.previous;
    --size_;
  }

  // When full, the owner calls grow() and appends all items again, in order.
  [[nodiscard]] bool full() const { return size_ >= 2 * buckets_.size() && ~ignore_ != 0; }
  void grow()
  {
    buckets_.assign(buckets_.size() * 4, {});
    size_ = 0;
  }

private:
  static constexpr std::size_t initial_buckets = 16;
  struct Bucket {
    T* head = nullptr;
    T* tail = nullptr;
  };

  [[nodiscard]] std::size_t slot(ptl_match_bits_t bits) const
  {
    // Fibonacci hashing: the high bits of the product depend on all bits kept.
    return ((bits & ~ignore_) * 0x9e3779b97f4a7c15ULL) >> (64 - std::countr_zero(buckets_.size()));
  }

  ptl_match_bits_t ignore_;
  LinkOf link_;
  std::vector<Bucket> buckets_;
  std::size_t size_ = 0;
};

} // namespace umwelt::portals
