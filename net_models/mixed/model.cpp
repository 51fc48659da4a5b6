// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/mixed/model.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace umwelt::net
{

MixedModel::MixedModel(sim::Timeline& timeline, std::vector<std::unique_ptr<Model>> models, Assignment assignment,
                       bool changes)
    : timeline_(timeline), assignment_(std::move(assignment)), changes_(changes),
      writes_(changes ? assignment_.nodes() : 0)
{
  std::vector<std::string> names;
  for (std::unique_ptr<Model>& model : models) {
    if (std::find(names.begin(), names.end(), model->name()) == names.end())
      names.emplace_back(model->name());
    add(std::move(model));
  }
  name_ = fmt::format("{}", fmt::join(names, " and "));
}

MixedModel::~MixedModel() = default;

MixedModel::Index MixedModel::add(std::unique_ptr<Model> model)
{
  if (model->has_external()) {
    if (external_ != nullptr)
      throw std::invalid_argument(fmt::format("models of a run: expected one that uses SimGrid's solver, got two ({} "
                                              "with different parameters). Give all of its nodes the same.",
                                              model->name()));
    external_ = model.get();
  }
  models_.push_back(std::move(model));
  return static_cast<Index>(models_.size() - 1);
}

// ---- Sending ----

bool MixedModel::reserve(Transfer& transfer)
{
  const Index from = index_of(transfer.source);
  if (!models_[from]->reserve(transfer))
    return false;
  transfer.reserved_by = from;
  return true;
}

void MixedModel::unreserve(Transfer& transfer)
{
  models_[transfer.reserved ? transfer.reserved_by : index_of(transfer.source)]->unreserve(transfer);
}

bool MixedModel::start(Transfer& transfer)
{
  Path path;
  path.from = transfer.reserved ? transfer.reserved_by : index_of(transfer.source);
  path.to = transfer.source == transfer.target ? path.from : index_of(transfer.target);
  const bool in_order = changes_ && transfer.ordered();
  if (path.from == path.to && !in_order) {
    transfer.handover = nullptr;
    transfer.record = nullptr;
    return models_[path.from]->start(transfer);
  }
  Order* order = nullptr;
  if (in_order) {
    order = &orders_[transfer.processes()];
    order->model = this;
    if (!order->held.empty() || (order->under_way > 0 && order->path != path)) {
      if (transfer.from_host && !transfer.reserved && !reserve(transfer))
        return false;
      ++counts_.held;
      order->held.push_back(&look_after(transfer, path));
      return true;
    }
  }
  Record& record = look_after(transfer, path);
  if (order != nullptr) {
    record.order = order;
    ++order->under_way;
    order->path = path;
  }
  if (go(record))
    return true;
  if (order != nullptr)
    --order->under_way;
  end(record);
  return false;
}

MixedModel::Record& MixedModel::look_after(Transfer& transfer, Path path)
{
  Record& record = records_.acquire();
  record.transfer = &transfer;
  record.client = transfer.client;
  record.order = nullptr;
  record.path = path;
  record.source_told = false;
  record.delivered = false;
  transfer.client = this;
  transfer.record = &record;
  transfer.handover = path.from == path.to ? nullptr : static_cast<Handover*>(this);
  return record;
}

bool MixedModel::go(Record& record)
{
  return models_[record.path.from]->start(*record.transfer);
}

// All that went by another path have been matched.
void MixedModel::let_go(Order& order)
{
  while (!order.held.empty() && (order.under_way == 0 || order.path == order.held.front()->path)) {
    Record& record = *order.held.front();
    order.held.pop_front();
    record.order = &order;
    ++order.under_way;
    order.path = record.path;
    go(record); // it has a place in the command queue
  }
}

void MixedModel::leave_order(Record& record)
{
  if (record.order == nullptr)
    return;
  Order& order = *std::exchange(record.order, nullptr);
  if (--order.under_way == 0 && !order.held.empty())
    timeline_.schedule(order, timeline_.now()); // not here: a model is in the middle of its work
}

// ---- What models tell ----

// The transfer is its client's again.
void MixedModel::end(Record& record)
{
  record.transfer->client = record.client;
  record.transfer->record = nullptr;
  record.transfer->handover = nullptr;
  records_.release(record);
}

void MixedModel::source_read(Transfer& transfer)
{
  Record& record = record_of(transfer);
  TransferClient& client = *record.client;
  record.source_told = true;
  if (record.delivered)
    end(record);
  client.source_read(transfer);
}

void MixedModel::header_arrived(Transfer& transfer)
{
  Record& record = record_of(transfer);
  Transfer& original = *record.transfer;
  original.searched = 0;
  record.client->header_arrived(original);
  transfer.deposit = original.deposit;
  transfer.searched = original.searched;
  leave_order(record);
}

void MixedModel::delivered(Transfer& transfer)
{
  Record& record = record_of(transfer);
  Transfer& original = *record.transfer;
  TransferClient& client = *record.client;
  if (original.handover != nullptr)
    models_[record.path.from]->taken(original); // it may say source_read()
  record.delivered = true;
  if (record.source_told)
    end(record);
  client.delivered(original);
}

void MixedModel::failed(Transfer& transfer, TransferFailure why)
{
  Record& record = record_of(transfer);
  TransferClient& client = *record.client;
  leave_order(record);
  end(record);
  client.failed(transfer, why);
}

// ---- From one model to another ----

void MixedModel::reached(Transfer& transfer, SimTime tail)
{
  Record& record = record_of(transfer);
  Transfer& inbound = record.inbound;
  inbound = {};
  inbound.client = this;
  inbound.kind = transfer.kind;
  inbound.source = transfer.source;
  inbound.target = transfer.target;
  inbound.payload = transfer.payload;
  inbound.region = transfer.region;
  inbound.initiator_process = transfer.initiator_process;
  inbound.target_process = transfer.target_process;
  inbound.from_host = transfer.from_host;
  inbound.service = transfer.service;
  inbound.unordered = transfer.unordered;
  inbound.record = &record;
  ++counts_.handed_over;
  models_[record.path.to]->take_in(inbound, tail);
}

void MixedModel::foreseen(Transfer& transfer, SimTime tail)
{
  Record& record = record_of(transfer);
  if (!record.delivered)
    models_[record.path.to]->tail_moved(record.inbound, tail);
}

// ---- Events ----

void MixedModel::write_to_host(NodeIndex node, WriteKind kind, HostWrite& write)
{
  if (changes_)
    writes_[node].post(of(node), node, kind, write);
  else
    of(node).write_to_host(node, kind, write);
}

} // namespace umwelt::net
