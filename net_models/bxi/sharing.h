// SPDX-License-Identifier: LGPL-2.1-or-later
// Long messages that share a link: how fast each advances, and when that changes.
#pragma once

#include <vector>

#include "net_models/bxi/fabric.h"

namespace umwelt::net
{

class BxiSharing final : public sim::Event
{
public:
  BxiSharing(BxiFabric& fabric, platform::LinkIndex link) : fabric_(fabric), link_(link) {}

  // Advances by less than `nothing` bytes are rounding.
  static constexpr double nothing = 0.5;

  struct Message {
    Passage* passage = nullptr;
    std::uint32_t hop = 0;
    std::uint32_t port = 0; // in `ports`
    double left = 0;        // bytes, at `updated`
    double rate = 0;        // bytes per picosecond, since then
    double supply = 0;      // most it could have: its bytes come in no faster
    sim::SimTime least = 0; // alone on the link it would end then
  };
  struct Port {
    std::uint32_t input = 0;
    std::uint32_t messages = 0;
    double supply = 0; // of its messages
    double rate = 0;   // of its messages
    Passage* first_waiting = nullptr;
    Passage* last_waiting = nullptr;
  };

  [[nodiscard]] sim::SimTime count() const { return static_cast<sim::SimTime>(messages.size()); }
  // The port of an input, made if there is none.
  std::uint32_t port_of(std::uint32_t input);
  Message* find(const Passage& passage);
  void add(Passage& passage, std::size_t hop, std::uint32_t port, double left, sim::SimTime least);
  void remove(Message& message);
  // Moves the messages on to `now`, at the rates they have had.
  void advance(sim::SimTime now, double capacity);
  // Shares `capacity` (bytes per picosecond) among the ports, as much as their supplies need, evenly beyond.
  void divide(double capacity);

  void fire() override { fabric_.changed(link_); }

  std::vector<Message> messages; // in the order in which they came
  std::vector<Port> ports;
  sim::SimTime updated = 0;
  double single_packets = 0; // bytes that went in between since then
  bool touched = false;      // is to be divided anew
  // Divisions in one wave of changes. Where routes form a ring, a link's rates may depend on themselves.
  static constexpr unsigned most_divisions = 8;
  unsigned divisions = 0;

private:
  BxiFabric& fabric_;
  platform::LinkIndex link_;
};

} // namespace umwelt::net
