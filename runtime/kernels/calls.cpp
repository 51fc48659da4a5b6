// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/calls.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include <fmt/format.h>

namespace umwelt::kernels
{

Totals& Totals::operator+=(const Totals& other)
{
  calls += other.calls;
  skipped += other.skipped;
  sampled += other.sampled;
  time += other.time;
  exists = exists || other.exists;
  if (nearest.empty())
    nearest = other.nearest;
  sizes += other.sizes;
  return *this;
}

std::vector<std::string> totals_texts(const std::vector<Totals>& totals)
{
  constexpr std::size_t enough = 64 << 10; // bytes
  std::vector<std::string> texts(1);
  const auto add = [&](std::size_t kernel, const Totals& one, const std::string& sizes) {
    if (texts.back().size() > enough)
      texts.emplace_back();
    texts.back() += fmt::format("{} {} {} {} {} {} {} {}\n", kernel, one.calls, one.skipped, one.sampled, one.time,
                                one.exists ? 1 : 0, one.nearest.empty() ? "-" : one.nearest, sizes);
  };
  for (std::size_t i = 0; i < totals.size(); ++i) {
    const Totals& one = totals[i];
    const bool says_something = one.calls > 0 || one.exists || !one.nearest.empty();
    if (!says_something && i + 1 < totals.size()) // the last one says how many there are
      continue;
    const std::vector<std::string> sizes = one.sizes.texts();
    add(i, one, sizes.front());
    for (std::size_t part = 1; part < sizes.size(); ++part)
      add(i, {}, sizes[part]);
  }
  return texts;
}

void add_totals(std::vector<Totals>& totals, std::string_view text)
{
  std::istringstream lines{std::string(text)};
  constexpr std::size_t most = 100'000; // kernels
  for (;;) {
    std::size_t kernel = 0;
    Totals one;
    lines >> kernel >> one.calls >> one.skipped >> one.sampled >> one.time >> one.exists >> one.nearest;
    if (!lines || kernel >= most || !one.sizes.read(lines))
      return;
    if (one.nearest == "-")
      one.nearest.clear();
    totals.resize(std::max(totals.size(), kernel + 1));
    totals[kernel] += one;
  }
}

Calls::Calls(std::shared_ptr<const Kernels> kernels) : kernels_(std::move(kernels))
{
  bool have_plans = false;
  std::size_t variables = 0;
  for (std::size_t i = 0; i < kernels_->list.size(); ++i) {
    const Kernel& kernel = kernels_->list[i];
    add_kernel(i);
    samplers_.emplace_back(kernel.name, kernel.limits, kernels_->seed);
    have_plans = have_plans || kernel.of_plan;
    variables = std::max(variables, kernel.variables.size());
  }
  values_.resize(variables);
  if (have_plans)
    add_plans();
}

void Calls::add_kernel(std::size_t kernel)
{
  const Kernel& one = kernels_->list[kernel];
  for (std::size_t entry = 0; entry < one.entries.size(); ++entry) {
    if (one.at)
      functions_.push_back({{}, one.at->object, one.at->offset});
    else
      functions_.push_back({one.entries[entry].symbol, one.object, {}, !one.is_expected});
    targets_.push_back({Target::What::kernel, kernel, entry});
  }
}

// Plans tell what their execution takes.
void Calls::add_plans()
{
  const auto add = [this](const std::vector<Spelling>& spellings, Target::What what) {
    for (std::size_t i = 0; i < spellings.size(); ++i) {
      functions_.push_back({spellings[i].symbol, {}, {}});
      targets_.push_back({what, i, 0});
    }
  };
  add(Plans::makers(), Target::What::maker);
  add(Plans::destroyers(), Target::What::destroyer);
}

std::optional<std::size_t> Calls::kernel_of(std::size_t function) const
{
  const Target& target = targets_[function];
  return target.what == Target::What::kernel ? std::optional(target.kernel) : std::nullopt;
}

bool Calls::is_mark(std::size_t function) const
{
  const std::optional<std::size_t> kernel = kernel_of(function);
  return kernel && kernels_->list[*kernel].mark;
}

std::vector<Totals>& Calls::of(unsigned rank)
{
  std::vector<Totals>& totals = totals_[rank];
  if (totals.empty())
    totals.resize(kernels_->list.size());
  return totals;
}

const std::vector<Totals>* Calls::totals(unsigned rank) const
{
  const auto found = totals_.find(rank);
  return found != totals_.end() ? &found->second : nullptr;
}

void Calls::set_result(Call& call, const Kernel& kernel, const Entry& entry, const Place& place,
                       std::uint64_t number) const
{
  if (!kernel.returns || !entry.spelling)
    return;
  const Signature& signature = entry.spelling->signature;
  call.result_in_vector = signature.result_in_vector();
  call.result = signature.result_bits(kernel.returns->evaluate(place, values_, number, !signature.result_in_vector()));
}

Calls::Call Calls::begin(std::size_t function, const Place& place, const CallRegisters& frame)
{
  const Target& target = targets_[function];
  Call call;
  call.kernel = target.kernel;
  if (target.what != Target::What::kernel) {
    call.counts = false;
    if (target.what == Target::What::maker)
      call.plan = Plans::read(Plans::makers()[target.kernel].signature, frame);
    else
      plans_.forget(frame.general[0]);
    return call;
  }
  const Kernel& kernel = kernels_->list[target.kernel];
  const Entry& entry = kernel.entries[target.entry];
  values_.resize(kernel.variables.size());
  if (kernel.action != Action::run && !kernel.read(entry, frame, plans_, values_)) {
    call.counts = false;
    return call;
  }
  Totals& totals = of(place.rank)[target.kernel];
  const std::uint64_t number = totals.calls++;
  call.mark = kernel.mark;
  if (kernel.action == Action::run)
    return call;
  switch (kernel.action) {
  case Action::sample: {
    call.classes = kernel.classes(values_);
    Sampler& sampler = samplers_[target.kernel];
    call.is_sample = sampler.measure(call.classes);
    if (call.is_sample)
      return call;
    call.time = sampler.duration(place, call.classes, number);
    call.way = kernel.afterwards == Action::skip ? Way::skip : Way::model;
    break;
  }
  case Action::watch:
    call.is_watched = true;
    call.classes = kernel.classes(values_);
    return call;
  default:
    call.time = kernel.does_nothing(values_) ? 0 : kernel.model->duration(place, values_, number);
    if (kernels_->speed != 1)
      call.time = static_cast<sim::SimTime>(static_cast<double>(call.time) / kernels_->speed);
    call.way = kernel.action == Action::skip ? Way::skip : Way::model;
    kernel.set(entry, frame, place, values_, number);
  }
  if (call.way == Way::skip) {
    set_result(call, kernel, entry, place, number);
    ++totals.skipped;
    totals.time += call.time;
  }
  return call;
}

void Calls::end(const Call& call, unsigned rank, sim::SimTime taken, std::uint64_t result)
{
  if (call.plan)
    plans_.add(result, *call.plan);
  if (!call.counts)
    return;
  if (call.is_sample)
    samplers_[call.kernel].add(call.classes, taken);
  Totals& totals = of(rank)[call.kernel];
  totals.sampled += call.is_sample ? 1 : 0;
  totals.time += taken;
  if (call.is_watched)
    totals.sizes.add(call.classes, sim::to_seconds(taken));
}

} // namespace umwelt::kernels
