// SPDX-License-Identifier: LGPL-2.1-or-later
// The one interface between what happens (runtime/portals) and when it happens (a directory of net_models each).
//
// The functional engine cuts every Portals operation into transfers, one-way trips of a message from one node's NIC to
// another's: a Put is a `put` transfer and, if an acknowledgement is asked for, an `ack` transfer back; a Get is a
// `get` (header only) and a `reply` (payload); an Atomic is an `atomic` and an `ack`; a FetchAtomic or Swap a
// `fetch_atomic` and a `reply`. A model moves a transfer through its own stages and tells the client at the three
// moments that change what a program can observe. No Portals rule lives in a model; no duration lives in the functional
// engine.
#pragma once

#include <cstdint>
#include <string_view>

#include "net_models/core/factors.h"
#include "runtime/base/timeline.h"

namespace umwelt::platform
{
class LinkFailures;
class Platform;
} // namespace umwelt::platform

namespace umwelt::net
{

using sim::SimTime;

using NodeIndex = std::uint32_t; // dense index of a simulated node, 0 .. Platform::node_count()-1

enum class TransferKind : std::uint8_t { put, get, atomic, fetch_atomic, ack, reply };

enum class TransferFailure : std::uint8_t { undeliverable, corrupted };

constexpr bool is_response(TransferKind k)
{
  return k == TransferKind::ack || k == TransferKind::reply;
}

class Handover;
class Transfer;

// Who is told about the progress of a transfer. header_arrived() and delivered() come once each and in this order.
// source_read() comes once, before or AFTER these two: a NIC that resends what was lost keeps the source buffer until
// the target has acknowledged it, so SEND of a large message is seen only then. The transfer ends, and the client may
// recycle it, when both delivered() and source_read() have been called; or with failed(), which replaces whatever was
// still to come. The model no longer touches a transfer once the call that ends it has begun.
class TransferClient
{
public:
  // The source buffer may be reused (Portals SEND).
  virtual void source_read(Transfer& transfer) = 0;
  // The header is at the target NIC and is matched now. The client sets transfer.deposit to the bytes that will be
  // written into the target's memory (0: truncated away, dropped or header only) and transfer.searched.
  virtual void header_arrived(Transfer& transfer) = 0;
  // The whole payload has come, and the last of transfer.deposit bytes is visible in the target's memory. Here the
  // client writes the target's event and then starts the ack; the reply to a get or fetch_atomic is started here too.
  virtual void delivered(Transfer& transfer) = 0;
  virtual void failed(Transfer& transfer, TransferFailure why) = 0;

protected:
  ~TransferClient() = default;
};

// Per-transfer state of a model; models derive from it and recycle their own.
struct TransferState {
  virtual ~TransferState() = default;
};

class Transfer
{
public:
  // Set by the client before Model::start().
  TransferClient* client = nullptr;
  TransferKind kind = TransferKind::put;
  NodeIndex source = 0;
  NodeIndex target = 0;
  std::uint64_t payload = 0; // bytes carried (0 for get and ack)
  std::uint64_t region = 0;  // bytes of the memory descriptor that the payload is part of; 0: it has none of its own
  std::uint32_t initiator_process = 0; // rank that began the operation (in-flight limits per process, traces)
  std::uint32_t target_process = 0;    // rank it addresses
  bool from_host = true;  // a command written by the host; false: made by the NIC (responses, triggered operations)
  bool service = false;   // service instead of compute virtual network
  bool unordered = false; // PTL_MD_UNORDERED: may overtake

  // Requests between two processes must be matched in the order in which they were started (Portals 4.3, section 2.4 on
  // ordering); responses belong to different operations and need no order.
  [[nodiscard]] bool ordered() const { return !unordered && !is_response(kind); }
  // Those two processes as a key.
  [[nodiscard]] std::uint64_t processes() const
  {
    return static_cast<std::uint64_t>(initiator_process) << 32 | target_process;
  }

  // Set by the client in header_arrived().
  std::uint64_t deposit = 0;
  std::uint32_t searched = 0; // list entries compared before the one that matched

