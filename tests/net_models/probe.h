// SPDX-License-Identifier: LGPL-2.1-or-later
// A client that writes down when a model told it what, and a model on a small machine to try.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "net_models/catalogue.h"
#include "platforms/platform.h"
#include "runtime/base/parameters.h"

namespace umwelt::net
{

struct Observed final : Transfer {
  SimTime started = -1;
  SimTime source_free = -1;
  SimTime header = -1;
  SimTime done = -1; // delivered
  SimTime failed_at = -1;
  TransferFailure why = TransferFailure::undeliverable;
  std::uint64_t keep = ~0ULL; // deposit: at most so much
  std::uint32_t entries = 0;  // searched
};

class Probe final : public TransferClient, public CommandQueueListener
{
public:
  explicit Probe(sim::Timeline& timeline) : timeline_(timeline) {}

  void source_read(Transfer& transfer) override { of(transfer).source_free = timeline_.now(); }
  void header_arrived(Transfer& transfer) override
  {
    Observed& observed = of(transfer);
    EXPECT_EQ(observed.header, -1) << "told twice";
    observed.header = timeline_.now();
    transfer.deposit = std::min(transfer.payload, observed.keep);
    transfer.searched = observed.entries;
    headers.push_back(&observed);
  }
  void delivered(Transfer& transfer) override
  {
    Observed& observed = of(transfer);
    EXPECT_NE(observed.header, -1) << "delivered before its header";
    EXPECT_EQ(observed.done, -1) << "told twice";
    observed.done = timeline_.now();
  }
  void failed(Transfer& transfer, TransferFailure why) override
  {
    of(transfer).failed_at = timeline_.now();
    of(transfer).why = why;
  }
  void command_slot_free(NodeIndex node) override { slots.push_back(node); }

  std::vector<const Observed*> headers; // in the order of arrival
  std::vector<NodeIndex> slots;

private:
  static Observed& of(Transfer& transfer) { return static_cast<Observed&>(transfer); }

  sim::Timeline& timeline_;
};

struct Seen final : HostWrite {
  explicit Seen(const sim::Timeline& now) : timeline(now) {}
  void visible() override { at = timeline.now(); }
  const sim::Timeline& timeline;
  SimTime at = -1;
};

// A model of `name` with parameters "key=value,..." on a platform of some nodes.
struct Bench {
  explicit Bench(std::string_view name, std::string_view list = "", unsigned nodes = 2,
                 const std::string& spec = "crossbar", bool listens = true)
      : platform(platform::make_platform({.spec = spec, .nodes = nodes})), probe(timeline)
  {
    Parameters parameters;
    parameters.add(list, "test");
    model = make_model(name, {timeline, *platform, listens ? &probe : nullptr}, parameters);
  }

  // Another model in its place, on a machine that is not quite as described.
  void make(std::string_view name, std::string_view list, const NetworkFactors& factors,
            platform::LinkFailures* failures = nullptr)
  {
    Parameters parameters;
    parameters.add(list, "test");
    model = make_model(name, {timeline, *platform, &probe, nullptr, factors, failures}, parameters);
  }

  Observed& transfer(TransferKind kind, std::uint64_t payload, NodeIndex from = 0, NodeIndex to = 1)
  {
    Observed& made = all.emplace_back();
    made.client = &probe;
    made.kind = kind;
    made.payload = payload;
    made.source = from;
    made.target = to;
    made.initiator_process = from;
    made.target_process = to;
    made.from_host = !is_response(kind);
    return made;
  }
  Observed& start(Observed& transfer)
  {
    transfer.started = timeline.now();
    EXPECT_TRUE(model->start(transfer));
    return transfer;
  }
  Observed& put(std::uint64_t payload, NodeIndex from = 0, NodeIndex to = 1)
  {
    return start(transfer(TransferKind::put, payload, from, to));
  }
  void run()
  {
    while (timeline.step()) {
    }
  }
  // Time from the start of a put alone on the machine until it is delivered.
  SimTime put_time(std::uint64_t payload, NodeIndex from = 0, NodeIndex to = 1)
  {
    const Observed& alone = put(payload, from, to);
    run();
    return alone.done - alone.started;
  }

  sim::Timeline timeline;
  std::unique_ptr<platform::Platform> platform;
  Probe probe;
  std::unique_ptr<Model> model;
  std::deque<Observed> all;
};

} // namespace umwelt::net
