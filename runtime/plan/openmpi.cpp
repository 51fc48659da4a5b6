// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/openmpi.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <fstream>
#include <sstream>

#include "preload/abi/gate.h"
#include "runtime/base/usage_error.h"

namespace umwelt::plan
{
namespace
{

namespace fs = std::filesystem;

constexpr std::string_view component_path = "mca_base_component_path";
constexpr std::string_view component_path_synonym = "mca_component_path"; // deprecated in Open MPI, still read

bool has_components(const fs::path& directory)
{
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with("mca_") && name.ends_with(".so"))
      return true;
  }
  return false;
}

fs::path resolved(const fs::path& library)
{
  std::error_code error;
  fs::path target = fs::canonical(library, error);
  return error ? library : target;
}

// From the version of its interface, libmpi.so.40.30.4 of Open MPI 4.1 and libmpi.so.40.40.7 of 5.0: Debian's names of
// directories are others, and to ask the library it would have to be loaded.
bool is_version_5(const fs::path& library)
{
  constexpr std::string_view interface = "libmpi.so.40.";
  constexpr int of_5_0 = 40;
  const std::string name = resolved(library).filename().string();
  int minor = 0;
  if (name.starts_with(interface))
    std::from_chars(name.data() + interface.size(), name.data() + name.size(), minor);
  return minor >= of_5_0;
}

// Whether the library has a symbol of that name.
bool contains(const fs::path& library, std::string_view symbol)
{
  std::ifstream in(library, std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  return content.view().find(symbol) != std::string_view::npos;
}

// Whether its components are in it (4.1: --disable-mca-dso): pml ob1, which none is without, then gives it a symbol.
bool contains_components(const fs::path& library)
{
  return contains(library, "mca_pml_ob1_component");
}

// Where an Open MPI keeps its components: Debian puts libmpi into the system's library directory and them below
// openmpi/lib/openmpi3; a plain installation has PREFIX/lib/openmpi. Empty: they are in libmpi, the default of 5.0.
fs::path system_components(const fs::path& library)
{
  const fs::path directory = resolved(library).parent_path();
  for (const char* below : {"openmpi/lib/openmpi40", "openmpi/lib/openmpi3", "openmpi3", "openmpi"}) {
    if (has_components(directory / below))
      return directory / below;
  }
  if (is_version_5(library) || contains_components(library))
    return {};
  throw UsageError(fmt::format("Open MPI library {}", resolved(library).string()),
                   fmt::format("its components below {}/openmpi", directory.string()), "no directory with mca_*.so",
                   fmt::format("Tell where they are: --mca {} DIRECTORY", component_path));
}

std::string_view trim(std::string_view text)
{
  const auto first = text.find_first_not_of(" \t\r\f\v");
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(" \t\r\f\v") - first + 1);
}

