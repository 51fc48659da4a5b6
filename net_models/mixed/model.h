// SPDX-License-Identifier: LGPL-2.1-or-later
// Several models in one run: nodes that have one each, and another from some time on.
//
// A transfer between nodes of one model is that model's. Between nodes of two, the sender's model carries it to the
// NIC of its target and the target's takes it in (core/model.h, Handover). A node that gets another model uses it for
// what begins then; what is under way ends in the models it began with. So two models may have requests of the same
// pair of processes at a time: those that begin later wait until the others have been matched, since matching keeps
// their order (Portals 4.3, section 2.4). Likewise, what is written to a host becomes visible in order.
//
// All of that costs a record per transfer. A transfer within one model of a run whose nodes keep theirs has none.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "net_models/core/model.h"
#include "net_models/mixed/assignment.h"
#include "net_models/mixed/ordered_writes.h"
#include "runtime/base/pool.h"

namespace umwelt::net
{

class MixedModel final : public Model, private TransferClient, private Handover
{
public:
  using Index = Assignment::Index;

  // `models`: at least one; `changes`: the assignment does. Throws std::invalid_argument if there are two that ask
  // SimGrid's solver: it has one clock.
  MixedModel(sim::Timeline& timeline, std::vector<std::unique_ptr<Model>> models, Assignment assignment, bool changes);
  ~MixedModel() override;

  // Of models by their indexes.
  [[nodiscard]] Assignment& assignment() { return assignment_; }
  // One more; throws std::invalid_argument as above.
  Index add(std::unique_ptr<Model> model);

  // How often, so far.
  struct Counts {
    std::uint64_t handed_over = 0; // transfers from one model to another
    std::uint64_t held = 0;        // that waited for earlier ones in the models of before
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

  [[nodiscard]] std::string_view name() const override { return name_; }
  bool start(Transfer& transfer) override;
  bool reserve(Transfer& transfer) override;
  void unreserve(Transfer& transfer) override;
  [[nodiscard]] SimTime issue_cost(const Transfer& transfer) const override
  {
    return of(transfer.source).issue_cost(transfer);
  }
  [[nodiscard]] const Model& at(NodeIndex node) const override { return of(node); }
  void write_to_host(NodeIndex node, WriteKind kind, HostWrite& write) override;
  [[nodiscard]] bool external_pending() const override { return external_ != nullptr && external_->external_pending(); }
  [[nodiscard]] bool has_external() const override { return external_ != nullptr; }
  bool advance_external(SimTime limit) override { return external_->advance_external(limit); }

private:
  struct Path {
    Index from = 0;
    Index to = 0;
    friend bool operator==(const Path&, const Path&) = default;
  };
  struct Order;
  // A transfer that is looked after.
  struct Record final : TransferState {
    Transfer* transfer = nullptr;
    TransferClient* client = nullptr; // the transfer's own
    Order* order = nullptr;           // it has a place there until it is matched
    Path path;
    bool source_told = false;
    bool delivered = false;
    Transfer inbound; // what the target's model takes in
  };
  // Requests of a pair of processes that have not been matched: `under_way` by one path, then others.
  struct Order final : sim::Event {
    MixedModel* model = nullptr;
    std::uint64_t under_way = 0;
    Path path;
    std::deque<Record*> held;
    void fire() override { model->let_go(*this); }
  };

  [[nodiscard]] Index index_of(NodeIndex node) const { return assignment_.at(node, timeline_.now()); }
  [[nodiscard]] Model& of(NodeIndex node) const { return *models_[index_of(node)]; }
  static Record& record_of(Transfer& transfer) { return *static_cast<Record*>(transfer.record); }
  Record& look_after(Transfer& transfer, Path path);
  bool go(Record& record);
  void let_go(Order& order);
  void leave_order(Record& record);
  void end(Record& record);

  void source_read(Transfer& transfer) override;
  void header_arrived(Transfer& transfer) override;
  void delivered(Transfer& transfer) override;
  void failed(Transfer& transfer, TransferFailure why) override;
  void reached(Transfer& transfer, SimTime tail) override;
  void foreseen(Transfer& transfer, SimTime tail) override;

  sim::Timeline& timeline_;
  std::vector<std::unique_ptr<Model>> models_;
  mutable Assignment assignment_; // follows the time when it is asked
  const bool changes_;
  Model* external_ = nullptr; // null: none has
  std::string name_;          // of the first ones
  sim::Pool<Record> records_;
  std::unordered_map<std::uint64_t, Order> orders_; // by Transfer::processes()
  std::vector<OrderedWrites> writes_;               // per node, if models change
  Counts counts_;
};

} // namespace umwelt::net
