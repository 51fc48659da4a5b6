// SPDX-License-Identifier: LGPL-2.1-or-later
// The content of a program or library, and where in it there is code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace umwelt::entries
{

class ObjectFile
{
public:
  struct Segment { // with code
    std::uint64_t address, bytes, offset;
  };

  // Throws std::system_error if it cannot be read. What is no ELF file for 64 bits has no segments.
  explicit ObjectFile(const std::string& path);
  ~ObjectFile();
  ObjectFile(const ObjectFile&) = delete;
  ObjectFile& operator=(const ObjectFile&) = delete;

  [[nodiscard]] std::span<const unsigned char> content() const
  {
    return {static_cast<const unsigned char*>(content_), bytes_};
  }
  [[nodiscard]] std::span<const unsigned char> code(const Segment& segment) const
  {
    return content().subspan(segment.offset, segment.bytes);
  }
  [[nodiscard]] const std::vector<Segment>& segments() const { return segments_; }

private:
  void* content_ = nullptr;
  std::size_t bytes_ = 0;
  std::vector<Segment> segments_;
};

} // namespace umwelt::entries
