// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/kernel_reader.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "runtime/base/usage_error.h"
#include "runtime/kernels/model_reader.h"

namespace umwelt::kernels
{
namespace
{

// Which function: where it is and what is known of its arguments.
struct Function {
  std::vector<Entry> entries;
  std::optional<Address> at;
  std::string object;
  const KernelFunction* built_in = nullptr;
  std::vector<std::string> variables;
};

Address read_address(const Item& item)
{
  const std::string text = item.text();
  const auto plus = text.rfind("+0x");
  Address address;
  if (plus != std::string::npos && plus != 0) {
    const char* begin = text.data() + plus + 3;
    const char* end = text.data() + text.size();
    const auto [last, error] = std::from_chars(begin, end, address.offset, 16);
    if (error == std::errc{} && last == end) {
      address.object = text.substr(0, plus);
      return address;
    }
  }
  throw UsageError(item.object, "OBJECT+0xOFFSET", in_quotes(text), "For example: libfoo.so.1+0x4a10");
}

const Spelling* find_spelling(const KernelFunction* function, std::string_view symbol)
{
  if (function == nullptr)
    return nullptr;
  const auto found = std::find_if(function->spellings.begin(), function->spellings.end(),
                                  [&](const Spelling& spelling) { return spelling.symbol == symbol; });
  return found == function->spellings.end() ? nullptr : &*found;
}

// What expressions can name: the sizes, then whatever parameters all spellings have.
void name_variables(Function& function)
{
  if (function.built_in != nullptr)
    function.variables = function.built_in->sizes;
  const bool of_plan = function.built_in != nullptr && function.built_in->of_plan;
  if (!function.entries.empty() && function.entries.front().spelling && !of_plan) {
    for (const Parameter& parameter : function.entries.front().spelling->signature.parameters()) {
      const bool everywhere = std::all_of(function.entries.begin(), function.entries.end(), [&](const Entry& entry) {
        return entry.spelling->signature.position(parameter.name).has_value();
      });
      if (everywhere && std::ranges::find(function.variables, parameter.name) == function.variables.end())
        function.variables.push_back(parameter.name);
    }
  }
  for (Entry& entry : function.entries)
    for (const std::string& variable : function.variables)
      entry.positions.push_back(entry.spelling && !of_plan
                                    ? entry.spelling->signature.position(variable).value_or(Entry::unread)
                                    : Entry::unread);
  if (function.built_in != nullptr)
    for (const char* count : {"flops", "bytes"})
      if (std::ranges::find(function.variables, count) == function.variables.end())
        function.variables.emplace_back(count);
}

std::vector<std::size_t> extents_of(const Kernel& kernel)
{
  std::vector<std::size_t> extents;
  for (std::size_t i = 0; i < kernel.variables.size(); ++i) {
    const std::string& name = kernel.variables[i];
    const bool is_read = std::ranges::all_of(kernel.entries, [i](const Entry& entry) {
      return i < entry.positions.size() && entry.positions[i] != Entry::unread;
    });
    if (is_read && (name == "M" || name == "N" || name == "NRHS"))
      extents.push_back(i);
  }
  return extents;
}

Function read_function(Section& section, const std::string& name)
{
  Function function;
  const auto declaration = section.find("function");
  const auto at = section.find("at");
  const auto symbol = section.find("symbol");
  const auto object = section.find("in");
  if (at && (symbol || object))
    throw UsageError(at->object, "either 'at' or 'symbol' and 'in'", "both", "Remove one of them.");
  if (at)
    function.at = read_address(*at);
  if (object)
    function.object = object->text();

  const std::string wanted = symbol ? symbol->text() : name;
  if (declaration) {
    Signature signature = Signature::parse(declaration->text(), declaration->object);
    std::string own = at ? "" : symbol ? wanted : signature.name();
    function.entries.push_back({own, Spelling{own, std::move(signature), {}}, {}});
  } else {
    const KernelFunction* built_in = find_builtin(wanted);
    const Spelling* spelling = find_spelling(built_in, wanted);
    if (built_in == nullptr || spelling == nullptr) {
      // A symbol of the user's may stand for a function of the table.
      built_in = find_builtin(name);
      spelling = find_spelling(built_in, name);
    }
    const bool whole = built_in != nullptr && built_in->name == name;
    // Kernels are called like one of their symbols, so their own name does not tell how they are called elsewhere.
    const bool elsewhere = at || (symbol && find_spelling(built_in, wanted) == nullptr);
    if (whole && elsewhere && !built_in->of_plan)
      throw UsageError((at ? at : symbol)->object,
                       fmt::format("a 'function' line beside it, or a name that tells Fortran from C instead of "
                                   "'name: {}'",
                                   name),
                       "none",
                       fmt::format("Arguments of {} and {} differ.", built_in->spellings.front().symbol,
                                   built_in->spellings.back().symbol));
    function.built_in = built_in;
    if (whole && !at && !symbol) {
      for (const Spelling& each : built_in->spellings)
        function.entries.push_back({each.symbol, each, {}});
    } else {
      const std::string own = at ? "" : wanted;
      function.entries.push_back({own, spelling == nullptr ? std::nullopt : std::optional(*spelling), {}});
    }
  }
  name_variables(function);
  return function;
}

// Whether the function returns something in all of its spellings, or in none; unknown: nullopt.
std::optional<bool> has_result(const Kernel& kernel)
{
  const auto returns = [](const Entry& entry) { return entry.spelling && entry.spelling->signature.result(); };
  const bool all = std::all_of(kernel.entries.begin(), kernel.entries.end(), returns);
  const bool any = std::any_of(kernel.entries.begin(), kernel.entries.end(), returns);
  return all == any && kernel.entries.front().spelling ? std::optional(all) : std::nullopt;
}

void read_returns(Section& section, Kernel& kernel, const std::vector<std::string>& variables,
                  const std::string& unknown, std::uint64_t seed)
{
  const auto item = section.find("returns");
  const std::string text = item ? item->text() : "nothing";
  const std::optional<bool> result = has_result(kernel);
  if (text == "nothing") {
    if (result.value_or(false))
      throw UsageError(item ? item->object : section.object(), "what the function returns where it is skipped",
                       item ? "nothing" : "no line 'returns: ...'",
                       "Give a value, an expression of its arguments, or random(LOW, HIGH).");
    return;
  }
  if (!kernel.entries.front().spelling)
    throw UsageError(item->object, "a function whose result is known", kernel.name,
                     "Give a 'function:' line with its declaration.");
  if (!result.value_or(true))
    throw UsageError(item->object, "nothing, since the function returns nothing", in_quotes(text), "Remove the line.");
  kernel.returns.emplace(kernel.name, text, variables, item->object, unknown, seed);
}

// Parameters that all spellings pass by reference can be set.
void read_settings(Section& section, Kernel& kernel, const std::string& unknown, std::uint64_t seed)
{
  const auto item = section.find("sets");
  if (!item)
    return;
  Section settings = section.inner(*item, "sets");
  for (const auto& [parameter, value] : settings.others()) {
    const bool can = std::all_of(kernel.entries.begin(), kernel.entries.end(), [&name = parameter](const Entry& entry) {
      const auto position = entry.spelling ? entry.spelling->signature.position(name) : std::nullopt;
      return position && entry.spelling->signature.parameters()[*position].by_reference;
    });
    if (!can)
      throw UsageError(
          value.object, "a parameter that the function takes by reference", in_quotes(parameter),
          fmt::format("Give a 'function:' line with it as 'double& {}' or 'int& {}'.", parameter, parameter));
    kernel.settings.push_back({parameter, Returns(fmt::format("{}.{}", kernel.name, parameter), value.text(),
                                                  kernel.variables, value.object, unknown, seed)});
  }
}

// What calls are told apart by.
void read_classes(Section& section, Kernel& kernel, const KernelFunction* built_in, const std::string& unknown)
{
  std::vector<std::pair<std::string, std::string>> expressions; // text, object
  if (const auto item = section.find("class")) {
    if (item->node.IsSequence()) {
      for (const Item& part : item->list())
        expressions.emplace_back(part.text(), part.object);
    } else {
      expressions.emplace_back(item->text(), item->object);
    }
  } else if (built_in != nullptr) {
    for (const std::string& size : built_in->sizes)
      expressions.emplace_back(size, kernel.where);
  } else if (const Entry& entry = kernel.entries.front(); entry.spelling) {
    for (const Parameter& parameter : entry.spelling->signature.parameters())
      if (parameter.kind <= Kind::uint64 || parameter.kind == Kind::character)
        if (!is_reserved(parameter.name))
          expressions.emplace_back(parameter.name, kernel.where);
  }
  for (const auto& [text, object] : expressions) {
    kernel.class_expressions.emplace_back(text, kernel.variables, object, unknown);
    require_number(kernel.class_expressions.back(), "a number to tell classes by");
  }
}

void read_sampling(Section& section, Kernel& kernel, const KernelFunction* built_in, const std::string& unknown)
{
  constexpr std::array<std::string_view, 2> then{"run", "skip"};
  for (const char* key : {"duration", "pieces"})
    if (const auto item = section.find(key))
      throw UsageError(item->object, "no duration, since it is sampled", "one", "Remove it, or use 'action: model'.");
  if (const auto item = section.find("interval"))
    kernel.limits.interval = read_fraction(*item);
  if (const auto item = section.find("least"))
    kernel.limits.least = read_whole(*item, 2, 1'000'000'000);
  if (const auto item = section.find("again"))
    kernel.limits.again = read_whole(*item, 0, 1'000'000'000);
  if (const auto item = section.find("then"))
    kernel.afterwards = read_choice(*item, then) == 0 ? Action::run : Action::skip;
  read_classes(section, kernel, built_in, unknown);
}

// Keys that belong to other actions.
void refuse_others(Section& section, Action action)
{
  struct Key {
    std::string_view name;
    std::string_view actions;
  };
  constexpr std::array<Key, 11> keys{{{"duration", "model or skip"},
                                      {"sets", "model or skip"},
                                      {"pieces", "model or skip"},
                                      {"parameters", "model or skip"},
                                      {"noise", "model or skip"},
                                      {"returns", "skip, or sample with 'then: skip'"},
                                      {"class", "sample or watch"},
                                      {"interval", "sample"},
                                      {"least", "sample"},
                                      {"again", "sample"},
                                      {"then", "sample"}}};
  for (const auto& [key, item] : section.others())
    for (const Key& other : keys)
      if (key == other.name)
        throw UsageError(item.object, fmt::format("'{}' only for action {}", key, other.actions),
                         fmt::format("action {}", action_names[static_cast<std::size_t>(action)]),
                         "Remove it, or change the action.");
}

} // namespace

Kernel read_kernel(Section unnamed, std::uint64_t seed)
{
  const Item name = unnamed.require("name", "For example: name: dgemm");
  Kernel kernel;
  kernel.name = name.text();
  if (kernel.name.empty())
    throw UsageError(name.object, "the name of a kernel", "nothing", "For example: name: dgemm");
  Section section = unnamed.named(fmt::format("kernel {}", kernel.name));
  section.find("name");
  kernel.where = section.object();

  Function function = read_function(section, kernel.name);
  kernel.entries = std::move(function.entries);
  kernel.at = std::move(function.at);
  kernel.object = std::move(function.object);
  kernel.variables = std::move(function.variables);
  kernel.of_plan = function.built_in != nullptr && function.built_in->of_plan;
  const std::string unknown = kernel.entries.front().spelling
                                  ? ""
                                  : fmt::format("Give a 'function:' line with the declaration of {}: without it its "
                                                "arguments are not known.",
                                                kernel.name);

  kernel.action =
      static_cast<Action>(read_choice(section.require("action", "One of run model skip sample watch."), action_names));
  if (kernel.action == Action::model || kernel.action == Action::skip) {
    kernel.model = read_model(section, kernel.name, kernel.variables, unknown, seed);
    read_settings(section, kernel, unknown, seed);
  }
  if (kernel.action == Action::sample)
    read_sampling(section, kernel, function.built_in, unknown);
  if (kernel.action == Action::watch)
    read_classes(section, kernel, function.built_in, unknown);
  if (kernel.action == Action::skip || (kernel.action == Action::sample && kernel.afterwards == Action::skip))
    read_returns(section, kernel, kernel.variables, unknown, seed);
  if (function.built_in != nullptr && kernel.action != Action::run) {
    kernel.flops.emplace(function.built_in->flops, function.built_in->sizes, kernel.where);
    kernel.bytes.emplace(function.built_in->bytes, function.built_in->sizes, kernel.where);
    kernel.extents = extents_of(kernel);
  }
  refuse_others(section, kernel.action);
  section.finish();
  return kernel;
}

} // namespace umwelt::kernels
