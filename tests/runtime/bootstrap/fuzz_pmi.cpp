// SPDX-License-Identifier: LGPL-2.1-or-later
// fuzz_pmi [SECONDS [FIRST_SEED]]: bytes no client should send, in pieces of any size, to the launcher's side of PMI-1,
// until the time is over (default 10 s). Whatever comes in, every answer is one whole line per request and no line
// grows without limit. Ends with 1 and the seed if not; build with UMWELT_SANITIZE to see bad accesses as well.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

#include "runtime/bootstrap/pmi.h"

namespace
{

using namespace umwelt::bootstrap;

constexpr std::array<std::string_view, 29> words = {"cmd=init",
                                                    "cmd=put",
                                                    "cmd=get",
                                                    "cmd=getbyidx",
                                                    "cmd=barrier_in",
                                                    "cmd=finalize",
                                                    "mcmd=spawn",
                                                    "endcmd",
                                                    "cmd=abort",
                                                    "cmd=",
                                                    "=",
                                                    "kvsname=kvs_a",
                                                    "key=",
                                                    "key=a",
                                                    "value=",
                                                    "value=b",
                                                    "idx=0",
                                                    "idx=-1",
                                                    "exitcode=x",
                                                    "cmd=dance",
                                                    "pmi_version=1",
                                                    "pmi_subversion=99999999999",
                                                    "cmd=get_maxes",
                                                    "value===",
                                                    "cmd=publish_name",
                                                    "cmd=unpublish_name",
                                                    "cmd=lookup_name",
                                                    "service=a",
                                                    "port=b"};

std::string some_bytes(std::mt19937& random)
{
  const auto pick = [&random](std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
  };
  std::string bytes;
  for (std::size_t parts = pick(12); parts > 0; --parts)
    switch (pick(8)) {
    case 0:
      bytes += '\n';
      break;
    case 1:
      bytes += std::string(pick(6000), static_cast<char>('a' + pick(26)));
      break;
    case 2:
      for (std::size_t i = pick(40); i > 0; --i)
        bytes += static_cast<char>(pick(256));
      break;
    default:
      bytes += words[pick(words.size())];
      bytes += pick(4) == 0 ? '\n' : ' ';
    }
  return bytes;
}

// Null if all is well.
const char* converse(std::mt19937& random)
{
  Spaces spaces(2);
  spaces["kvs_a"];
  PmiSession session({"kvs_a", 2, 0}, spaces);
  if (random() % 4 != 0)
    (void)session.receive("cmd=init pmi_version=1 pmi_subversion=1\n");
  for (int round = 0; round < 20; ++round) {
    const std::string bytes = some_bytes(random);
    const PmiSession::Reply reply = session.receive(bytes);
    if (!reply.answer.empty() && reply.answer.back() != '\n')
      return "an answer without end of line";
    if (std::count(reply.answer.begin(), reply.answer.end(), '\n') > std::count(bytes.begin(), bytes.end(), '\n'))
      return "more answers than requests";
    for (std::size_t begin = 0; begin < reply.answer.size();) {
      const std::size_t end = reply.answer.find('\n', begin);
      if (end - begin > longest_line || reply.answer.compare(begin, 4, "cmd=") != 0)
        return "an answer that no client can read";
      begin = end + 1;
    }
    if (reply.barrier && !session.in_barrier())
      return "a barrier that was entered and is not";
    if (session.in_barrier() && random() % 2 == 0 && session.barrier_out().empty())
      return "a barrier without end";
    if (reply.broken || reply.abort)
      break;
  }
  return nullptr;
}

} // namespace

int main(int argc, char** argv)
{
  using clock = std::chrono::steady_clock;
  const double seconds = argc > 1 ? std::strtod(argv[1], nullptr) : 10;
  const auto first = static_cast<std::uint32_t>(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1);
  const auto end = clock::now() + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds));
  std::uint32_t seed = first;
  for (; clock::now() < end; ++seed) {
    std::mt19937 random(seed);
    if (const char* wrong = converse(random)) {
      std::fprintf(stderr, "fuzz_pmi: seed %u: %s\n", seed, wrong);
      return 1;
    }
  }
  std::printf("%u conversations (seeds %u to %u), no rule broken\n", seed - first, first, seed - 1);
  return 0;
}
