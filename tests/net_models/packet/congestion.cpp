// SPDX-License-Identifier: LGPL-2.1-or-later
// The figure and the table of net_models/packet/VALIDATION.md: the former for gnuplot, on standard output, the latter
// beside it.
//
//   build/release/tests/net_models/congestion 2>table.md | gnuplot >net_models/packet/congestion.svg
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "tests/net_models/packet/congestion.h"

int main()
{
  using C = umwelt::net::Congestion;
  fmt::print(stderr, "| `fabric_vcs` | victims before | meanwhile | after | harmed | full buffers at most |\n"
                     "|---|---|---|---|---|---|\n");
  std::string lines[2];
  for (const std::uint64_t vcs : {1, 2, 4, 8}) {
    const C::Found found = C::run(vcs, 16'000);
    fmt::print("$vcs{} << EOD\n", vcs);
    for (std::size_t i = 0; i < found.bins.size(); ++i)
      fmt::print("{} {:.4f} {}\n", (static_cast<std::int64_t>(i) + 1) * C::bin, found.bins[i].victims,
                 found.bins[i].full);
    fmt::print("EOD\n");
    for (int panel = 0; panel < 2; ++panel)
      lines[panel] += fmt::format("{}$vcs{} using 1:{} with lines lw 1.5 title '{} virtual channel{}'",
                                  lines[panel].empty() ? "" : ", ", vcs, panel + 2, vcs, vcs == 1 ? "" : "s");
    fmt::print(stderr, "| {} | {:.3f} | {:.3f} | {:.3f} | {} | {} |\n", vcs, found.victims(5, C::flood_from),
               found.victims(C::settled, C::flood_to), found.victims(C::flood_to, C::bins), found.harmed,
               found.fullest());
  }
  fmt::print(
      "set terminal svg size 720,560 font 'sans-serif,12' name 'figure' background 'white'\n"
      "set multiplot layout 2,1\nset grid lc rgb '#dddddd' lw 0.5\nset xrange [0:{}]\n"
      "set object rectangle from {}, graph 0 to {}, graph 1 fc rgb '#f3e4d4' fillstyle solid noborder behind\n"
      "set key top right\nset yrange [0:]\nset ylabel 'accepted, of a cable'\n"
      "set title 'victims (shade: node 0 is flooded)'\nplot {}\n"
      "set ylabel 'buffers'\nset xlabel 'packet times'\nset title 'buffers without room for a packet'\nplot {}\n",
      C::bins * C::bin, C::flood_from * C::bin, C::flood_to * C::bin, lines[0], lines[1]);
  return 0;
}
