// SPDX-License-Identifier: LGPL-2.1-or-later
// A rank's own dynamic linker: ld.so loads it as it would load it into a process of its own. Any number fits into a
// process; what it rests on of ld.so stands in README.md.
#pragma once

#include "loader/image.h"
#include "loader/rank_loader.h"

namespace umwelt::loader
{

class Linker : public RankLoader
{
public:
  using RankLoader::RankLoader;

  [[nodiscard]] r_debug* debug() const override;
  [[nodiscard]] bool is_known_to_debuggers() const override { return false; }
  [[nodiscard]] const link_map* program() const override { return debug()->r_map; }
  [[nodiscard]] std::uintptr_t change_notice() const override { return debug()->r_brk; }

protected:
  void begin(const LoadStart& start) override;
  [[nodiscard]] Failure failure() const override;
  [[nodiscard]] bool is_own(const link_map&) const override { return true; }

private:
  static void gave_up(void* self, int status);

  std::unique_ptr<Image> image_;
  std::int32_t process_ = 0;
};

} // namespace umwelt::loader
