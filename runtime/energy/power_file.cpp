// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/energy/power_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fnmatch.h>

#include "runtime/base/parameters.h"
#include "runtime/base/usage_error.h"
#include "runtime/kernels/section.h"

namespace umwelt::energy
{

namespace
{

using kernels::Item;
using kernels::Section;

struct Unit {
  std::string_view name;
  double factor;
};
constexpr std::array watt_units = {Unit{"W", 1}, Unit{"kW", 1e3}, Unit{"mW", 1e-3}, Unit{"", 1}};
constexpr std::array frequency_units = {Unit{"GHz", 1e9}, Unit{"MHz", 1e6}, Unit{"kHz", 1e3}};
constexpr std::array joule_units = {Unit{"J", 1}, Unit{"mJ", 1e-3}, Unit{"uJ", 1e-6}, Unit{"nJ", 1e-9},
                                    Unit{"pJ", 1e-12}};

// A number, not negative, with one of the units.
double read_quantity(const Item& item, std::span<const Unit> units, std::string_view expected)
{
  const std::string text = item.text();
  const std::size_t end = std::min(text.find_first_not_of("0123456789.eE+-"), text.size());
  const std::string_view unit = trim(std::string_view(text).substr(end));
  double value = 0;
  const auto found = std::find_if(units.begin(), units.end(), [unit](const Unit& one) { return one.name == unit; });
  if (!parse_number(trim(std::string_view(text).substr(0, end)), value) || found == units.end())
    throw UsageError(item.object, expected, in_quotes(text), "See runtime/energy/README.md.");
  return value * found->factor;
}

double read_watts(const Item& item)
{
  return read_quantity(item, watt_units, "watts, \"95 W\"");
}

double read_joules(const Item& item)
{
  return read_quantity(item, joule_units, "joules, \"2 nJ\"");
}

double read_price(const Item& item)
{
  constexpr std::array plain = {Unit{"", 1}};
  return read_quantity(item, plain, "a number");
}

double or_zero(Section& section, std::string_view key, double (*read)(const Item&))
{
  const std::optional<Item> item = section.find(key);
  return item ? read(*item) : 0;
}

// What a node draws while all its cores do something.
struct Given {
  std::optional<double> communicating;
  std::optional<double> waiting;
};

PowerState read_state(Section section, std::size_t number, std::size_t cores, Given& given)
{
  PowerState state;
  state.name = std::to_string(number);
  if (const auto frequency = section.find("frequency")) {
    state.frequency = read_quantity(*frequency, frequency_units, "a frequency, \"2.3 GHz\"");
    if (state.frequency == 0)
      throw UsageError(frequency->object, "a frequency above 0", "0", "Leave it out if it is not known.");
    state.name = fmt::format("{}GHz", state.frequency / 1e9);
  }
  state.pace = 0;
  if (const auto speed = section.find("speed"))
    state.pace = kernels::read_fraction(*speed);
  state.idle = read_watts(section.require("idle", "What a node draws while none of its cores is busy: idle: 95 W"));
  const Item all = section.require("computing", "What it draws with all cores computing: computing: 171 W; or a list, "
                                                "with 1, 2, ... cores");
  const auto epsilon = section.find("epsilon");
  if (all.node.IsSequence()) {
    if (epsilon)
      throw UsageError(epsilon->object, "no epsilon beside a list for computing", in_quotes(epsilon->text()),
                       "The list says what one busy core draws.");
    for (const Item& one : all.list())
      state.busy.push_back(read_watts(one));
    if (state.busy.size() != cores)
      throw UsageError(all.object, fmt::format("a value for each of the node's {} cores", cores),
                       fmt::format("{}", state.busy.size()), "The n-th is what it draws with n cores computing.");
  } else {
    set_linear(state, epsilon ? read_watts(*epsilon) : state.idle, read_watts(all), cores);
  }
  for (const double watts : state.busy)
    if (watts < state.idle)
      throw UsageError(all.object, fmt::format("at least what the node draws idle, {} W", state.idle),
                       fmt::format("{} W", watts), "Check the two.");
  const auto other = [&](const char* key, std::optional<double>& value) {
    if (const auto item = section.find(key)) {
      value = read_watts(*item);
      if (*value < state.idle)
        throw UsageError(item->object, fmt::format("at least what the node draws idle, {} W", state.idle),
                         fmt::format("{} W", *value), "Check the two.");
    }
  };
  other("communicating", given.communicating);
  other("waiting", given.waiting);
  section.finish();
  return state;
}

// What is not said of a state is to computing there as in the first state.
double scaled(const PowerState& state, const PowerState& first, double of_first)
{
  const double span = first.busy.back() - first.idle;
  const double all = state.busy.back();
  return span > 0 ? state.idle + (of_first - first.idle) * (all - state.idle) / span : all;
}

struct KernelWatts {
  std::string name;
  double watts = 0; // in the first state
  std::string object;
};

void fill_activities(NodePower& kind, const std::vector<Given>& given, std::span<const KernelWatts> kernel_watts)
{
  const PowerState first = kind.states.front();
  const double communicates = given.front().communicating.value_or(first.busy.back());
  const double waits = given.front().waiting.value_or(communicates);
  for (std::size_t number = 0; number < kind.states.size(); ++number) {
    PowerState& state = kind.states[number];
    state.full = {state.busy.back(), given[number].communicating.value_or(scaled(state, first, communicates)), 0};
    state.full[waiting] = given[number].waiting.value_or(given[number].communicating && !given.front().waiting
                                                             ? *given[number].communicating
                                                             : scaled(state, first, waits));
    for (const KernelWatts& kernel : kernel_watts) {
      if (kernel.watts < first.idle)
        throw UsageError(kernel.object, fmt::format("at least what a node draws idle, {} W", first.idle),
                         fmt::format("{} W", kernel.watts), "It is what a node draws with the kernel on all cores.");
      state.full.push_back(scaled(state, first, kernel.watts));
    }
  }
}

// The paces that were not given: by frequency. States have to be in order.
void set_paces(std::vector<PowerState>& states, const Section& section)
{
  const double nominal = states.front().frequency;
  if (states.front().pace == 0)
    states.front().pace = 1;
  for (PowerState& state : states) {
    if (state.pace > 0)
      continue;
    if (state.frequency == 0 || nominal == 0)
      throw UsageError(section.object(), "a frequency in this state and in the first, or a speed", "neither",
                       "speed: 0.5 is half as fast as the first one.");
    state.pace = state.frequency / nominal;
  }
  if (states.front().pace != 1)
    throw UsageError(section.object(), "speed 1 in the first state, which the others are compared with",
                     fmt::format("{}", states.front().pace), "Put the fastest state first.");
  for (std::size_t i = 1; i < states.size(); ++i)
    if (states[i].pace >= states[i - 1].pace)
      throw UsageError(
          section.object(), "states in order, the fastest first",
          fmt::format("state {} at {} times the speed of the first, after {}", i, states[i].pace, states[i - 1].pace),
          "Sort them.");
}

struct NodeEntry {
  std::string glob;
  Item item;
};

NodePower read_node(Section section, std::size_t cores, std::span<const KernelWatts> kernel_watts)
{
  NodePower kind;
  kind.off = or_zero(section, "off", read_watts);
  std::vector<Given> given;
  for (const Item& item : section.require("states", "Each with what the node draws there, the fastest first.").list())
    kind.states.push_back(read_state(section.inner(item, fmt::format("state {}", kind.states.size())),
                                     kind.states.size(), cores, given.emplace_back()));
  section.find("nodes");
  section.finish();
  if (kind.states.empty())
    throw UsageError(section.object(), "at least one state", "none", "- {idle: 95 W, computing: 171 W}");
  if (kind.states.size() > std::numeric_limits<std::uint8_t>::max())
    throw UsageError(section.object(), "at most 255 states", fmt::format("{}", kind.states.size()), "Leave some out.");
  set_paces(kind.states, section);
  fill_activities(kind, given, kernel_watts);
  return kind;
}

void read_network(Section section, NetworkPower& network)
{
  const auto part = [&](const char* key, PartPower& power, double* per_message) {
    const auto item = section.find(key);
    if (!item)
      return;
    Section inner = section.inner(*item, key);
    power = {or_zero(inner, "idle", read_watts), or_zero(inner, "per_byte", read_joules)};
    if (per_message != nullptr)
      *per_message = or_zero(inner, "per_message", read_joules);
    inner.finish();
  };
  part("nic", network.nic, &network.nic_per_message);
  part("switch", network.network_switch, nullptr);
  if (const auto item = section.find("link")) {
    Section inner = section.inner(*item, "link");
    network.link_idle = or_zero(inner, "idle", read_watts);
    const auto busy = inner.find("busy");
    network.link_busy = busy ? read_watts(*busy) : network.link_idle;
    network.link_per_byte = or_zero(inner, "per_byte", read_joules);
    if (busy && network.link_busy < network.link_idle)
      throw UsageError(busy->object, "at least what it draws idle", in_quotes(busy->text()), "Check the two.");
    inner.finish();
  }
  section.finish();
}

Prices read_prices(Section section)
{
  Prices prices;
  prices.node_hour = or_zero(section, "node_hour", read_price);
  prices.kwh = or_zero(section, "kwh", read_price);
  if (const auto pue = section.find("pue")) {
    prices.pue = read_price(*pue);
    if (prices.pue < 1)
      throw UsageError(pue->object, "1 or more", in_quotes(pue->text()),
                       "It is what the supplier delivers, over what the machine draws.");
  }
  if (const auto currency = section.find("currency"))
    prices.currency = currency->text();
  section.finish();
  return prices;
}

Unused read_unused(Section& file, std::string_view key, Unused standard)
{
  constexpr std::array<std::string_view, 3> words = {"nothing", "idle", "off"};
  const auto item = file.find(key);
  return item ? static_cast<Unused>(kernels::read_choice(*item, words)) : standard;
}

// Kinds by what fits a node's name first; of nodes with other numbers of cores there is one each.
void read_nodes(Section& file, std::span<const platform::Node> nodes, std::span<const KernelWatts> kernel_watts,
                Power& power)
{
  const auto list = file.find("nodes");
  if (!list)
    return;
  std::vector<NodeEntry> entries;
  for (const Item& item : list->list()) {
    Section section = file.inner(item, "nodes");
    const auto glob = section.find("nodes");
    entries.push_back({glob ? glob->text() : "*", item});
  }
  std::vector<bool> used(entries.size());
  std::vector<std::pair<std::size_t, unsigned>> made; // entry and cores, by kind
  for (const platform::Node& node : nodes) {
    const auto entry = std::find_if(entries.begin(), entries.end(), [&node](const NodeEntry& one) {
      return fnmatch(one.glob.c_str(), node.name.c_str(), 0) == 0;
    });
    if (entry == entries.end())
      throw UsageError(list->object, fmt::format("an entry for node {}", node.name), "none that fits its name",
                       "Give the last one no `nodes:`: it then fits all others.");
    const std::pair of{static_cast<std::size_t>(entry - entries.begin()), node.cores};
    used[of.first] = true;
    const auto same = std::find(made.begin(), made.end(), of);
    const auto index = static_cast<std::size_t>(same - made.begin());
    if (same == made.end()) {
      if (index > std::numeric_limits<std::uint8_t>::max())
        throw UsageError(list->object, "at most 256 kinds of nodes", "more", "Give some nodes the same.");
      made.push_back(of);
      power.kinds.push_back(
          read_node(file.inner(entry->item, fmt::format("nodes {}", entry->glob)), node.cores, kernel_watts));
    }
    power.of_node.push_back(static_cast<std::uint8_t>(index));
  }
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (!used[i])
      throw UsageError(file.inner(entries[i].item, fmt::format("nodes {}", entries[i].glob)).object(),
                       "a pattern of names of nodes that no entry before takes", in_quotes(entries[i].glob),
                       fmt::format("The platform's first node is {}.", nodes.front().name));
}

} // namespace

Power read_power(const std::string& path, std::span<const platform::Node> nodes)
{
  Section file(kernels::load_yaml(path, "power file", "It begins with 'nodes:'."), path, "");
  Power power;
  power.source = path;
  std::vector<KernelWatts> kernel_watts;
  if (const auto item = file.find("kernels")) {
    const Section section = file.inner(*item, "kernels");
    for (const auto& [name, value] : section.others())
      kernel_watts.push_back({name, read_watts(value), value.object});
    if (kernel_watts.size() > most_kernels)
      throw UsageError(item->object, fmt::format("at most {} kernels", most_kernels),
                       fmt::format("{}", kernel_watts.size()), "Leave those out that draw what computing draws.");
  }
  read_nodes(file, nodes, kernel_watts, power);
  if (power.nodes())
    for (const KernelWatts& kernel : kernel_watts)
      power.kernels.push_back(kernel.name);
  else if (!kernel_watts.empty())
    throw UsageError(path, "nodes beside kernels", "kernels alone", "Add what nodes draw: nodes:");
  if (const auto item = file.find("network"))
    read_network(file.inner(*item, "network"), power.network);
  if (const auto item = file.find("cost"))
    power.prices = read_prices(file.inner(*item, "cost"));
  power.unused = read_unused(file, "without_ranks", power.unused);
  power.ended = read_unused(file, "after_ranks", power.ended);
  file.finish();
  return power;
}

} // namespace umwelt::energy
