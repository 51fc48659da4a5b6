// SPDX-License-Identifier: LGPL-2.1-or-later
// What the simple models have in common: the times of a transfer are known when it starts, command queues are never
// full, nothing is lost. A derived model only says when (plan) and what the host pays.
#pragma once

#include <unordered_map>
#include <vector>

#include "net_models/core/host_writes.h"
#include "net_models/core/model.h"
#include "runtime/base/pool.h"

namespace umwelt::net
{

class PlannedModel : public Model
{
public:
  explicit PlannedModel(const ModelContext& context);

  bool start(Transfer& transfer) final;
  void write_to_host(NodeIndex node, WriteKind kind, HostWrite& write) final;

protected:
  // Absolute times; source_free and header not before now, last_byte not before header.
  struct Plan {
    SimTime source_free = 0;
    SimTime header = 0;
    SimTime last_byte = 0;
  };
  virtual Plan plan(const Transfer& transfer) = 0;
  // Delay from the NIC's decision to write until the host can see it.
  [[nodiscard]] virtual SimTime write_delay(WriteKind kind) const = 0;

  [[nodiscard]] sim::Timeline& timeline() const { return context_.timeline; }
  [[nodiscard]] const platform::Platform& platform() const { return context_.platform; }

private:
  struct Flight final : TransferState, sim::Event {
    PlannedModel* model = nullptr;
    Transfer* transfer = nullptr;
    Plan plan;
    bool source_told = false;
    bool header_told = false;
    SimTime started = 0; // for the observer
    void fire() override { model->advance(*this); }
  };

  void advance(Flight& flight);
  void schedule_next(Flight& flight);
  void keep_order(const Transfer& transfer, Plan& plan);
  void tell(const Flight& flight) const;

  ModelContext context_;
  sim::Pool<Flight> flights_;
  std::vector<HostWrites> writes_;                     // per node
  std::unordered_map<std::uint64_t, SimTime> ordered_; // last header time per pair of processes
};

} // namespace umwelt::net
