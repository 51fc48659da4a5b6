// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/calibrate/kernel_caller.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>
#include <random>
#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include "runtime/base/usage_error.h"
#include "runtime/kernels/fitting/terms.h"

namespace umwelt::calibrate
{
namespace
{

constexpr std::size_t most_arguments = 32;

using Arguments = std::array<std::uintptr_t, most_arguments>;

template <std::size_t> using Word = std::uintptr_t;

template <std::size_t... I>
void call_with(void* function, const Arguments& arguments, std::index_sequence<I...> /*numbers*/)
{
  using Function = void (*)(Word<I>...);
  reinterpret_cast<Function>(function)(arguments[I]...);
}

double now()
{
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// What tells of calls in which another process had the core: the time it had is no part of what they take.
struct Processor {
  double time = 0;   // of this thread
  long switches = 0; // to others

  static Processor here()
  {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return {static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec),
            usage.ru_nivcsw + usage.ru_nvcsw};
  }
};

// "daxpy", "idamax", "dznrm2", "zdscal", "dsdot"
char precision(const std::string& name)
{
  if (name == "dsdot")
    return 's';
  return name[0] == 'i' || name.starts_with("sc") || name.starts_with("dz") ? name[1] : name[0];
}

const kernels::Spelling& fortran(const kernels::KernelFunction& kernel)
{
  return kernel.spellings.front();
}

// Values with which operands neither grow nor vanish call after call; C and S are those of a rotation.
double scalar_of(const std::string& name)
{
  return name == "ALPHA" ? -1 : name == "C" ? 0.6 : name == "S" ? 0.8 : 1;
}

bool is_index_array(const std::string& name)
{
  return name == "IPIV" || name == "JPVT" || name == "IWORK" || name == "JPIV" || name == "IFAIL";
}

// "LDA" behind "A"
bool has_leading(const std::vector<kernels::Parameter>& parameters, std::size_t index)
{
  return index + 1 < parameters.size() && parameters[index + 1].name == "LD" + parameters[index].name;
}

// How many elements an operand may need where no size is larger.
double elements_of(const std::vector<kernels::Parameter>& parameters, std::size_t index, double largest)
{
  const std::string& name = parameters[index].name;
  constexpr double margin = 64; // of workspaces, and bands beside the diagonal
  if (has_leading(parameters, index) || name == "AP" || name == "BP")
    return (4 * largest + margin) * (largest + 1);
  return name.ends_with("WORK") ? margin * (largest + 1) : largest + margin;
}

// Takes no memory where nothing is written.
std::unique_ptr<std::byte[], void (*)(void*)> zeros(std::size_t bytes)
{
  auto* const begin = static_cast<std::byte*>(std::calloc(bytes, 1));
  if (begin == nullptr)
    throw std::bad_alloc();
  return {begin, std::free};
}

} // namespace

Library::Library(const std::string& name)
{
  for (const char* variable : {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"})
    setenv(variable, "1", 1);
  std::vector<std::string> wanted{name};
  if (name.empty())
    wanted = {"libblas.so.3", "liblapack.so.3"};
  std::string said;
  for (const std::string& one : wanted) {
    names_ += (names_.empty() ? "" : " or ") + one;
    if (void* handle = dlopen(one.c_str(), RTLD_NOW | RTLD_LOCAL))
      handles_.push_back(handle);
    else
      said = dlerror();
  }
  if (handles_.empty())
    throw UsageError(name.empty() ? "BLAS library" : fmt::format("--library {}", name), "a library to load", said,
                     "Install one (Debian: libopenblas0-serial), or name it: --library /path/libopenblas.so.0");
}

void* Library::function(const kernels::KernelFunction& kernel) const
{
  for (void* handle : handles_)
    if (void* found = dlsym(handle, fortran(kernel).symbol.c_str()))
      return found;
  throw UsageError(fmt::format("kernel {}", kernel.name), fmt::format("{} in {}", fortran(kernel).symbol, names_),
                   "none", "Name the library that has it: --library /path/libNAME.so");
}

std::string Library::place_of(void* function)
{
  Dl_info info{};
  return dladdr(function, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "?";
}

void require_callable(const kernels::KernelFunction& kernel)
{
  if (kernel.of_plan || !fortran(kernel).queries.empty())
    throw UsageError(fmt::format("kernel {}", kernel.name), "a function that can be called on its own",
                     kernel.of_plan ? "one that executes a plan" : "one that asks how much workspace it needs",
                     "Measure it in a program (umwelt kernels), or give measurements: --from FILE.csv");
}

Caller::Caller(const kernels::KernelFunction& kernel, void* function, const std::map<std::string, double>& fixed,
               double largest, std::uint64_t seed)
    : kernel_(kernel), function_(function), largest_(largest), seed_(seed)
{
  const char letter = precision(kernel.name);
  single_ = letter == 's' || letter == 'c';
  complex_ = letter == 'c' || letter == 'z';
  const auto& parameters = fortran(kernel).signature.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto& [name, kind, by_reference] = parameters[i];
    const auto size = std::find(kernel.sizes.begin(), kernel.sizes.end(), name);
    const auto own = fixed.find(name);
    const double scalar = own != fixed.end() ? own->second : scalar_of(name);
    Argument argument{};
    using What = Argument::What;
    if (kind == kernels::Kind::character) {
      argument.what = What::character;
      argument.letter = own != fixed.end()                 ? static_cast<char>(own->second)
                        : name == "SIDE" || name == "UPLO" ? 'L'
                                                           : 'N';
      if (size != kernel.sizes.end())
        argument.what = What::size;
      argument.index = static_cast<std::size_t>(size - kernel.sizes.begin());
    } else if (by_reference && kind <= kernels::Kind::uint64) {
      argument.what = own == fixed.end() && name.starts_with("LD") ? What::leading : What::number;
      argument.integer = own != fixed.end() ? static_cast<std::int32_t>(own->second) : 1;
      if (size != kernel.sizes.end()) {
        argument.what = What::size;
        argument.index = static_cast<std::size_t>(size - kernel.sizes.begin());
      }
    } else if (by_reference) {
      argument.what = What::real;
      argument.value = scalar;
      argument.single = static_cast<float>(scalar);
    } else if (name == "ALPHA" || name == "BETA") {
      argument.what = What::complex;
      argument.value = scalar;
      argument.bytes = zeros(2 * sizeof(double));
      const std::array<float, 2> narrow{static_cast<float>(scalar), 0};
      const std::array<double, 2> wide{scalar, 0};
      std::memcpy(argument.bytes.get(), single_ ? static_cast<const void*>(narrow.data()) : wide.data(),
                  single_ ? sizeof narrow : sizeof wide);
    } else if (is_index_array(name)) {
      argument.what = What::indexes;
      argument.bytes = zeros(static_cast<std::size_t>(largest + 64) * 8 * sizeof(std::int32_t));
      auto* indexes = reinterpret_cast<std::int32_t*>(argument.bytes.get());
      for (std::int32_t k = 0; k < static_cast<std::int32_t>(largest) + 64; ++k)
        indexes[k] = k + 1;
    } else {
      argument.what = has_leading(parameters, i) ? What::matrix : What::vector;
      fill(argument, elements_of(parameters, i, largest));
    }
    arguments_.push_back(std::move(argument));
  }
  clock_ = 1;
  for (int i = 0; i < 1000; ++i) {
    const double before = now();
    clock_ = std::min(clock_, now() - before);
  }
}

double Caller::bytes_of(const kernels::KernelFunction& kernel, double largest)
{
  double sum = 0;
  const auto& parameters = fortran(kernel).signature.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].kind == kernels::Kind::pointer && !parameters[i].by_reference)
      sum += elements_of(parameters, i, largest) * 2 * sizeof(double);
  return sum;
}

// Pages of operands that no call reaches are not written, so that they take no memory: where the largest matrix ends.
void Caller::fill(Argument& argument, double elements)
{
  const std::size_t numbers = static_cast<std::size_t>(elements) * (complex_ ? 2 : 1);
  const std::size_t reached = std::min(
      numbers, static_cast<std::size_t>((argument.what == Argument::What::matrix ? largest_ * largest_ : elements)) *
                   (complex_ ? 2 : 1));
  argument.bytes = zeros(numbers * (single_ ? sizeof(float) : sizeof(double)));
  std::mt19937_64 random(seed_ + arguments_.size());
  const double scale = 1 / std::max(largest_, 1.0);
  for (std::size_t i = 0; i < reached; ++i) {
    const double value = (std::ldexp(static_cast<double>(random() >> 11), -52) - 1) * scale;
    if (single_)
      reinterpret_cast<float*>(argument.bytes.get())[i] = static_cast<float>(value);
    else
      reinterpret_cast<double*>(argument.bytes.get())[i] = value;
  }
}

void Caller::set_diagonal(Argument& matrix, std::int32_t leading, std::int32_t length, bool to_one)
{
  for (std::int32_t i = 0; i < length; ++i) {
    const std::size_t at = (static_cast<std::size_t>(i) * static_cast<std::size_t>(leading) + i) * (complex_ ? 2 : 1);
    const double value = to_one ? 1 : 0.5 / std::max(largest_, 1.0);
    if (single_)
      reinterpret_cast<float*>(matrix.bytes.get())[at] = static_cast<float>(value);
    else
      reinterpret_cast<double*>(matrix.bytes.get())[at] = value;
  }
}

void Caller::set(Argument& argument, std::span<const double> sizes, std::int32_t leading)
{
  if (argument.what == Argument::What::leading)
    argument.integer = leading;
  if (argument.what != Argument::What::size)
    return;
  argument.integer = static_cast<std::int32_t>(sizes[argument.index]);
  argument.letter = static_cast<char>(argument.integer & 0x7f);
}

double Caller::measure(std::span<const double> sizes)
{
  std::int32_t length = 1;
  std::int32_t band = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const bool is_band = kernel_.sizes[i] == "KL" || kernel_.sizes[i] == "KU";
    if (!kernels::is_character(kernel_, kernel_.sizes[i]))
      (is_band ? band : length) = is_band ? band + 2 * static_cast<std::int32_t>(sizes[i])
                                          : std::max(length, static_cast<std::int32_t>(sizes[i]));
  }
  const std::int32_t leading = std::max(length, band);
  Arguments arguments;
  arguments.fill(1);
  const auto& parameters = fortran(kernel_).signature.parameters();
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    Argument& one = arguments_[i];
    set(one, sizes, leading);
    using What = Argument::What;
    const void* address = nullptr;
    if (one.what == What::character || parameters[i].kind == kernels::Kind::character)
      address = &one.letter;
    else if (one.what == What::real)
      address = parameters[i].kind == kernels::Kind::float32 ? static_cast<const void*>(&one.single) : &one.value;
    else if (one.what == What::size || one.what == What::leading || one.what == What::number)
      address = &one.integer;
    else
      address = one.bytes.get();
    if (one.what == What::matrix)
      set_diagonal(one, leading, length, true);
    arguments[i] = reinterpret_cast<std::uintptr_t>(address);
  }
  const Processor before = Processor::here();
  const double begin = now();
  call_with(function_, arguments, std::make_index_sequence<most_arguments>());
  double taken = now() - begin - clock_;
  if (const Processor after = Processor::here(); after.switches != before.switches)
    taken = std::min(taken, after.time - before.time);
  for (Argument& one : arguments_)
    if (one.what == Argument::What::matrix)
      set_diagonal(one, leading, length, false);
  return std::max(taken, 1e-10);
}

} // namespace umwelt::calibrate
