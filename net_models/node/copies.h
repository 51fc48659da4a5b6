// SPDX-License-Identifier: LGPL-2.1-or-later
// Copies that the cores of a socket make at the same time. Each goes as fast as a core can, until all together want
// more than the socket's memory gives: then each gets an equal part.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/timeline.h"

namespace umwelt::net
{

using sim::SimTime;

class Copy
{
public:
  virtual ~Copy() = default;
  virtual void copied() = 0;

private:
  friend class Copies;
  double end_ = 0; // in bytes that each copy of the socket has been given
};

class Copies
{
public:
  // Bandwidths in bytes per second: of one core, and of the socket.
  Copies(sim::Timeline& timeline, double core, double socket) : timeline_(timeline), core_(core), socket_(socket) {}
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  void begin(Copy& copy, std::uint64_t bytes);
  // Nobody waits for it any longer; no effect on one that is not under way.
  void forget(const Copy& copy);
  [[nodiscard]] bool idle() const { return active_.empty(); }
  // Of a copy that nobody disturbs.
  [[nodiscard]] SimTime alone(std::uint64_t bytes) const;

private:
  struct Completion final : sim::Event {
    explicit Completion(Copies& c) : copies(c) {}
    void fire() override { copies.complete(); }
    Copies& copies;
  };

  [[nodiscard]] double rate() const; // bytes per ps, of each
  void advance();
  void plan();
  void complete();

  sim::Timeline& timeline_;
  const double core_;
  const double socket_;
  std::vector<Copy*> active_;
  double given_ = 0; // bytes to each that has been under way since all were idle
  SimTime updated_ = 0;
  Completion completion_{*this};
};

} // namespace umwelt::net
