// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/runtime/kernels/scratch.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "runtime/base/usage_error.h"

namespace umwelt::kernels
{

Scratch::Scratch() : directory_((std::filesystem::temp_directory_path() / "umwelt-kernels-XXXXXX").string())
{
  if (mkdtemp(directory_.data()) == nullptr)
    throw std::runtime_error("no temporary directory");
}

Scratch::~Scratch()
{
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

std::string Scratch::write(const std::string& name, std::string_view text) const
{
  const std::string path = directory_ + "/" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

Kernels read_text(std::string_view text)
{
  const Scratch scratch;
  const std::string path = scratch.write("k.yaml", text);
  return read_kernels(std::span(&path, 1));
}

std::string error_of(const Scratch& scratch, std::string_view text)
{
  const std::string path = scratch.write("k.yaml", text);
  try {
    read_kernels(std::span(&path, 1));
  } catch (const UsageError& error) {
    std::string message = error.what();
    const std::string directory = scratch.directory() + "/";
    for (auto at = message.find(directory); at != std::string::npos; at = message.find(directory))
      message.erase(at, directory.size());
    return message;
  }
  return "no error";
}

std::string error_of(std::string_view text)
{
  return error_of(Scratch(), text);
}

double seconds(const Model& model, std::span<const double> values, std::uint64_t call, const Place& place)
{
  return sim::to_seconds(model.duration(place, values, call));
}

} // namespace umwelt::kernels