// Does a component list ("a,b" or "^a,b") leave `component` in?
bool selects(std::string_view list, std::string_view component)
{
  const bool excludes = list.starts_with('^');
  if (excludes)
    list.remove_prefix(1);
  bool named = false;
  while (!list.empty()) {
    const auto comma = list.find(',');
    named = named || trim(list.substr(0, comma)) == component;
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return named != excludes;
}

// Everything the user said about Open MPI's parameters.
class Choices
{
public:
  explicit Choices(const OpenMpiRequest& request) : request_(request)
  {
    const auto home = variable("HOME");
    if (!home)
      return;
    std::ifstream in(fs::path(*home) / ".openmpi" / "mca-params.conf");
    std::ostringstream text;
    if (in)
      text << in.rdbuf();
    file_ = parse_mca_file(text.str());
  }

  [[nodiscard]] std::optional<std::string> variable(const std::string& name) const
  {
    for (auto setting = request_.exports.rbegin(); setting != request_.exports.rend(); ++setting) {
      if (setting->first == name)
        return setting->second;
    }
    return request_.environment(name);
  }

  [[nodiscard]] std::optional<std::string> parameter(std::string_view name) const
  {
    for (const Setting& setting : request_.mca) {
      if (setting.first == name)
        return setting.second;
    }
    if (auto value = variable(fmt::format("OMPI_MCA_{}", name)))
      return value;
    const auto line = file_.find(std::string(name));
    return line == file_.end() ? std::nullopt : std::optional<std::string>(line->second);
  }

private:
  const OpenMpiRequest& request_;
  std::map<std::string, std::string> file_;
};

// Open MPI's search path with Umwelt's directory in front. A path of the user is kept behind it. Empty: its own
// default.
std::string search_path(const Choices& choices, const OpenMpiRequest& request)
{
  auto users = choices.parameter(component_path);
  if (!users)
    users = choices.parameter(component_path_synonym);
  if (request.components.empty())
    return users.value_or("");
  if (users)
    return fmt::format("{}:{}", request.components.string(), *users);
  std::string path = request.components.string();
  if (const fs::path system = system_components(request.library); !system.empty())
    path.append(1, ':').append(system.string());
  if (const auto home = choices.variable("HOME")) { // the other half of Open MPI's default
    const fs::path own = fs::path(*home) / ".openmpi" / "components";
    if (has_components(own))
      path.append(1, ':').append(own.string());
  }
  return path;
}

// Defaults of the portals4 components of Open MPI 4.1.4 with which they lose messages or compute wrong results, and
// better ones.
constexpr std::pair<std::string_view, std::string_view> component_defaults[] = {
    // It sends fragments of up to 64 KiB, but takes everything above the eager limit (32 KiB) for long messages, which
    // the target matches to an entry of no length: the pipelined protocol of pml/ob1 (non-contiguous data) would lose
    // its data.
    {"btl_portals4_max_send_size", "32768"},
    // A rank that computes does not take messages; beyond 4096 events or 2 MiB of eager data (8 blocks of 256 KiB) they
    // are dropped without a word. Few blocks: they stand in the NIC's list in front of the entries that long messages
    // are fetched from, so that every fetch passes them (with 64 of them and 63 ns each, 4 us). Not one: a full block
    // is out of the list until the rank has read it, and what comes meanwhile has to be sent again.
    {"btl_portals4_eq_recv_size", "32768"},
    {"btl_portals4_recv_md_num", "4"},
    // Sends and Gets under way, each: beyond 1024, pml ob1 tries again whatever waits whenever it progresses. Both
    // together stay below btl_portals4_max_pending_ops (8192): a message that waits for room there takes others
    // meanwhile, on the same stack.
    {"btl_portals4_free_list_max_num", "4000"},
};

// Receive blocks (above): their memory is touched from one end to the other. 14 MiB of a rank as long as all ranks
// together have 2 GiB, then less, down to stock Open MPI's size of a block.
std::string receive_block_size(std::size_t ranks)
{
  constexpr std::size_t largest = 3670016;
  constexpr std::size_t smallest = 256 << 10;
  constexpr std::size_t all = 2UL << 30;
  constexpr std::size_t blocks = 4;
  return std::to_string(std::clamp(all / blocks / ranks / smallest * smallest, smallest, largest));
}

// Each rank of a node looks into the memory of all others after each of their calls.
constexpr std::size_t many_of_node = 16;

} // namespace

bool is_open_mpi(std::span<const std::string> needed)
{
  static constexpr std::array<std::string_view, 2> libraries{"libmpi.so.40", "liboshmem.so.40"};
  return std::any_of(needed.begin(), needed.end(), [](const std::string& soname) {
    return std::find(libraries.begin(), libraries.end(), soname) != libraries.end();
  });
}

std::vector<Setting> mca_of_program(const RunOptions& run, std::size_t program)
{
  std::vector<Setting> settings = run.programs[program].mca;
  const auto add = [&](const std::vector<Setting>& more) {
    for (const Setting& setting : more) {
      if (std::none_of(settings.begin(), settings.end(), [&](const Setting& s) { return s.first == setting.first; }))
        settings.push_back(setting);
    }
  };
  add(run.global_mca);
  add(run.programs.front().mca);
  return settings;
}