  // For the model alone.
  TransferState* state = nullptr;
  bool reserved = false; // it has a place in the command queue
  // Where there are several models (mixed/model.h):
  std::uint8_t reserved_by = 0;
  Handover* handover = nullptr;    // its target has another one
  TransferState* record = nullptr; // of those that are looked after
};

// Where nodes have different models, the sender's model carries a transfer to the NIC of its target, through the
// sender's stages and the network as that model has it, and the target's model takes it in from there. This is who
// stands between: told by the sender's model, instead of the client, of a transfer with a `handover`. What the sender's
// model still has to say then is source_read(), or failed() before reached().
class Handover
{
public:
  // The first packet, or the header where there are none, is at the target's NIC as a whole. `tail`: when the last byte
  // will be; `never`: not known yet.
  virtual void reached(Transfer& transfer, SimTime tail) = 0;
  // `tail` is known, or another one than foreseen before.
  virtual void foreseen(Transfer& transfer, SimTime tail) = 0;

protected:
  ~Handover() = default;
};

// A write by the NIC into its host's memory that makes an event or a counter visible to the program.
class HostWrite
{
public:
  virtual void visible() = 0; // the model forgets the object before the call

protected:
  ~HostWrite() = default;
};

// Told when a command queue that was full has room again.
class CommandQueueListener
{
public:
  virtual void command_slot_free(NodeIndex node) = 0;

protected:
  ~CommandQueueListener() = default;
};

enum class WriteKind : std::uint8_t { full_event, counter };

class Model
{
public:
  virtual ~Model() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;

  // Hands over a transfer. False: the node's command queue for it is full; nothing was taken, the listener is told when
  // to try again (only for from_host transfers). The transfer stays alive until delivered() or failed().
  virtual bool start(Transfer& transfer) = 0;
  // A place in that queue for a transfer from_host that will be started later, and is then not refused. False: none is
  // free.
  virtual bool reserve(Transfer& transfer)
  {
    (void)transfer;
    return true;
  }
  // It will not be started.
  virtual void unreserve(Transfer& transfer) { (void)transfer; }
  // CPU time the host spends to write the command of `transfer` (0 for those not from_host). The host spends it once,
  // before it calls start().
  [[nodiscard]] virtual SimTime issue_cost(const Transfer& transfer) const = 0;
  // CPU time the host spends to take one event out of its queue, or to read a counter that has changed.
  [[nodiscard]] virtual SimTime take_cost(WriteKind kind) const
  {
    (void)kind;
    return 0;
  }
  // The same for an event that was in the queue already when the one before it was taken.
  [[nodiscard]] virtual SimTime take_next_cost() const { return take_cost(WriteKind::full_event); }
  // Makes an event or counter update of `node` visible to its host; writes of one node become visible in order.
  virtual void write_to_host(NodeIndex node, WriteKind kind, HostWrite& write) = 0;

  // The other half of a transfer that another model carried here, for Transfer::target: from the call on as from the
  // moment reached() is told of. The client hears header_arrived() and delivered(), no source_read(). `tail` may be
  // `never`, tail_moved() follows then; it may come anyhow, until delivered() has been called.
  virtual void take_in(Transfer& transfer, SimTime tail);
  virtual void tail_moved(Transfer& transfer, SimTime tail);
  // To the sender's model: the target's has delivered its transfer, or will by the end of the call's caller.
  virtual void taken(Transfer& transfer) { (void)transfer; }
  // The model of a node, if it has one of its own: for take_cost().
  [[nodiscard]] virtual const Model& at(NodeIndex node) const
  {
    (void)node;
    return *this;
  }

  // Models that let SimGrid's solver move bytes have completions outside the timeline: while external_pending(), the
  // engine calls advance_external() before it fires an event of time `limit`. It runs SimGrid until the first
  // completion or `limit`; a completion becomes an event of the timeline, and the answer is true: look at the timeline
  // again. False: nothing happens before `limit`. Called on the own stack of the SimGrid actor the engine runs in;
  // events may fire on any stack.
  [[nodiscard]] virtual bool external_pending() const { return false; }
  [[nodiscard]] virtual bool has_external() const { return false; } // whether it ever has any
  virtual bool advance_external(SimTime limit)
  {
    (void)limit;
    return false;
  }
};

class LinkLoad; // link_load.h
class Observer; // observer.h

// What a model may use.
struct ModelContext {
  sim::Timeline& timeline;
  const platform::Platform& platform;
  CommandQueueListener* listener;             // may be null: then queues are unbounded
  Observer* observer = nullptr;               // of stages; null: nobody looks
  NetworkFactors factors = {};                // of the model's own parameters; the platform has its own already
  platform::LinkFailures* failures = nullptr; // null: links never fail
  LinkLoad* load = nullptr;                   // is told what links carry; null: nobody looks
};

} // namespace umwelt::net
