// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/hints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace umwelt::job
{

namespace
{

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const WaitingThread event_loop{0, false, "umw_descriptor_wait", false};
const WaitingThread hourly{0, false, "umw_descriptor_wait", true};
const WaitingThread watcher{0, false, "umw_sleep", true};

TEST(Hints, AMessageThatIsMissing)
{
  EXPECT_THAT(next_steps({{0, true, "PtlEQPoll", false}, event_loop, hourly, watcher, {1, true, "PtlCTWait", false}}),
              AllOf(HasSubstr("Next step: ranks 0, 1 in MPI or Portals: look for the message"),
                    Not(HasSubstr("descriptor")), Not(HasSubstr("thread"))));
}

TEST(Hints, OneForEachKindOfPlace)
{
  EXPECT_THAT(next_steps({{0, true, "umw_thread_wait", false}, event_loop, {0, false, "PtlEQGet", false}}),
              AllOf(HasSubstr("\n  rank 0 in MPI or Portals: "),
                    HasSubstr("\n  rank 0 waiting for another thread of the rank (pthread_join")));
}

TEST(Hints, EveryPlaceHasItsOwn)
{
  const std::pair<const char*, const char*> places[] = {{"umw_file_lock", "flock"},
                                                        {"umw_object_wait", "share"},
                                                        {"umw_futex", "pthread_join"},
                                                        {"umw_sem_operate", "System V"},
                                                        {"umw_fence", "PMIx"},
                                                        {"umw_pmi_wait", "PMIx"},
                                                        {"umw_key_get", "PMIx"},
                                                        {"umw_signal_wait", "signal"},
                                                        {"a loop that waits for memory to change", "memory"},
                                                        {"umw_descriptor_wait", "to connect"}};
  for (const auto& [call, text] : places)
    EXPECT_THAT(next_steps({{3, true, call, false}}),
                AllOf(HasSubstr("rank 3 "), HasSubstr(text), HasSubstr(": look")));
}

TEST(Hints, HelperThreadsOnlyIfThereIsNobodyElse)
{
  EXPECT_THAT(next_steps({hourly}), HasSubstr("descriptor"));
  EXPECT_THAT(next_steps({watcher}), HasSubstr("Next step: look where the ranks are"));
}

TEST(Hints, ManyRanksAreCounted)
{
  std::vector<WaitingThread> threads;
  for (int rank = 0; rank < 20; ++rank)
    threads.push_back({rank, true, "umw_fence", false});
  EXPECT_THAT(next_steps(threads), HasSubstr("ranks 0, 1, 2, 3, 4, 5, 6, 7 and 12 more"));
}

} // namespace

} // namespace umwelt::job
