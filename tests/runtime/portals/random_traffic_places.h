// SPDX-License-Identifier: LGPL-2.1-or-later
// Where the random messages go, and what those whose effect is checked consist of.
#pragma once

#include <cstddef>
#include <cstdint>

#include "preload/abi/portals4.h"

namespace umwelt::portals::test
{

// Portal table entries of every rank.
constexpr ptl_pt_index_t plain = 0;
constexpr ptl_pt_index_t flow = 1;    // with flow control
constexpr ptl_pt_index_t mailbox = 2; // + rank of the sender
constexpr ptl_pt_index_t ledger = 5;
constexpr ptl_pt_index_t log_book = 6;
constexpr ptl_pt_index_t marks = 7;
constexpr ptl_pt_index_t spare = 8; // to 12: come and go
constexpr ptl_pt_index_t nowhere = 14;

constexpr ptl_size_t queue_length = 200; // of the entry with flow control
constexpr ptl_uid_t our_uid = 100;

// Of a message of its own, by the number of its operation.
inline unsigned char letter_byte(std::size_t operation, std::size_t at)
{
  return static_cast<unsigned char>(operation * 131 + at * 7 + 1);
}

inline bool holds_letter(const unsigned char* bytes, std::size_t operation, std::size_t length)
{
  for (std::size_t i = 0; i < length; ++i)
    if (bytes[i] != letter_byte(operation, i))
      return false;
  return true;
}

} // namespace umwelt::portals::test
