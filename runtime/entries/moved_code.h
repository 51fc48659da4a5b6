// SPDX-License-Identifier: LGPL-2.1-or-later
// The first instructions of a function, written so that they do the same elsewhere: a call takes their place
// (patched_object.h), and whoever wants the function itself executes the copy and goes on behind.
//
// Straight instructions are copied; an operand relative to the instruction pointer gets another distance, and so does a
// branch, in its long form. A function with a branch back among them is refused, and so is one that is too short.
//
// Intel SDM, volume 2: section 2.2.1.6, RIP-relative addressing; "CALL", "Jcc", "JMP".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace umwelt::entries
{

// `call *%fs:slot`: what is written over the entry.
constexpr std::size_t call_bytes = 8;

class MovedCode
{
public:
  // `function`: its code, which lies at `address`; at least its first 8 bytes, with what follows if its end is not
  // known. Nothing, and `why` says so in words that follow "its entry": it cannot be moved.
  static std::optional<MovedCode> of(std::span<const unsigned char> function, std::uint64_t address, std::string& why);

  // How many bytes the copy has, with the jump back.
  [[nodiscard]] std::size_t bytes() const;
  // The copy that does its work at `place`, in the terms of `address` above. Nothing: it is more than 2 GiB away.
  [[nodiscard]] std::optional<std::vector<unsigned char>> at(std::uint64_t place) const;

private:
  struct Distance { // 32 bits at `offset`, from `next` to an address in the terms of address_
    std::size_t offset, next;
    std::uint64_t target;
  };

  std::vector<unsigned char> code_;
  std::vector<Distance> distances_;
};

} // namespace umwelt::entries
