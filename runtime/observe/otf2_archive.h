// SPDX-License-Identifier: LGPL-2.1-or-later
// The files of an OTF2 archive, as other tools name them: the anchor NAME.otf2, NAME.def beside it, and a directory
// NAME with the events of each location. They are written into a directory NAME.otf2.PID.partial and appear together at
// the end, the anchor last; an archive of that name that was there is replaced.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <otf2/otf2.h>

namespace umwelt::observe
{

class Otf2Archive
{
public:
  // Throws std::invalid_argument if `path` is none for an archive, if something else than an archive is in its way, or
  // if nothing can be written there.
  explicit Otf2Archive(const std::string& path);
  // Not finished: nothing is left of it.
  ~Otf2Archive();
  Otf2Archive(const Otf2Archive&) = delete;
  Otf2Archive& operator=(const Otf2Archive&) = delete;

  // One location at a time; its times must not decrease.
  OTF2_EvtWriter* begin_location(OTF2_LocationRef location);
  // How many events it has.
  std::uint64_t end_location(OTF2_EvtWriter* writer);
  // When all locations are written; once.
  OTF2_GlobalDefWriter* definitions();
  // The archive appears. Throws std::runtime_error if any of it could not be written; what there is keeps its
  // directory.
  void finish();
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

private:
  void check_what_is_there() const;
  void set_trace_id() const;
  [[noreturn]] void refuse(const std::string& expected, const std::string& got, const std::string& next_step) const;
  static OTF2_ErrorCode remember(void* archive, const char* file, std::uint64_t line, const char* function,
                                 OTF2_ErrorCode code, const char* format, va_list arguments);

  std::string path_;      // as given
  std::string directory_; // absolute
  std::string name_;      // without .otf2
  std::string partial_;   // directory
  std::string error_;     // the first
  OTF2_Archive* archive_ = nullptr;
  std::vector<OTF2_LocationRef> locations_;
  std::uint64_t bytes_ = 0;
};

} // namespace umwelt::observe
