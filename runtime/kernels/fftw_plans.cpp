// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/fftw_plans.h"

#include <cstddef>
#include <fmt/format.h>
#include <string_view>
#include <type_traits>

namespace umwelt::kernels
{

namespace
{

// fftw_iodim and fftw_iodim64 (fftw3.h): size and strides of a dimension.
template <typename T> struct Dimension {
  T n, input_stride, output_stride;
};

constexpr std::array<std::string_view, 3> prefixes{"fftw_", "fftwf_", "fftwl_"};

struct Maker {
  std::string_view name, parameters;
};

// Parameters up to the last that says something of sizes (fftw3.h). The names RANK, N, HOWMANY, DIMS ... are what
// read() goes by.
constexpr std::array<Maker, 7> makers_of_sizes{{{"plan_{}", "int RANK, int* N"},
                                                {"plan_{}_1d", "int N0"},
                                                {"plan_{}_2d", "int N0, int N1"},
                                                {"plan_{}_3d", "int N0, int N1, int N2"},
                                                {"plan_many_{}", "int RANK, int* N, int HOWMANY"},
                                                {"plan_guru_{}", "int RANK, void* DIMS, int HOWMANY_RANK, void* MANY"},
                                                {"plan_guru64_{}", "int RANK, void* DIMS64, int HOWMANY_RANK, "
                                                                   "void* MANY64"}}};
constexpr std::array<std::string_view, 4> transforms{"dft", "dft_r2c", "dft_c2r", "r2r"};
constexpr std::array<std::string_view, 3> split_transforms{"split_dft", "split_dft_r2c", "split_dft_c2r"};

template <typename T> double product(double address, double rank)
{
  // Rank 0 is one point; FFTW_RANK_MINFTY, the largest int, is none.
  constexpr double most = 64;
  const auto* const dimensions = reinterpret_cast<const T*>(static_cast<std::uintptr_t>(address));
  double points = rank > most ? 0 : 1;
  for (int i = 0; i < rank && rank <= most; ++i) {
    if constexpr (std::is_integral_v<T>)
      points *= static_cast<double>(dimensions[i]);
    else
      points *= static_cast<double>(dimensions[i].n);
  }
  return points;
}

Transform transform_of(std::string_view maker)
{
  if (maker.find("r2c") != std::string_view::npos)
    return Transform::real_to_complex;
  if (maker.find("c2r") != std::string_view::npos)
    return Transform::complex_to_real;
  if (maker.find("r2r") != std::string_view::npos)
    return Transform::real_to_real;
  return Transform::complex;
}

Spelling spelling(std::string_view result, const std::string& symbol, std::string_view parameters)
{
  return {symbol, Signature::parse(fmt::format("{} {}({})", result, symbol, parameters), "plans of FFTW"), {}};
}

} // namespace

const std::vector<Spelling>& Plans::makers()
{
  static const std::vector<Spelling> list = [] {
    std::vector<Spelling> made;
    const auto add = [&](const Maker& maker, std::string_view transform) {
      for (const std::string_view prefix : prefixes)
        made.push_back(spelling("void*", std::string(prefix) + fmt::format(fmt::runtime(maker.name), transform),
                                maker.parameters));
    };
    for (const Maker& maker : makers_of_sizes) {
      for (const std::string_view transform : transforms)
        add(maker, transform);
      if (maker.name.find("guru") == std::string_view::npos)
        continue;
      for (const std::string_view transform : split_transforms)
        add(maker, transform);
    }
    return made;
  }();
  return list;
}

const std::vector<Spelling>& Plans::destroyers()
{
  static const std::vector<Spelling> list = [] {
    std::vector<Spelling> made;
    const auto add = [&](const std::string& symbol, std::string_view parameter) {
      made.push_back(spelling("void", symbol, parameter));
    };
    for (const std::string_view prefix : prefixes)
      add(std::string(prefix) + "destroy_plan", "void* PLAN");
    for (const char precision : {'d', 's', 'l'}) {
      add(fmt::format("{}fftw_destroy_plan_", precision), "void*& PLAN");
      add(fmt::format("{}fftw_destroy_plan__", precision), "void*& PLAN");
    }
    return made;
  }();
  return list;
}

PlanSizes Plans::read(const Signature& maker, const CallRegisters& frame)
{
  std::vector<double> values(maker.parameters().size());
  maker.read(frame, values);
  PlanSizes sizes;
  sizes.kind = transform_of(maker.name());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string_view name = maker.parameters()[i].name;
    if (name == "N0" || name == "N1" || name == "N2")
      sizes.points *= values[i];
    else if (name == "N")
      sizes.points = product<int>(values[i], values[i - 1]);
    else if (name == "HOWMANY")
      sizes.howmany = values[i];
    else if (name == "DIMS" || name == "MANY")
      (name == "DIMS" ? sizes.points : sizes.howmany) = product<Dimension<int>>(values[i], values[i - 1]);
    else if (name == "DIMS64" || name == "MANY64")
      (name == "DIMS64" ? sizes.points : sizes.howmany) = product<Dimension<std::ptrdiff_t>>(values[i], values[i - 1]);
  }
  return sizes;
}

void Plans::add(std::uint64_t plan, const PlanSizes& sizes)
{
  if (plan != 0)
    plans_[plan] = sizes;
}

void Plans::forget(std::uint64_t plan)
{
  plans_.erase(plan);
}

const PlanSizes* Plans::find(std::uint64_t plan) const
{
  const auto found = plans_.find(plan);
  return found != plans_.end() ? &found->second : nullptr;
}

} // namespace umwelt::kernels
