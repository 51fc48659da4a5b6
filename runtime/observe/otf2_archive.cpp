// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/otf2_archive.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace umwelt::observe
{

namespace fs = std::filesystem;

namespace
{

constexpr std::string_view ending = ".otf2";
constexpr std::uint64_t definitions_chunk = 4 << 20; // bytes; a definition has to fit into one: groups of many ranks
constexpr std::uint64_t events_chunk = 1 << 20;

// Nothing is asked back, so that no record tells of it: the time of the run does not go on meanwhile.
OTF2_FlushType flush_always(void*, OTF2_FileType, OTF2_LocationRef, void*, bool)
{
  return OTF2_FLUSH;
}

constexpr OTF2_FlushCallbacks flushes{flush_always, nullptr};

bool is_of_an_archive(const fs::path& directory)
{
  constexpr auto endings = std::to_array<std::string_view>({".evt", ".def", ".snap", ".thumb"});
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    const std::string extension = entry.path().extension().string();
    if (!entry.is_regular_file() || std::find(endings.begin(), endings.end(), extension) == endings.end())
      return false;
  }
  return true;
}

} // namespace

Otf2Archive::Otf2Archive(const std::string& path) : path_(path)
{
  const fs::path absolute = fs::absolute(path);
  directory_ = absolute.parent_path().string();
  name_ = absolute.filename().string();
  if (!name_.ends_with(ending) || name_.size() == ending.size())
    refuse("a name that ends in .otf2", fmt::format("'{}'", name_), "Tools know an archive by it: name it so.");
  name_.resize(name_.size() - ending.size());
  check_what_is_there();
  partial_ = fmt::format("{}/{}{}.{}.partial", directory_, name_, ending, getpid());
  std::error_code error;
  fs::remove_all(partial_, error); // of a process that had our number
  if (!fs::create_directory(partial_, error))
    refuse("a directory in which files can be made", error.message(),
           "Check the directory and its permissions, or name another file.");
  OTF2_Error_RegisterCallback(remember, this);
  archive_ = OTF2_Archive_Open(partial_.c_str(), name_.c_str(), OTF2_FILEMODE_WRITE, events_chunk, definitions_chunk,
                               OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  if (archive_ == nullptr) {
    fs::remove_all(partial_, error);
    refuse("an archive that can be written", error_, "Name another file.");
  }
  OTF2_Archive_SetFlushCallbacks(archive_, &flushes, nullptr);
  OTF2_Archive_SetSerialCollectiveCallbacks(archive_);
  OTF2_Archive_SetCreator(archive_, "Umwelt");
  OTF2_Archive_OpenEvtFiles(archive_);
}

Otf2Archive::~Otf2Archive()
{
  OTF2_Archive_Close(archive_);
  OTF2_Error_RegisterCallback(nullptr, nullptr);
  std::error_code error;
  if (!partial_.empty())
    fs::remove_all(partial_, error);
}

void Otf2Archive::refuse(const std::string& expected, const std::string& got, const std::string& next_step) const
{
  throw std::invalid_argument(fmt::format("--trace {}: expected {}, got: {}\n  {}", path_, expected, got, next_step));
}

// Three names belong to an archive; what is none is not to be lost.
void Otf2Archive::check_what_is_there() const
{
  const fs::path base = fs::path(directory_) / name_;
  const fs::path anchor = base.string() + std::string(ending);
  std::error_code error;
  for (const fs::path& file : {anchor, fs::path(base.string() + ".def")})
    if (const fs::file_status status = fs::status(file, error);
        fs::exists(status) && (!fs::is_regular_file(status) || access(file.c_str(), W_OK) != 0))
      refuse("a file that can be replaced", fmt::format("{}, which cannot", file.string()), "Name another file.");
  const fs::file_status status = fs::status(base, error);
  if (!fs::exists(status))
    return;
  if (!fs::is_directory(status) || !is_of_an_archive(base))
    refuse(fmt::format("nothing but an archive's events in {}, where those of this one are to be", base.string()),
           fs::is_directory(status) ? "other files" : "a file", "Name another file, or move that away.");
}

OTF2_ErrorCode Otf2Archive::remember(void* archive, const char*, std::uint64_t, const char*, OTF2_ErrorCode code,
                                     const char* format, va_list arguments)
{
  std::string& error = static_cast<Otf2Archive*>(archive)->error_;
  if (error.empty()) {
    std::array<char, 256> text{};
    std::vsnprintf(text.data(), text.size(), format, arguments);
    error = fmt::format("{} ({})", OTF2_Error_GetDescription(code), text.data());
  }
  return code;
}

OTF2_EvtWriter* Otf2Archive::begin_location(OTF2_LocationRef location)
{
  locations_.push_back(location);
  return OTF2_Archive_GetEvtWriter(archive_, location);
}

std::uint64_t Otf2Archive::end_location(OTF2_EvtWriter* writer)
{
  std::uint64_t events = 0;
  OTF2_EvtWriter_GetNumberOfEvents(writer, &events);
  OTF2_Archive_CloseEvtWriter(archive_, writer);
  return events;
}

OTF2_GlobalDefWriter* Otf2Archive::definitions()
{
  OTF2_Archive_CloseEvtFiles(archive_);
  OTF2_Archive_OpenDefFiles(archive_); // empty ones, which readers look for
  for (const OTF2_LocationRef location : locations_)
    OTF2_Archive_CloseDefWriter(archive_, OTF2_Archive_GetDefWriter(archive_, location));
  OTF2_Archive_CloseDefFiles(archive_);
  return OTF2_Archive_GetGlobalDefWriter(archive_);
}

// The library draws one at random; here equal runs have equal archives, so it follows from the definitions.
void Otf2Archive::set_trace_id() const
{
  const std::string base = (fs::path(partial_) / name_).string();
  std::uint64_t drawn = 0;
  OTF2_Reader* const reader = error_.empty() ? OTF2_Reader_Open((base + std::string(ending)).c_str()) : nullptr;
  if (reader == nullptr)
    return;
  OTF2_Reader_GetTraceId(reader, &drawn);
  OTF2_Reader_Close(reader);
  std::ifstream definitions(base + ".def", std::ios::binary);
  std::uint64_t id = 14695981039346656037U; // FNV-1a
  for (char byte = 0; definitions.get(byte);)
    id = (id ^ static_cast<unsigned char>(byte)) * 1099511628211U;
  std::fstream anchor(base + std::string(ending), std::ios::in | std::ios::out | std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(anchor), {}};
  for (const bool swapped : {false, true}) { // the anchor is written with the highest byte first
    const auto as_bytes = [swapped](std::uint64_t value) {
      std::string bytes(sizeof value, '\0');
      std::memcpy(bytes.data(), &value, sizeof value);
      if (swapped)
        std::reverse(bytes.begin(), bytes.end());
      return bytes;
    };
    const std::size_t at = text.find(as_bytes(drawn));
    if (at == std::string::npos)
      continue;
    anchor.clear();
    anchor.seekp(static_cast<std::streamoff>(at));
    anchor << as_bytes(id);
  }
}

void Otf2Archive::finish()
{
  OTF2_Archive_Close(archive_);
  archive_ = nullptr;
  set_trace_id();
  std::error_code error;
  const fs::path from = fs::path(partial_) / name_;
  const fs::path to = fs::path(directory_) / name_;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(partial_, error))
    if (entry.is_regular_file())
      bytes_ += entry.file_size();
  if (error_.empty()) {
    const fs::path old = fs::path(partial_) / "before"; // goes with the directory
    const std::string anchor = std::string(ending), definitions = ".def";
    fs::remove(to.string() + anchor, error); // it would lead to events of another run
    if (fs::exists(to))
      fs::rename(to, old, error);
    if (fs::exists(from))
      fs::rename(from, to, error);
    for (const std::string& part : {definitions, anchor})
      if (!error)
        fs::rename(from.string() + part, to.string() + part, error);
    if (error)
      error_ = error.message();
  }
  if (!error_.empty()) {
    const std::string kept = std::exchange(partial_, "");
    throw std::runtime_error(fmt::format("--trace {}: expected all of it to be written, got: {}; what there is, is in "
                                         "{}\n  Make room or name another file, and run again; --trace-ranks makes a "
                                         "trace smaller.",
                                         path_, error_, kept));
  }
}

} // namespace umwelt::observe
