// SPDX-License-Identifier: LGPL-2.1-or-later
// Between a NIC and the links and switches: what the one asks and the other answers. The NIC decides when a message may
// leave and what becomes of it at the target; the fabric, when it leaves and when its first and last bit are there.
//
// A NIC books the first link with enter(), takes it with pass() and asks with advance() for the rest of the way. A
// fabric that cannot answer yet calls back. It may foresee: the times it tells are often in the future.
#pragma once

#include <cstdint>

#include "net_models/core/link_load.h"
#include "platforms/platform.h"
#include "runtime/base/time.h"

namespace umwelt::net
{

struct PacketMessage; // packet/parts.h

// How a NIC cuts messages into packets.
struct Framing {
  double coding = 1;        // share of a link's rate left for packets
  std::uint64_t header = 0; // of a message, in its first packet
  std::uint64_t full = 0;   // a full packet with its own header
  [[nodiscard]] std::uint64_t most() const { return header + full; }
  // Of a message of more than one.
  [[nodiscard]] std::uint64_t packets(std::uint64_t bytes) const { return (bytes - header + full - 1) / full; }
};

// A message under way. `head` and `tail` are the times at which its first and last bit reach the next link, in the end
// the NIC.
struct Passage {
  const platform::Route* route = nullptr;
  std::size_t hop = 0;
  std::uint64_t bytes = 0; // on the wire
  platform::NodeIndex source = 0;
  platform::NodeIndex target = 0;
  bool one_packet = true; // may slip in between the packets of longer messages
  bool corrupted = false;
  bool lost = false;        // on the way; pass() says so
  bool cut = false;         // it was on a link that failed
  bool shares = false;      // has its place among those that share the link booked last
  std::uint8_t network = 0; // virtual network: what the sender's NIC takes in turn, as a switch its ports
  std::uint32_t known = 0;  // `tail` is that behind so many links; fewer than `hop` while it shares the next one
  sim::SimTime head = 0;
  sim::SimTime tail = 0;
  sim::SimTime start = 0;           // entry into the link of `hop`, once booked
  sim::SimTime pause = 0;           // of the sender, while its link serves others
  sim::SimTime late = 0;            // single packets of others have delayed the tail by so much since it was foreseen
  Passage* next = nullptr;          // waits for the same port of the same link
  PacketMessage* message = nullptr; // its packets, in a fabric that has any

  [[nodiscard]] bool foreseen() const { return known == hop; }
  [[nodiscard]] sim::SimTime arrival() const { return tail + late; } // of the tail, if foreseen
  [[nodiscard]] bool at_target() const { return hop == route->links.size(); }
};

// What goes wrong with messages on links.
class LinkFaults
{
public:
  virtual ~LinkFaults() = default;
  enum class Outcome : std::uint8_t { passes, lost, corrupted };
  // The fate of a message that enters a link at `when`.
  virtual Outcome cross(platform::LinkIndex link, sim::SimTime when) = 0;
};

class Fabric
{
public:
  class Client
  {
  public:
    // A message that had to wait goes on: the link it waited for is booked, it is at the target, or it is lost. pass()
    // is due. To be noted, not answered: the fabric is in the middle of its work.
    virtual void entered(Passage& passage) = 0;
    // The tail of a message that is on its last link is foreseen, or foreseen again. Likewise.
    virtual void settled(Passage& passage) = 0;

  protected:
    ~Client() = default;
  };

  enum class Entry : std::uint8_t {
    free,  // enter(): the link is booked, pass(); advance(): it is at the target
    later, // booked from passage.start on: pass() then
    ahead, // not decided yet: the same question again at passage.start
    waits, // for others, or for its packets: entered() will be called
    lost,
  };

  // Is told from then on what links carry.
  void tell(LinkLoad* load) { load_ = load; }

  Fabric() = default;
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;
  virtual ~Fabric() = default;

  // Books the first link.
  virtual Entry enter(Passage& passage) = 0;
  // Takes the link that was booked. False: the message was lost.
  virtual bool pass(Passage& passage) = 0;
  // On as far as nothing is in the way.
  virtual Entry advance(Passage& passage) = 0;
  // The message ends here and now, lost or not.
  void leave(Passage& passage)
  {
    if (!passage.one_packet && passage.hop > 0) // else it loads no link, or not for long
      stop(passage);
  }

  // Time the message occupies its first link, if that is free.
  virtual sim::SimTime injection(const Passage& passage) = 0;
  // When the first packet of a message that is at the target is there as a whole: a NIC looks at it then.
  virtual sim::SimTime header_in(const Passage& passage) = 0;
  // A control packet alone on the route; false if it is lost. For acknowledgements that share packets with others.
  virtual bool control(const platform::Route& route, sim::SimTime when, sim::SimTime& arrival) = 0;
  // Whether anything can get lost.
  [[nodiscard]] virtual bool faulty() const = 0;

  // As in Model, for a fabric that lets SimGrid's solver move bytes.
  [[nodiscard]] virtual bool has_external() const { return false; }
  [[nodiscard]] virtual bool external_pending() const { return false; }
  virtual bool advance_external(sim::SimTime limit)
  {
    (void)limit;
    return false;
  }

protected:
  LinkLoad* load_ = nullptr; // null: nobody looks

private:
  virtual void stop(Passage& passage) = 0;
};

} // namespace umwelt::net
