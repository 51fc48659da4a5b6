// SPDX-License-Identifier: LGPL-2.1-or-later
// What the records of ranks' calls speak of: communicators, windows, files and functions have numbers of the rank in
// them (preload/abi/mpi_events.h), and here those of the run, the same for all who share them.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "preload/abi/mpi_events.h"

namespace umwelt::observe
{

class TracedCalls
{
public:
  // Ranks of the run: `first`, then each `step` further; or those listed.
  struct Members {
    std::int64_t first = 0, step = 0;
    std::uint32_t size = 0;
    std::vector<std::int32_t> listed;
    auto operator<=>(const Members&) const = default; // NOLINT(modernize-use-nullptr): a false alarm
    // -1: there is no such rank in the run, as far as is known.
    [[nodiscard]] std::int64_t at(std::int64_t index) const;
  };
  struct Communicator {
    Members members, others; // of one group, or of two; those of the second are none where there is one
    std::uint64_t ordinal = 0;
    std::string name;
  };
  struct Window {
    std::uint32_t communicator = 0;
    std::uint64_t ordinal = 0;
    auto operator<=>(const Window&) const = default; // NOLINT(modernize-use-nullptr): a false alarm
  };
  struct File {
    std::uint32_t communicator = 0;
    std::uint64_t ordinal = 0;
    std::string path;
    auto operator<=>(const File&) const = default; // NOLINT(modernize-use-nullptr): a false alarm
  };
  static constexpr std::uint32_t none = UINT32_MAX;

  // Records of a rank follow; rank 0 of its MPI_COMM_WORLD is `first` in the run.
  void begin(std::uint32_t first);
  // Whether the record only says what others speak of. Numbers in one that is not are changed into those of the run:
  // `object` (none: not known), `function` of what is no function of MPI.
  bool takes(umw_event& event);
  // The rank of the run that is meant by `peer` of the message that was given to `takes` last; -1: not known.
  [[nodiscard]] std::int64_t peer_of(const umw_event& event) const;

  [[nodiscard]] const std::vector<Communicator>& communicators() const { return communicators_; }
  [[nodiscard]] const std::vector<Window>& windows() const { return windows_; }
  [[nodiscard]] const std::vector<File>& files() const { return files_; }
  // "MPI_Send", or of the program.
  [[nodiscard]] std::string function_name(std::uint32_t function) const;
  // Names of the program's, by function less UMW_EVENT_FUNCTIONS.
  [[nodiscard]] const std::vector<std::string>& functions() const { return functions_; }

private:
  struct Key {
    Members a, b;
    std::uint64_t ordinal;
    auto operator<=>(const Key&) const = default; // NOLINT(modernize-use-nullptr): a false alarm
  };
  void begin_definition(const umw_event& event);
  void end_definition();
  std::uint32_t number_of(Communicator communicator);
  template <class One> std::uint32_t number_in(std::map<One, std::uint32_t>& numbers, std::vector<One>& all, One one);

  std::uint32_t first_ = 0;
  // Of the rank, by its numbers:
  std::vector<std::uint32_t> own_communicators_, own_windows_, own_files_, own_functions_;
  std::vector<Members> peers_;                           // by its communicators: whom ranks of messages are among
  std::map<std::uint32_t, std::uint64_t> made_, opened_; // by communicator of the run
  umw_event definition_{};                               // whose data comes
  std::string data_;
  std::uint64_t data_left_ = 0, listed_bytes_ = 0; // records; bytes before the text
  Members half_;                                   // of two groups
  bool has_half_ = false;
  // Of the run:
  std::map<Key, std::uint32_t> communicator_numbers_;
  std::map<Window, std::uint32_t> window_numbers_;
  std::map<File, std::uint32_t> file_numbers_;
  std::map<std::string, std::uint32_t> function_numbers_;
  std::vector<Communicator> communicators_;
  std::vector<Window> windows_;
  std::vector<File> files_;
  std::vector<std::string> functions_;
  std::uint32_t last_object_ = none; // number in the rank of what the last record spoke of
};

} // namespace umwelt::observe