std::map<std::string, std::string> parse_mca_file(std::string_view text)
{
  std::map<std::string, std::string> parameters;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const auto equals = line.find('=');
    if (line.starts_with('#') || line.starts_with("//") || equals == std::string_view::npos)
      continue;
    const std::string_view name = trim(line.substr(0, equals));
    std::string_view value = trim(line.substr(equals + 1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
      value = value.substr(1, value.size() - 2);
    if (!name.empty())
      parameters[std::string(name)] = std::string(value);
  }
  return parameters;
}

// It was built with ULFM if it is 5.0 without --without-ft.
void check_fault_tolerance(const fs::path& library)
{
  const bool version_5 = is_version_5(library);
  if (version_5 && contains(library, "ompi_comm_failure_propagate"))
    return;
  throw UsageError(
      "--with-ft ulfm", "Open MPI 5 built with fault tolerance",
      fmt::format("{}, {}", resolved(library).string(), version_5 ? "which was built without" : "an Open MPI before 5"),
      version_5 ? "`ompi_info` says \"FT MPI support: yes\" of one that has it; or leave the option out."
                : "Build the program with the mpicc of an Open MPI 5, or leave the option out: then a "
                  "rank that dies ends the job.");
}

OpenMpiSetup set_up_open_mpi(const OpenMpiRequest& request)
{
  const Choices choices(request);
  OpenMpiSetup setup;
  const auto set = [&](std::string_view name, std::string value) {
    setup.variables.emplace_back(fmt::format("OMPI_MCA_{}", name), std::move(value));
  };
  for (const Setting& setting : request.mca) {
    if (setting.first != component_path && setting.first != component_path_synonym)
      set(setting.first, setting.second);
  }
  if (std::string path = search_path(choices, request); !path.empty())
    set(component_path, std::move(path));

  const auto pml = choices.parameter("pml");
  const bool matching = pml && !pml->starts_with('^') && selects(*pml, "cm"); // the NIC matches messages, not Open MPI
  if (request.fault_tolerant) {
    check_fault_tolerance(request.library);
    if (matching)
      throw UsageError("--with-ft ulfm", "pml ob1, the only one of Open MPI that is fault tolerant", "--mca pml cm",
                       "Leave --mca pml cm and --mca mtl out.");
    if (!choices.parameter("mpi_ft_enable"))
      set("mpi_ft_enable", "1");
  }
  if (!pml)
    set("pml", "ob1");
  if (matching) {
    const auto mtl = choices.parameter("mtl");
    if (!mtl)
      set("mtl", "portals4");
    else if (!selects(*mtl, "portals4"))
      setup.notes.push_back(
          fmt::format("mtl {} leaves portals4 out: its messages do not cross the simulated network", *mtl));
  }
  // With pml cm, too: one-sided communication may open the BTLs, and the default ones use the real network.
  const bool version_5 = is_version_5(request.library);
  const std::string_view shared_memory = version_5 ? "sm" : "vader"; // it comes first among ranks of a node
  const auto btl = choices.parameter("btl");
  if (!btl)
    set("btl", matching ? "portals4,self" : fmt::format("portals4,{},self", shared_memory));
  // Over tcp it looks at the clock again and again until 10 ms have passed since it last looked at sockets; where
  // computing takes no time, each look is 25 ns.
  if (request.fault_tolerant && btl && selects(*btl, "tcp") && !choices.parameter("mpi_event_tick_rate"))
    set("mpi_event_tick_rate", "1");
  // Its btl tcp asks the machine's kernel for a route (netlink), which knows nothing of the simulated network.
  if (version_5 && !choices.parameter("reachable"))
    set("reachable", "weighted");
  // osc/portals4 offers itself whatever the pml, and then uses endpoints that only the mtl sets up. osc/rdma of 4.1
  // would be taken among ranks of one node, and crashes over vader in MPI_Compare_and_swap, natively as well. (Debian's
  // file leaves out pt2pt, the one that works over any pml; it is wanted here.) That of 5.0 works over any BTL, and
  // pt2pt is gone.
  if (!matching && !choices.parameter("osc"))
    set("osc", version_5 ? "^ucx,portals4" : "^ucx,portals4,rdma");
  // Where the mtl had to take the BML's place at a process (preload/openmpi/mtl_portals4_slot.h), osc/rdma would find
  // its things there.
  if (matching && !choices.parameter("osc") && fs::exists(request.components / "shares-slot"))
    set("osc", "^ucx,rdma");
  // Collectives on the NIC come first by default (priority 100), but reduce MPI_LONG as bytes and broadcast scattered
  // data from a buffer of random size. Below coll/tuned (30) they would serve nobody and still look into a queue of
  // their own whenever MPI progresses, so they are left out; --mca coll_portals4_priority 100 brings them back. Not
  // without another user of Portals: over tcp MPI would read the clock between its rare looks at sockets and do nothing
  // that tells that it waits (46 s of CPU time in place of 0.3 for mpi.p2p_sendrecv on 16 ranks of 4 nodes).
  if (!choices.parameter("coll_portals4_priority")) {
    if (choices.parameter("coll") || !(matching || !btl || selects(*btl, "portals4")))
      set("coll_portals4_priority", "10");
    else
      set("coll", "^portals4");
  }
  for (const auto& [name, value] : component_defaults)
    if (!choices.parameter(name))
      set(name, std::string(value));
  if (!choices.parameter("btl_portals4_recv_md_size"))
    set("btl_portals4_recv_md_size", receive_block_size(request.ranks));
  if (request.most_of_node >= many_of_node && !matching && (!btl || selects(*btl, shared_memory)))
    setup.notes.push_back(
        fmt::format("{} ranks of a node talk through its memory (btl {}), which takes much CPU time here: each looks "
                    "after every call of the others. Their messages go through the NIC with --mca btl portals4,self",
                    request.most_of_node, shared_memory));
  return setup;
}

} // namespace umwelt::plan
