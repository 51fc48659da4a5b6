// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/tune/report.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/tune/text.h"

namespace umwelt::tune
{
namespace
{

std::string own_time(const Group& group, std::uint64_t size, std::int64_t best)
{
  const Series* own = group.default_series();
  if (own == nullptr || !own->times.contains(size))
    return fmt::format("{:>12}", "-");
  const std::int64_t time = own->times.at(size);
  constexpr double percent = 100;
  const double gain = time > 0 ? percent * (1 - static_cast<double>(best) / static_cast<double>(time)) : 0;
  return fmt::format("{:>12}  {:5.1f} %", time_text(time), gain);
}

struct LeftOut {
  std::string choice;
  std::string problem;
  std::vector<std::string> sizes;
};

// Of one choice; MPICH cuts texts off, so one that begins as another is the same.
std::vector<LeftOut> left_out_of(const Series& series)
{
  std::vector<LeftOut> list;
  for (const auto& [size, problem] : series.problems) {
    auto same = std::find_if(list.begin(), list.end(), [&problem = problem](const LeftOut& one) {
      return one.problem.starts_with(problem) || problem.starts_with(one.problem);
    });
    if (same == list.end())
      same = list.insert(list.end(), {label(series.choice), problem, {}});
    if (problem.size() > same->problem.size())
      same->problem = problem;
    same->sizes.push_back(bytes_text(size));
  }
  return list;
}

std::string left_out(const Group& group)
{
  std::string text;
  for (const Series& series : group.series())
    for (const LeftOut& one : left_out_of(series)) {
      const bool all = one.sizes.size() == series.times.size() + series.problems.size();
      text += fmt::format("  left out: {}{}: {}\n", one.choice,
                          all ? "" : fmt::format(" of {}", fmt::join(one.sizes, ", ")), one.problem);
    }
  return text;
}

// Wider than what is shown, which may be a single point.
std::string ranges(const Group& group)
{
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t most = 1;
  for (const Series& one : group.series())
    for (const auto& [size, time] : one.times) {
      least = std::min(least, std::max<std::int64_t>(time, 1));
      most = std::max(most, time);
    }
  const std::vector<std::uint64_t> sizes = group.sizes();
  constexpr double margin = 1.5;
  const auto low = static_cast<double>(std::max<std::uint64_t>(sizes.front(), 1));
  const auto high = static_cast<double>(std::max<std::uint64_t>(sizes.back(), 1));
  return fmt::format("set xrange [{}:{}]\nset yrange [{}:{}]\n", low / margin, high * margin,
                     static_cast<double>(least) / 1e3 / margin, static_cast<double>(most) / 1e3 * margin);
}

} // namespace

std::string table(const Mpi& mpi, const Group& group)
{
  std::string text = fmt::format("{}, {} ranks ({})\n", group.function(), group.ranks(), mpi.name());
  const std::vector<std::uint64_t> sizes = group.sizes();
  if (sizes.empty())
    text += "  nothing was measured\n";
  else
    text += fmt::format("  {:>9}  {:<40} {:>12}  {:>12}  {:>7}\n", "size", "best", "time", "own decision", "gain");
  for (const std::uint64_t size : sizes) {
    const Best best = group.best(size);
    text += fmt::format("  {:>9}  {:<40} {:>12}  {}\n", size == 0 ? "-" : bytes_text(size), label(best.series->choice),
                        time_text(best.time), own_time(group, size, best.time));
  }
  const std::vector<Rule> by_size = rules_by_size(group);
  if (by_size.size() > 1 && mpi.rules(group).size() == 1)
    text += fmt::format("  {} for all sizes: {}, since {} cannot tell sizes of {} apart\n", mpi.file_name(),
                        label(mpi.rules(group).front().choice), mpi.name(), group.function());
  return text + left_out(group);
}

std::string verification_text(const Mpi& mpi, const Verification& verification)
{
  std::string text = fmt::format("With {}, {} of {} points take as long as was measured", mpi.file_name(),
                                 verification.equal, verification.points);
  constexpr double percent = 100;
  if (!verification.where.empty())
    text += fmt::format("; the largest difference is {:.2g} % ({})", percent * verification.worst, verification.where);
  text += "\n";
  for (const std::string& failure : verification.failures)
    text += fmt::format("  failed: {}\n", failure);
  return text;
}

namespace
{

struct Curve {
  std::string name;
  std::map<std::uint64_t, std::int64_t> times; // by bytes
  std::string style;
};

// Of each name the best at each size.
std::vector<Curve> curves_of_names(const Group& group)
{
  constexpr std::array colours{"#0060ad", "#dd7711", "#559933", "#aa3377", "#999999", "#66ccee",
                               "#bb2222", "#ccbb44", "#6633aa", "#774411", "#ee88bb", "#117755"};
  std::vector<Curve> curves;
  for (const Series& one : group.series()) {
    if (one.choice.is_default() || one.times.empty())
      continue;
    auto curve = std::find_if(curves.begin(), curves.end(), [&](const Curve& c) { return c.name == one.choice.name; });
    if (curve == curves.end())
      curve = curves.insert(curves.end(), {one.choice.name,
                                           {},
                                           fmt::format("with linespoints lc rgb '{}' pt 7 ps 0.4",
                                                       colours[curves.size() % colours.size()])});
    for (const auto& [size, time] : one.times) {
      const auto [at, added] = curve->times.try_emplace(size, time);
      at->second = std::min(at->second, time);
    }
  }
  return curves;
}

// The library's own decision and the best last, so that they lie on top. None: nothing was measured.
std::vector<Curve> curves_of(const Group& group)
{
  const std::vector<std::uint64_t> sizes = group.sizes();
  if (sizes.empty())
    return {};
  std::vector<Curve> curves = curves_of_names(group);
  if (const Series* own = group.default_series(); own != nullptr && !own->times.empty())
    curves.push_back({own->choice.name, own->times, "with linespoints lw 2 dt 2 pt 1 ps 0.6 lc rgb 'black'"});
  Curve best{"best", {}, "with points pt 6 ps 1.4 lw 1.5 lc rgb 'black'"};
  for (const std::uint64_t size : sizes)
    best.times[size] = group.best(size).time;
  curves.push_back(std::move(best));
  return curves;
}

// A barrier has no size, and an axis of logarithms no 0.
std::string data_block(const std::string& name, const Curve& curve)
{
  std::string text = fmt::format("{} << EOD\n", name);
  for (const auto& [size, time] : curve.times)
    text += fmt::format("{} {:.6g}\n", std::max<std::uint64_t>(size, 1), static_cast<double>(time) / 1e3);
  return text + "EOD\n";
}

} // namespace

std::string plot_script(const std::string& library, std::span<const Group> groups)
{
  std::set<unsigned> columns;
  for (const Group& group : groups)
    columns.insert(group.ranks());
  const std::size_t width = columns.size() > 1 ? columns.size() : std::min<std::size_t>(groups.size(), 2);
  const std::size_t rows = (groups.size() + width - 1) / width;
  constexpr std::size_t panel_width = 560;
  constexpr std::size_t panel_height = 340;
  std::string data;
  std::string panels;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Group& group = groups[g];
    const std::vector<Curve> curves = curves_of(group);
    if (curves.empty())
      continue;
    std::vector<std::string> plots;
    for (std::size_t c = 0; c < curves.size(); ++c) {
      const std::string block = fmt::format("$d{}_{}", g, c);
      data += data_block(block, curves[c]);
      plots.push_back(fmt::format("{} using 1:2 {} title \"{}\" noenhanced", block, curves[c].style, curves[c].name));
    }
    panels += fmt::format("set title '{}, {} ranks'\n{}plot {}\n", group.function(), group.ranks(), ranges(group),
                          fmt::join(plots, ", "));
  }
  return fmt::format("set terminal svg size {},{} font 'sans-serif,11' name 'collectives'\n"
                     "set encoding utf8\n{}"
                     "set multiplot layout {},{} title \"{}\"\n"
                     "set grid lc rgb '#dddddd'\nset logscale x 2\nset logscale y\nset format x '2^{{%L}}'\n"
                     "set xlabel 'bytes'\nset ylabel 'us'\nset key at graph 1.03,1 left top Left reverse samplen 2\n"
                     "set lmargin 9\nset rmargin 27\n"
                     "{}unset multiplot\n",
                     width * panel_width, rows * panel_height + 30, data, std::max<std::size_t>(rows, 1), width,
                     library, panels);
}

} // namespace umwelt::tune
