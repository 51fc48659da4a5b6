// SPDX-License-Identifier: LGPL-2.1-or-later
// Records that come in any order and are read in that of their `<`: kept in memory up to a limit, beyond that in sorted
// runs in a file without a name, which are merged in the end. So memory does not grow with what there is.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <queue>
#include <stdexcept>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

namespace umwelt::observe
{

template <class Record> class SortedSpool
{
  static_assert(std::is_trivially_copyable_v<Record>);

public:
  // `most`: so many in memory.
  explicit SortedSpool(std::size_t most = std::size_t{1} << 18) : most_(most) {}
  ~SortedSpool()
  {
    if (file_ != nullptr)
      std::fclose(file_);
  }
  SortedSpool(const SortedSpool&) = delete;
  SortedSpool& operator=(const SortedSpool&) = delete;

  // Throws std::system_error if the file cannot be made or written.
  void add(const Record& record)
  {
    now_.push_back(record);
    if (now_.size() >= most_)
      spill();
  }

  // All of them, equal ones in no particular order. Once.
  template <class Take> void read(Take take)
  {
    std::sort(now_.begin(), now_.end());
    if (runs_.empty()) {
      for (const Record& record : now_)
        take(record);
      now_.clear();
      return;
    }
    spill();
    std::vector<Reader> readers;
    readers.reserve(runs_.size());
    std::size_t begin = 0;
    const auto later = [&readers](std::size_t a, std::size_t b) { return readers[b].front() < readers[a].front(); };
    std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> next(later);
    for (const std::size_t end : runs_) {
      readers.emplace_back(file_, std::exchange(begin, end), end);
      next.push(readers.size() - 1);
    }
    while (!next.empty()) {
      const std::size_t which = next.top();
      next.pop();
      take(readers[which].front());
      if (readers[which].advance())
        next.push(which);
    }
    runs_.clear();
  }

private:
  // Of a run, a piece at a time.
  class Reader
  {
  public:
    Reader(std::FILE* file, std::size_t begin, std::size_t end) : file_(file), next_(begin), end_(end) { fill(); }
    [[nodiscard]] const Record& front() const { return piece_[at_]; }
    bool advance()
    {
      if (++at_ < piece_.size())
        return true;
      if (next_ == end_)
        return false;
      fill();
      return true;
    }

  private:
    void fill()
    {
      constexpr std::size_t piece = 1024;
      piece_.resize(std::min(piece, end_ - next_));
      if (std::fseek(file_, static_cast<long>(next_ * sizeof(Record)), SEEK_SET) != 0 ||
          std::fread(piece_.data(), sizeof(Record), piece_.size(), file_) != piece_.size())
        throw std::system_error(errno, std::generic_category(), "what was put aside cannot be read");
      next_ += piece_.size();
      at_ = 0;
    }
    std::FILE* file_;
    std::size_t next_, end_, at_ = 0;
    std::vector<Record> piece_;
  };

  void spill()
  {
    if (now_.empty())
      return;
    std::sort(now_.begin(), now_.end());
    if (file_ == nullptr)
      file_ = std::tmpfile();
    if (file_ == nullptr || std::fwrite(now_.data(), sizeof(Record), now_.size(), file_) != now_.size())
      throw std::system_error(errno, std::generic_category(), "a temporary file cannot be written");
    runs_.push_back((runs_.empty() ? 0 : runs_.back()) + now_.size());
    now_.clear();
  }

  std::size_t most_;
  std::vector<Record> now_;
  std::FILE* file_ = nullptr;
  std::vector<std::size_t> runs_; // where each ends, in records
};

} // namespace umwelt::observe
