// SPDX-License-Identifier: LGPL-2.1-or-later
// PMI-1 as its "simple" clients speak it (MPICH's simple_pmi.c, Portals, Sandia OpenSHMEM): lines of name=value pairs
// on the descriptor PMI_FD, one answer per request. This is the launcher's side of one rank's conversation, without any
// socket: bytes in, what to send and to do out. The words are those of MPICH's Hydra, which the clients were written
// against. What a client does wrong is answered with a negative rc and told in the log (README.md). The library calls
// of PMI-1 and PMI-2 (preload/pmi) see the same spaces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/time.h"
#include "runtime/bootstrap/spaces.h"

namespace umwelt::bootstrap
{

// Limits told to clients (get_maxes). A line of a client is at most longest_line bytes; MPICH's clients use 1024.
inline constexpr std::size_t kvs_name_max = 256;
inline constexpr std::size_t key_max = 64;
inline constexpr std::size_t value_max = 1024;
inline constexpr std::size_t longest_line = 4096;

// Of one client; more of them say nothing new.
inline constexpr int most_complaints = 10;

// Every key-value space of PMI begins with this, no other space does (spaces.h).
inline constexpr std::string_view kvs_prefix = "kvs_";

// What a client can ask about its job.
struct PmiFacts {
  std::string kvs_name;
  std::size_t ranks = 1;
  int app = 0;
};

// Where the ranks are, under the key PMI_process_mapping: (vector,(first node, number of nodes, ranks on each),...),
// the ranks in order. MPICH's clients look for it.
[[nodiscard]] std::string process_mapping(const std::vector<std::uint32_t>& node_of_rank);

class PmiSession
{
public:
  // What a client's bytes came to.
  struct Reply {
    std::string answer;                  // to be sent
    bool barrier = false;                // it has entered the barrier; barrier_out() answers
    bool request = false;                // at least one request was answered
    std::optional<int> abort;            // it ends the job with this exit code
    std::vector<std::string> complaints; // what it sent that no client should: for the log
    bool broken = false;                 // nothing more can be made of it: the connection is to be closed
  };

  PmiSession(PmiFacts facts, Spaces& spaces) : facts_(std::move(facts)), spaces_(spaces) {}

  // Takes any bytes, in pieces of any size.
  [[nodiscard]] Reply receive(std::string_view bytes);
  [[nodiscard]] bool in_barrier() const { return in_barrier_; }
  // Between init and finalize.
  [[nodiscard]] bool open() const { return state_ == State::open; }
  // Everybody has arrived; returns what tells the client.
  [[nodiscard]] std::string barrier_out();

private:
  class Request;
  enum class State { before_init, open, finalized };
  // Why a request cannot be served: for the client, and for the log.
  struct Mistake {
    std::string message; // one word
    std::string expected;
    std::string got;
    std::string next_step;
  };
  void serve(std::string_view line, Reply& reply);
  void complain(std::string_view line, const Mistake& mistake, Reply& reply);
  [[nodiscard]] std::optional<Mistake> out_of_order(std::string_view command) const;
  // What is wrong with the words that name a key.
  [[nodiscard]] std::optional<Mistake> misnamed(const Request& request) const;
  [[nodiscard]] Space* space_of(const Request& request) const;
  [[nodiscard]] std::string put(const Request& request);
  [[nodiscard]] std::string get(const Request& request) const;
  [[nodiscard]] std::string get_by_index(const Request& request) const;
  [[nodiscard]] std::string publish(const Request& request);
  [[nodiscard]] std::string unpublish(const Request& request);
  [[nodiscard]] std::string look_up(const Request& request) const;

  const PmiFacts facts_;
  Spaces& spaces_;
  std::string line_; // begun, not ended
  State state_ = State::before_init;
  int complaints_ = 0;
  bool in_barrier_ = false;
  bool in_spawn_ = false; // between mcmd=spawn and endcmd
};

} // namespace umwelt::bootstrap
