// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/portals/objects/limits.h"

#include <algorithm>

#include "runtime/portals/objects/handle.h"

namespace umwelt::portals
{

namespace
{

constexpr int max_objects = static_cast<int>(Handle::max_index) + 1;
constexpr unsigned all_features = PTL_TARGET_BIND_INACCESSIBLE | PTL_TOTAL_DATA_ORDERING | PTL_COHERENT_ATOMICS;

// The most the engine grants. Sizes of ordered messages and of atomics are those a NIC carries in one packet.
constexpr ptl_ni_limits_t largest{
    .max_entries = max_objects,
    .max_unexpected_headers = 1 << 24,
    .max_mds = max_objects,
    .max_cts = max_objects,
    .max_eqs = max_objects,
    .max_pt_index = 511,
    .max_iovecs = 1 << 24,
    .max_list_size = max_objects,
    .max_triggered_ops = 1 << 24,
    .max_msg_size = ptl_size_t{1} << 40,
    .max_atomic_size = 512,
    .max_fetch_atomic_size = 512,
    .max_waw_ordered_size = 64,
    .max_war_ordered_size = 64,
    .max_volatile_size = 512,
    .features = all_features,
};

int grant(int desired, int most)
{
  return desired < 0 ? most : std::min(desired, most);
}

} // namespace

ptl_ni_limits_t default_limits()
{
  ptl_ni_limits_t limits = largest;
  limits.max_unexpected_headers = 1 << 20;
  limits.max_pt_index = 255;
  limits.max_iovecs = 1 << 16;
  limits.max_triggered_ops = 1 << 14;
  limits.max_volatile_size = 64;
  return limits;
}

ptl_ni_limits_t negotiate(const ptl_ni_limits_t& desired)
{
  const ptl_size_t max_atomic_size = std::min(desired.max_atomic_size, largest.max_atomic_size);
  return {
      .max_entries = grant(desired.max_entries, largest.max_entries),
      .max_unexpected_headers = grant(desired.max_unexpected_headers, largest.max_unexpected_headers),
      .max_mds = grant(desired.max_mds, largest.max_mds),
      .max_cts = grant(desired.max_cts, largest.max_cts),
      .max_eqs = grant(desired.max_eqs, largest.max_eqs),
      .max_pt_index = grant(desired.max_pt_index, largest.max_pt_index),
      .max_iovecs = grant(desired.max_iovecs, largest.max_iovecs),
      .max_list_size = grant(desired.max_list_size, largest.max_list_size),
      // 0 comes from programs older than this limit: they get the default.
      .max_triggered_ops = desired.max_triggered_ops == 0 ? default_limits().max_triggered_ops
                                                          : grant(desired.max_triggered_ops, largest.max_triggered_ops),
      .max_msg_size = std::min(desired.max_msg_size, largest.max_msg_size),
      .max_atomic_size = max_atomic_size,
      // Programs that know only max_atomic_size (the reference's tests) leave this at 0 and fetch all the same.
      .max_fetch_atomic_size =
          std::clamp(desired.max_fetch_atomic_size, max_atomic_size, largest.max_fetch_atomic_size),
      // At least what the specification promises: 64 and 8 bytes.
      .max_waw_ordered_size = std::clamp<ptl_size_t>(desired.max_waw_ordered_size, 64, largest.max_waw_ordered_size),
      .max_war_ordered_size = std::clamp<ptl_size_t>(desired.max_war_ordered_size, 8, largest.max_war_ordered_size),
      .max_volatile_size = std::min(desired.max_volatile_size, largest.max_volatile_size),
      .features = desired.features & all_features,
  };
}

} // namespace umwelt::portals
