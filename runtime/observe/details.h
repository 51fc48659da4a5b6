// SPDX-License-Identifier: LGPL-2.1-or-later
// What the page of a report shows besides its figures (--report-details): when links carried how much, what ranks did
// over time, how to run it again. Plain data.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/time.h"
#include "runtime/observe/critical_path.h"

namespace umwelt::observe
{

// How a run was started, and on what.
struct RunFacts {
  std::vector<std::string> command; // umwelt's own
  std::string directory;            // working directory
  std::string started;              // UTC, ISO 8601
  std::string simgrid;              // version of the library
  struct Object {
    std::string path;
    std::string build_id; // hexadecimal; empty: it has none
  };
  std::vector<Object> objects; // that ranks have executed code of
  std::string platform;        // as given
  std::string host;
  std::string system;
  std::string processor;
  unsigned cores = 0;
  std::uint64_t memory_bytes = 0;
};

struct Details {
  RunFacts run;

  // Ends of links, where the platform has a shape.
  struct Vertex {
    std::string name;
    bool host = false;
  };
  static constexpr std::uint32_t unknown = ~0U;
  struct Link { // that has carried something
    std::string name;
    std::string kind; // of its cable: node, local, global; empty: a platform from a file has none
    std::uint32_t from = unknown;
    std::uint32_t to = unknown;
    double bandwidth = 0; // bytes per second
    sim::SimTime latency = 0;
    std::uint64_t bytes = 0;           // headers and what was sent again included
    std::vector<double> bytes_per_bin; // as many bins as the run was long
  };
  sim::SimTime link_bin = 0; // ps
  std::vector<Vertex> vertices;
  std::vector<Link> links;

  struct Nic {              // that has done something
    std::uint32_t node = 0; // of the platform
    std::string name;
    std::uint64_t messages = 0; // that it has sent, those within the node included, and their payload;
    std::uint64_t bytes = 0;
    std::uint64_t in_vain = 0; // lost on the way, or sent again though they had come
    // Of models with stages:
    std::uint64_t commands = 0;
    sim::SimTime queued = 0;       // time of all commands in the NIC before they depart
    double fullest = 0;            // commands in it, mean of the fullest 64th of the run or less
    sim::SimTime transmitting = 0; // time of messages on their way out, of its virtual networks together
    std::uint64_t pci_read_bytes = 0;
    std::uint64_t pci_written_bytes = 0;
    std::uint64_t events = 0; // and counter updates, that it has written
  };
  std::vector<Nic> nics;

  // By rank and RankState: time in it, ps per bin. Of the main threads.
  using Outline = std::array<std::vector<double>, 3>;
  sim::SimTime outline_bin = 0; // ps
  std::vector<Outline> outline;

  CriticalPathRecord path;
};

} // namespace umwelt::observe
