// SPDX-License-Identifier: LGPL-2.1-or-later
// Where a rank's standard output and error go when they do not simply go to Umwelt's own: to collectors whose lines are
// passed on, into files of the rank (--output-filename), with a tag (--tag-output, --timestamp-output).
#pragma once

#include <array>
#include <memory>
#include <string>

#include <sys/types.h>

#include "runtime/observe/result_file.h"
#include "runtime/plan/options.h"

namespace umwelt::job
{

class OutputRelay;

class StandardOutput
{
public:
  // Throws std::invalid_argument if a file cannot be written. `rank` of `ranks` of a job; the program's descriptors are
  // descriptors(). What is collected is passed on by `relay`, which outlives it.
  StandardOutput(const plan::RunOptions& options, OutputRelay& relay, unsigned job, int rank, int ranks);
  ~StandardOutput();
  StandardOutput(const StandardOutput&) = delete;
  StandardOutput& operator=(const StandardOutput&) = delete;

  // Throws UsageError if files cannot be made in the directory, without a trace.
  static void check(const plan::OutputFiles& output);

  // Its files are emptied: those of all ranks could be opened.
  void begin();
  // No more is passed on. Throws std::runtime_error if a file is not whole.
  void finish();

  // Descriptors for the rank's 1 and 2.
  [[nodiscard]] int descriptor(int stream) const { return streams_[static_cast<std::size_t>(stream - 1)].fd; }
  [[nodiscard]] bool collects() const { return collects_; }
  // Passes on what the rank has written since the last call; whole lines only, unless `everything`.
  void pass_on(bool everything);

private:
  struct Stream {
    int fd = -1;                               // the rank writes here
    bool collector = false;                    // of this stream
    std::unique_ptr<observe::ResultFile> file; // --output-filename
    int target = -1;                           // Umwelt's own descriptor the lines are passed on to, -1: to none
    off_t done = 0;                            // bytes of fd already taken,
    off_t given_back = 0;                      // and of those, given back to the machine
    std::string label;                         // "stdout"
    std::string partial;                       // a line that has not ended yet
  };
  static void take(Stream& stream);
  void pass_on(Stream& stream, bool everything);
  [[nodiscard]] std::string tag(const Stream& stream) const;

  OutputRelay& relay_;
  bool tag_;
  bool timestamp_;
  bool collects_ = false;
  unsigned job_;
  int rank_;
  std::array<Stream, 2> streams_;
};

} // namespace umwelt::job
