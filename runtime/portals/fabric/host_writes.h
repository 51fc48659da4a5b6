// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes of the NIC into host memory, while a model lets them take time.
#pragma once

#include "net_models/core/model.h"
#include "runtime/portals/fabric/ni_ref.h"
#include "runtime/portals/objects/counter.h"

namespace umwelt::portals
{

class Fabric;

class EventWrite final : public net::HostWrite
{
public:
  Fabric* fabric = nullptr;
  NiRef ni;
  ptl_handle_eq_t queue = PTL_EQ_NONE;
  void visible() override;
};

class CounterWrite final : public net::HostWrite
{
public:
  Fabric* fabric = nullptr;
  NiRef ni;
  ptl_handle_ct_t counter = PTL_CT_NONE;
  CounterChange change;
  void visible() override;
};

} // namespace umwelt::portals
