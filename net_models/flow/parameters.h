// SPDX-License-Identifier: LGPL-2.1-or-later
// The times of a NIC around SimGrid's fluid fabric: those of the bxi model, as far as flow has what they are about.
// What differs between the two models is the fabric.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "net_models/bxi/parameters.h"

namespace umwelt::net
{

struct FlowParameters : BxiParameters {
  static constexpr std::array<std::string_view, 35> taken = {
      "issue",        "pio_store",     "take_event",        "take_next",        "take_counter",
      "inline_max",   "pio_max",       "pci_latency",       "pci_read",         "pci_transfer",
      "pci_packet",   "page",          "translation_reach", "translation_span", "page_miss",
      "small_region", "small_walk",    "small_reach",       "small_miss",       "command_gap",
      "tx_time",      "ack_time",      "reply_time",        "coding",           "header",
      "packet",       "packet_header", "loopback",          "rx_time",          "search",
      "atomic_time",  "event_gap",     "counter_gap",       "flush_time",       "e2e",
  };

  // Hands on what is in `taken`.
  template <class Visitor> struct Filter {
    Visitor& visitor;

    static bool has(std::string_view key) { return std::find(taken.begin(), taken.end(), key) != taken.end(); }
#define UMW_HAND_ON(kind)                                                                                              \
  template <class T> void kind(std::string_view key, T& value, std::string_view help)                                  \
  {                                                                                                                    \
    if (has(key))                                                                                                      \
      visitor.kind(key, value, help);                                                                                  \
  }
    UMW_HAND_ON(time)
    UMW_HAND_ON(bandwidth)
    UMW_HAND_ON(size)
    UMW_HAND_ON(count)
    UMW_HAND_ON(fraction)
    UMW_HAND_ON(text)
#undef UMW_HAND_ON
    void flag(std::string_view key, bool& value, std::string_view)
    {
      if (key == "e2e")
        visitor.flag(key, value,
                     "SEND of what inline_max does not cover waits for the target's end-to-end ack; nothing is resent");
    }
  };

  template <class Visitor> void visit(Visitor& v)
  {
    Filter<Visitor> filter{v};
    BxiParameters::visit(filter);
  }
};

} // namespace umwelt::net
