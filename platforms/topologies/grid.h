// SPDX-License-Identifier: LGPL-2.1-or-later
// What tori, meshes and HyperX have in common: switches are the points of a grid, numbered with the first dimension
// fastest, as SimGrid's TORUS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "platforms/topologies/direct.h"
#include "platforms/topologies/shape.h"

namespace umwelt::platform
{

class GridTopology : public DirectTopology
{
protected:
  GridTopology(const Graph& plane, Shape sizes, std::uint32_t hosts, Choice choice);

  // How many there are.
  static std::uint32_t switches_of(const Shape& sizes);

  [[nodiscard]] const Shape& sizes() const { return sizes_; }
  [[nodiscard]] Shape coordinates(SwitchIndex index) const;
  // The switch with another coordinate in one dimension.
  [[nodiscard]] SwitchIndex moved(SwitchIndex from, std::size_t dimension, std::uint32_t at, std::uint32_t to) const
  {
    return from - at * strides_[dimension] + to * strides_[dimension];
  }

private:
  [[nodiscard]] std::string name_in_plane(SwitchIndex index) const override; // "switch1.2.0"
  [[nodiscard]] std::string part_of_plane(SwitchIndex index) const override;

  Shape sizes_;
  Shape strides_; // by dimension: from a switch to the next one
};

} // namespace umwelt::platform
