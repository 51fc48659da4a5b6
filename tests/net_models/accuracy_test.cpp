// SPDX-License-Identifier: LGPL-2.1-or-later
// A handful of the cluster's measurements (medians, see tests/accuracy for all of them), so that nobody spoils the
// calibration unnoticed.
#include <gtest/gtest.h>

#include "net_models/calibration/replay.h"
#include "runtime/base/parameters.h"

namespace umwelt::net
{
namespace
{

struct Measurement {
  const char* benchmark;
  std::uint64_t size;
  double microseconds;
};

void PrintTo(const Measurement& m, std::ostream* out)
{
  *out << m.benchmark << ' ' << m.size << " B";
}

class Accuracy : public testing::TestWithParam<Measurement>
{
};

TEST_P(Accuracy, WithinFivePercentOfTheCluster)
{
  const Measurement& real = GetParam();
  const auto platform = platform::make_platform({.spec = "bxi", .nodes = 2});
  const Benchmark& benchmark = *find_benchmark(real.benchmark);
  const double simulated = replay(benchmark, "bxi", *platform, {}, real.size, benchmark.window == 1 ? 20 : 10'000);
  EXPECT_NEAR(simulated / real.microseconds, 1.0, 0.05);
}

INSTANTIATE_TEST_SUITE_P(
    Cluster, Accuracy,
    testing::Values(Measurement{"put_waitack", 8, 2.0350}, Measurement{"put_waitack", 65, 2.2145},
                    Measurement{"put_waitack", 417, 2.8239}, Measurement{"put_waitack", 65536, 8.7101},
                    Measurement{"put_nowait", 8, 0.5235}, Measurement{"put_nowait", 1895, 0.5254},
                    Measurement{"put_nowait", 65536, 5.9404}, Measurement{"get_waitreply", 8, 2.0120},
                    Measurement{"get_waitreply", 84, 2.5539}, Measurement{"get_waitreply", 958221, 89.4470},
                    Measurement{"get_nowait", 8, 0.3555}, Measurement{"get_nowait", 429, 0.3926},
                    Measurement{"get_nowait", 40510, 3.6943}, Measurement{"ack", 64, 2.2182},
                    Measurement{"ack", 12617, 4.0278}, Measurement{"ack", 985347, 99.7329},
                    Measurement{"match", 64, 0.9923}, Measurement{"match", 241864, 24.6889},
                    Measurement{"reply", 9, 3.3225}, Measurement{"reply", 416, 3.6376},
                    Measurement{"reply", 522, 4.7158}));

} // namespace
} // namespace umwelt::net
