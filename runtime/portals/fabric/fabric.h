// SPDX-License-Identifier: LGPL-2.1-or-later
// The functional Portals 4 engine: all processes of the simulated machine and the messages between them. It decides
// what happens; a net::Model decides when.
//
//   Fabric fabric(timeline, host, nodes);
//   auto model = net::make_model(name, {timeline, platform, &fabric}, parameters);
//   fabric.set_model(*model);
//   Process process(fabric, node, rank, uid);      // one per rank
//   int result = api::PtlPut(process, ...);        // on a simulated thread of that rank
//
// The life of a Put: the initiator checks it and gives the NIC a transfer; when the header arrives the target finds the
// list entry; when the payload has arrived the target posts its events and sends the acknowledgement; when that has
// arrived the initiator posts ACK. SEND is posted when the model says that the source may be reused.
#pragma once

#include <cstdint>
#include <vector>

#include "net_models/core/model.h"
#include "runtime/base/pool.h"
#include "runtime/base/timeline.h"
#include "runtime/portals/data/buffer_pool.h"
#include "runtime/portals/fabric/host.h"
#include "runtime/portals/fabric/host_writes.h"
#include "runtime/portals/fabric/initiator.h"
#include "runtime/portals/fabric/message.h"
#include "runtime/portals/fabric/observer.h"
#include "runtime/portals/fabric/target.h"
#include "runtime/portals/fabric/triggered.h"
#include "runtime/portals/matching/unexpected.h"

namespace umwelt::portals
{

class Ni;
class Process;

class Fabric final : public net::TransferClient, public net::CommandQueueListener
{
public:
  // `nodes`: how many nodes the platform has. All processes must be gone before the fabric ends, and the model must not
  // call it afterwards.
  Fabric(sim::Timeline& timeline, Host& host, net::NodeIndex nodes);

  // Must be called before the first message; may be called again while no message is in flight.
  void set_model(net::Model& model) { model_ = &model; }
  // Null: no observer.
  void set_observer(Observer* observer) { observer_ = observer; }

  // The host hears of what has come (Host::came, exchanged).
  void tell_ends() { tells_ends_ = true; }
  // The message leaves at now(process): what the host wants to know of that goes with it.
  void note_origin(Message& message, Process& process);
  // Operations started and not yet over.
  [[nodiscard]] std::size_t in_flight() const { return messages_.in_use(); }
  // Everything the engine holds for them and because of them. When nothing is left to happen only what programs can
  // still ask for remains: unexpected headers and triggered operations.
  struct Census {
    std::size_t messages = 0;
    std::size_t payloads = 0; // buffers of messages above Payload::inline_size
    std::size_t writes = 0;   // events and counters on their way to host memory
    std::size_t unexpected_headers = 0;
    std::size_t triggered_ops = 0;
  };
  [[nodiscard]] Census census() const;

  // From the model.
  void source_read(net::Transfer& transfer) override;
  void header_arrived(net::Transfer& transfer) override;
  void delivered(net::Transfer& transfer) override;
  void failed(net::Transfer& transfer, net::TransferFailure why) override;
  void command_slot_free(net::NodeIndex node) override;

  // ---- For the engine ----

  [[nodiscard]] sim::Timeline& timeline() const { return timeline_; }
  [[nodiscard]] Host& host() const { return host_; }
  [[nodiscard]] net::Model& model() const { return *model_; }
  [[nodiscard]] Initiator& initiator() { return initiator_; }
  [[nodiscard]] Target& target() { return target_; }
  [[nodiscard]] Triggers& triggers() { return triggers_; }
  [[nodiscard]] sim::Pool<UnexpectedHeader>& headers() { return headers_; }
  [[nodiscard]] BufferPool& buffers() { return buffers_; }

  void attach(Process& process);
  void detach(Process& process);
  // Gives `process` a pid of its node; false if another has it.
  bool bind(Process& process, ptl_pid_t pid);
  void unbind(Process& process, ptl_pid_t pid);
  // Null if there is no such process.
  [[nodiscard]] Process* find(ptl_nid_t nid, ptl_pid_t pid) const;
  // False for identifiers that name no node. `node` is then unchanged.
  [[nodiscard]] bool node_of(ptl_nid_t nid, net::NodeIndex& node) const;

  [[nodiscard]] NiRef add_interface(Ni& ni);
  void remove_interface(NiRef ref);
  // Null once the interface has been closed.
  [[nodiscard]] Ni* resolve(NiRef ref) const
  {
    return ref.slot < interfaces_.size() && interfaces_[ref.slot].epoch == ref.epoch ? interfaces_[ref.slot].ni
                                                                                     : nullptr;
  }

  void write_event(Ni& ni, ptl_handle_eq_t queue);
  void write_counter(Ni& ni, ptl_handle_ct_t counter, const CounterChange& change);
  void became_visible(EventWrite& write);
  void became_visible(CounterWrite& write);

  [[nodiscard]] Message& new_message();
  // Recycles the message if nothing is to come any more.
  void release_if_over(Message& message);
  void release(Message& message);
  // Starts the second transfer of `message`, from the target back to the initiator.
  void respond(Message& message);
  void add_waiting(Process& process, Message& message);
  void remove_waiting(Process& process, Message& message);

private:
  struct Node {
    std::vector<Process*> processes; // all of them
    std::vector<Process*> by_pid;
  };
  struct InterfaceSlot {
    Ni* ni = nullptr;
    std::uint32_t epoch = 0;
  };
  void record(const Leg& leg, bool delivered);
  void tell_of(const Message& message, bool request);

  sim::Timeline& timeline_;
  Host& host_;
  net::Model* model_ = nullptr;
  Observer* observer_ = nullptr;
  bool tells_ends_ = false;
  std::vector<Node> nodes_;
  std::vector<InterfaceSlot> interfaces_;
  std::vector<std::uint32_t> free_interfaces_;
  sim::Pool<Message> messages_;
  sim::Pool<EventWrite> event_writes_;
  sim::Pool<CounterWrite> counter_writes_;
  sim::Pool<UnexpectedHeader> headers_;
  BufferPool buffers_;
  Initiator initiator_;
  Target target_;
  Triggers triggers_;
};

} // namespace umwelt::portals
