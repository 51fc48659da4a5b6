// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/launch/run.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <stdexcept>

#include <fmt/format.h>
#include <unistd.h>

#include "loader/elf_file.h"
#include "loader/private_directory.h"
#include "platforms/platform.h"
#include "runtime/base/environment.h"
#include "runtime/base/exit_codes.h"
#include "runtime/base/usage_error.h"
#include "runtime/engine/thread_pointer.h"
#include "runtime/gate/dispatch.h"
#include "runtime/job/environment.h"
#include "runtime/job/job.h"
#include "runtime/job/standard_output.h"
#include "runtime/launch/conductor.h"
#include "runtime/launch/first_kernels.h"
#include "runtime/launch/installation.h"
#include "runtime/launch/mpi_settings.h"
#include "runtime/launch/restart.h"
#include "runtime/launch/results.h"
#include "runtime/launch/run_facts.h"
#include "runtime/launch/tracers.h"
#include "runtime/launch/watching.h"
#include "runtime/launch/wrapper_kinds.h"
#include "runtime/launch/wrappers.h"
#include "runtime/observe/format.h"
#include "runtime/observe/report.h"
#include "runtime/observe/result_file.h"
#include "runtime/plan/collectives.h"
#include "runtime/plan/folding.h"
#include "runtime/plan/kernels.h"
#include "runtime/plan/loading.h"
#include "runtime/plan/needed_calls.h"
#include "runtime/plan/openmpi.h"
#include "runtime/plan/placement.h"
#include "runtime/plan/preflight.h"
#include "runtime/plan/what_if.h"
#include "runtime/plan/worker_plan.h"
#include "runtime/portals/fabric/fabric.h"
#include "runtime/portals/fabric/message.h"
#include "runtime/portals/fabric/process.h"
#include "runtime/rank_host/signals.h"

namespace umwelt::launch
{

namespace fs = std::filesystem;

namespace
{

constexpr const char* library_path = "LD_LIBRARY_PATH";
constexpr std::size_t many_ranks = 1000; // a machine for fewer is built within a tenth of a second or so

// Two programs of one run may give the same advice; a user needs it once.
void print_notes(const plan::RunOptions& options, const std::vector<std::string>& notes)
{
  for (const std::string& text : notes)
    note(options, text);
}

std::string working_directory(const plan::AppContext& program)
{
  const fs::path directory = program.directory.empty() ? fs::current_path() : fs::absolute(program.directory);
  std::error_code error;
  if (!fs::is_directory(directory, error))
    throw UsageError("-wdir " + program.directory, "a directory", error ? error.message() : "something else",
                     "create it or name another");
  return directory.lexically_normal();
}

// Where libportals.so.4 is; last, so that nothing of the user's changes its meaning.
void add_library_directory(job::Environment& environment, const std::string& directory)
{
  const char* before = job::variable(environment, library_path);
  if (before == nullptr || *before == '\0')
    job::set_variable(environment, library_path, directory);
  else if (fmt::format(":{}:", before).find(":" + directory + ":") == std::string::npos)
    job::set_variable(environment, library_path, fmt::format("{}:{}", before, directory));
}

// The environment of a program as far as it does not depend on what that is.
job::Environment base_environment(const plan::AppContext& program, const Installation& installation)
{
  job::Environment environment;
  for (char** entry = environ; *entry != nullptr; ++entry)
    environment.emplace_back(*entry);
  for (const auto& [name, value] : program.exports)
    job::set_variable(environment, name, value);
  add_library_directory(environment, installation.libraries);
  return environment;
}

void choose_portals(plan::ProgramPlan& plan, const plan::AppContext& program, const Installation& installation,
                    std::vector<std::string>& notes)
{
  plan::PortalsChoice choice = plan::choose_portals_abi(plan::find_portals_objects(plan.program), program.portals_abi);
  plan.portals_abi = choice.abi;
  plan.portals_library = installation.portals(choice.abi);
  if (!choice.note.empty())
    notes.push_back(std::move(choice.note));
}

plan::ProgramPlan plan_program(const plan::RunOptions& options, std::size_t index, const plan::Placement& placement,
                               const Installation& installation, std::vector<std::string>& notes)
{
  const plan::AppContext& program = options.programs[index];
  plan::ProgramPlan plan;
  plan.directory = working_directory(program);
  plan.environment = base_environment(program, installation);
  refuse_tracer(program.argv, plan.environment, plan.directory);
  plan.program = loader::find_program(program.argv, plan.environment, plan.directory, installation.programs);
  plan.same_addresses = options.same_addresses;
  choose_portals(plan, program, installation, notes);
  add_mpi_settings(plan, options, index, placement, installation, notes);
  return plan;
}

// The program that a wrapper has come to execute.
plan::ProgramPlan plan_execution(const plan::RunOptions& options, std::size_t index, const Execution& execution,
                                 const plan::Placement& placement, const Installation& installation,
                                 std::vector<std::string>& notes)
{
  plan::ProgramPlan plan;
  plan.directory = execution.directory;
  plan.same_addresses = options.same_addresses || execution.same_addresses;
  plan.environment = execution.environment;
  add_library_directory(plan.environment, installation.libraries);
  plan.program = loader::find_program(execution.argv, plan.environment, plan.directory, installation.programs);
  if (plan.program.argv == execution.argv) // no script
    plan.program.argv.front() = execution.name;
  choose_portals(plan, options.programs[index], installation, notes);
  add_mpi_settings(plan, options, index, placement, installation, notes);
  return plan;
}

// Ranks that execute the same in the same environment share a plan.
void plan_executions(plan::Plan& plan, std::span<const Execution> executions, const Installation& installation,
                     std::vector<std::string>& notes)
{
  struct Known {
    const Execution* execution;
    job::Environment environment;
    unsigned context;
    unsigned program;
  };
  std::vector<Known> known;
  for (const Execution& execution : executions) {
    const unsigned context = plan.placement.ranks[execution.rank].program;
    plan.in_wrapper[execution.rank] = {true, execution.streams};
    job::Environment environment = execution.environment;
    job::add_launcher_variables(environment, {});
    auto same = std::find_if(known.begin(), known.end(), [&](const Known& k) {
      return k.context == context && k.execution->argv == execution.argv && k.execution->name == execution.name &&
             k.execution->directory == execution.directory && k.execution->same_addresses == execution.same_addresses &&
             k.environment == environment;
    });
    if (same == known.end()) {
      same = known.insert(known.end(),
                          {&execution, std::move(environment), context, static_cast<unsigned>(plan.programs.size())});
      plan.programs.push_back(plan_execution(plan.options, context, execution, plan.placement, installation, notes));
    }
    plan.program_of_rank[execution.rank] = same->program;
  }
}

// One for each application context, but for those whose ranks have wrappers.
void plan_programs(plan::Plan& plan, std::span<const Execution> executions, const Installation& installation,
                   std::vector<std::string>& notes)
{
  std::vector<bool> wrapped(plan.options.programs.size());
  for (const Execution& execution : executions)
    wrapped[plan.placement.ranks[execution.rank].program] = true;
  std::vector<unsigned> program_of_context;
  for (std::size_t i = 0; i < wrapped.size(); ++i) {
    program_of_context.push_back(static_cast<unsigned>(plan.programs.size()));
    if (!wrapped[i])
      plan.programs.push_back(plan_program(plan.options, i, plan.placement, installation, notes));
  }
  for (const plan::RankPlace& place : plan.placement.ranks)
    plan.program_of_rank.push_back(program_of_context[place.program]);
  plan.in_wrapper.resize(plan.placement.ranks.size());
  plan_executions(plan, executions, installation, notes);
}

// -v: what was decided from the options.
void describe(const plan::RunOptions& options, const plan::Plan& plan)
{
  note(options, fmt::format("platform {}: {} nodes of {} cores; model {}; shim {}", plan.platform->name(),
                            plan.platform->node_count(), plan.platform->node(0).cores, options.model,
                            fmt::join(plan.preloaded, ":")));
  for (const plan::ProgramPlan& program : plan.programs) {
    note(options, fmt::format("program {} in {}, {} libraries", program.program.path, program.directory,
                              program.program.libraries.size()));
    if (!program.portals_library.empty())
      note(options, fmt::format("  calls of Portals in the ABI {}, by {}", plan::name_of(program.portals_abi),
                                program.portals_library));
    for (const std::string& entry : program.environment)
      if (entry.starts_with("OMPI_MCA_"))
        note(options, fmt::format("  {}", entry));
  }
  fmt::print(stderr, "{}", plan::placement_map(plan.placement));
}

plan::ProgramSize size_of(const plan::ProgramPlan& program)
{
  const std::vector<std::string> needed = sonames(program.program);
  return {needed.size(), plan::is_open_mpi(needed)};
}

std::vector<plan::ProgramSize> program_sizes(const plan::Plan& plan)
{
  std::vector<plan::ProgramSize> programs;
  for (const plan::ProgramPlan& program : plan.programs)
    programs.push_back(size_of(program));
  return programs;
}

plan::WorkerPlan plan_workers(const plan::Plan& plan, const plan::MachineLimits& limits)
{
  std::vector<plan::WorkerProgram> programs;
  for (const plan::ProgramPlan& program : plan.programs)
    programs.push_back({program.program.path, program.program.fixed_address() ? "is not position-independent (ET_EXEC)"
                                              : program.same_addresses ? "is to have the same addresses in all ranks"
                                                                       : ""});
  std::vector<plan::WorkerRank> ranks;
  for (std::size_t i = 0; i < plan.program_of_rank.size(); ++i)
    ranks.push_back({plan.program_of_rank[i], plan.placement.ranks[i].node});
  return plan::plan_workers(plan.options.workers, plan.options.jobs, ranks, programs,
                            plan::room_with(plan.loader, plan::ranks_that_fit(program_sizes(plan), limits)));
}

// Open MPI passes on its parameters, and these are of one job.
bool belongs_to_one_job(const std::string& entry)
{
  return entry.starts_with("OMPI_MCA_orte_ess_num_procs=") ||
         entry.starts_with("OMPI_MCA_orte_precondition_transports=");
}

// A program that a rank starts (MPI_Comm_spawn).
plan::ProgramPlan plan_spawned(const plan::RunOptions& options, const plan::Placement& placement,
                               const plan::SpawnedProgram& spawned, const Installation& installation)
{
  std::vector<std::string> unsaid; // the first job has said them
  plan::AppContext program = options.programs[spawned.context];
  program.directory = spawned.directory;
  plan::ProgramPlan plan;
  plan.directory = working_directory(program);
  plan.environment = base_environment(program, installation);
  plan.program = loader::find_program(spawned.argv, plan.environment, plan.directory, installation.programs);
  if (is_wrapper(plan.program))
    throw UsageError(spawned.argv.front(), "a program",
                     "a shell, or a tool that executes one (" + plan.program.path + ")",
                     "Start the program itself; set its environment with the info key env.");
  plan.same_addresses = options.same_addresses;
  choose_portals(plan, program, installation, unsaid);
  add_mpi_settings(plan, options, spawned.context, placement, installation, unsaid);
  for (const std::string& entry : spawned.environment)
    if (const auto equals = entry.find('='); equals != std::string::npos && !belongs_to_one_job(entry))
      job::set_variable(plan.environment, entry.substr(0, equals), entry.substr(equals + 1));
  return plan;
}

// What is short on this machine for more ranks.
std::string shortage_for(std::span<const plan::ProgramPlan* const> program_of_rank, std::uint64_t maps)
{
  std::vector<plan::ProgramSize> sizes;
  std::vector<unsigned> programs;
  for (const plan::ProgramPlan* program : program_of_rank) {
    programs.push_back(static_cast<unsigned>(sizes.size()));
    sizes.push_back(size_of(*program));
  }
  plan::Needs needs = plan::estimate_needs(sizes, programs, {});
  needs.maps += maps;
  const std::vector<plan::Shortage> shortages = plan::find_shortages(needs, plan::read_machine_limits());
  return shortages.empty() ? std::string() : plan::shortage_text(needs.ranks, shortages);
}

// Refuses what does not fit on this machine.
void check_machine(plan::Plan& plan, const plan::WorkerPlan& workers, const plan::MachineLimits& limits)
{
  const plan::Needs needs = plan::estimate_needs(program_sizes(plan), plan.program_of_rank, workers);
  const std::vector<plan::Shortage> shortages = plan::find_shortages(needs, limits);
  if (!shortages.empty())
    throw loader::Refusal(loader::Refusal::Kind::not_runnable, plan::shortage_text(needs.ranks, shortages));
  plan.most_descriptors = limits.descriptors.value_or(~std::uint64_t{0});
  plan.descriptors = plan::raise_descriptor_limit(needs.descriptors);
  plan.own_descriptors = needs.descriptors_of_runtime;
}

bool needs_wrapper_run(const plan::ProgramPlan& plan)
{
  return is_wrapper(plan.program);
}

// Refuses before the simulated machine is built, which takes long for many nodes, what does not fit whatever its nodes
// are. Wrappers count for nothing, since what they will execute is not known yet.
void check_many_ranks(const plan::RunOptions& options, const std::vector<plan::ProgramPlan>& plans)
{
  const std::vector<unsigned> program_of_rank = plan::programs_before_placement(options);
  if (program_of_rank.size() < many_ranks)
    return;
  std::vector<plan::ProgramSize> sizes;
  std::vector<plan::WorkerProgram> programs;
  for (const plan::ProgramPlan& program : plans) {
    sizes.push_back(needs_wrapper_run(program) ? plan::ProgramSize{} : size_of(program));
    programs.push_back({program.program.path, ""});
  }
  std::vector<plan::WorkerRank> ranks;
  for (std::size_t i = 0; i < program_of_rank.size(); ++i)
    ranks.push_back({program_of_rank[i], static_cast<platform::NodeIndex>(i / options.ranks_per_node.value_or(1))});
  const plan::MachineLimits limits = plan::read_machine_limits();
  const plan::WorkerPlan workers =
      plan::plan_workers(options.workers, options.jobs, ranks, programs,
                         plan::room_with(options.loader, plan::ranks_that_fit(sizes, limits)));
  const plan::Needs needs = plan::estimate_needs(sizes, program_of_rank, workers);
  const std::vector<plan::Shortage> shortages = plan::find_shortages(needs, limits);
  if (!shortages.empty())
    throw loader::Refusal(loader::Refusal::Kind::not_runnable, plan::shortage_text(needs.ranks, shortages));
}

// Of all ranks whose program is one; empty if there are none.
Wrappers run_wrappers_of(const plan::RunOptions& options, std::span<const plan::ProgramPlan> plans,
                         const Installation& installation)
{
  if (std::none_of(plans.begin(), plans.end(), needs_wrapper_run))
    return {};
  const auto platform = platform::make_platform({options.platform, plan::nodes_wanted(options), 0});
  const plan::Placement placement = plan::place_ranks(options, platform->name(), platform->nodes());
  std::vector<WrapperStart> starts;
  for (std::size_t rank = 0; rank < placement.ranks.size(); ++rank) {
    const plan::ProgramPlan& plan = plans[placement.ranks[rank].program];
    if (!needs_wrapper_run(plan))
      continue;
    starts.push_back({static_cast<unsigned>(rank), plan.program, plan.environment, plan.directory});
    job::add_launcher_variables(starts.back().environment, job::launcher_facts(placement, rank));
  }
  std::fflush(nullptr);
  return run_wrappers(std::move(starts), installation.wrapper, installation.programs, options.timeout);
}

} // namespace

int prepare(const plan::RunOptions& options, const std::vector<std::string>& arguments, const Repetition& repetition)
{
  const Installation installation = find_installation();
  for (const fs::path& file : installation.needed())
    if (access(file.c_str(), R_OK) != 0)
      throw std::runtime_error(fmt::format("{}: expected a part of Umwelt, got: {}. Next step: install Umwelt again, "
                                           "or build the whole project; `umwelt doctor` says what else is missing",
                                           file.string(), std::strerror(errno)));
  if (const std::vector<std::string> refused = plan::refused_calls(); !refused.empty())
    throw loader::Refusal(loader::Refusal::Kind::not_runnable, plan::refused_calls_text(refused));
  check_results(options);
  check_kernels_file(options);
  job::StandardOutput::check(options.output);
  std::vector<std::string> unsaid; // the second start says them
  std::vector<plan::ProgramPlan> plans;
  for (std::size_t i = 0; i < options.programs.size(); ++i)
    plans.push_back(plan_program(options, i, {}, installation, unsaid));
  check_many_ranks(options, plans);
  const Wrappers wrappers = run_wrappers_of(options, plans, installation);
  if (wrappers.executions.empty() && std::any_of(plans.begin(), plans.end(), needs_wrapper_run)) {
    if (wrappers.exit_code == exit_code::ok)
      note(options,
           "nothing to simulate: no wrapper (script, env and the like) executed a program that takes part in a job");
    return wrappers.exit_code;
  }
  const bool first_is_wrapped = !wrappers.executions.empty() && wrappers.executions.front().rank == 0;
  job::Environment environment = first_is_wrapped ? wrappers.executions.front().environment : plans.front().environment;
  add_library_directory(environment, installation.libraries);
  // ld.so reads it when a process begins, for everything that is loaded later.
  setenv(library_path, job::variable(environment, library_path), 1);
  const std::vector<std::string>& first_argv =
      first_is_wrapped ? wrappers.executions.front().argv : plans.front().program.argv;
  std::vector<const loader::Program*> programs;
  programs.reserve(plans.size());
  for (const plan::ProgramPlan& plan : plans)
    programs.push_back(&plan.program);
  const plan::LoaderChoice choice = plan::choose_loader(options.loader, programs);
  if (!choice.note.empty())
    note(options, choice.note);
  const bool fixed = !plan::measures(options);
  const bool same_addresses =
      options.same_addresses || std::any_of(wrappers.executions.begin(), wrappers.executions.end(),
                                            [](const Execution& e) { return e.same_addresses; });
  throw std::runtime_error(
      restart({arguments, pack(wrappers), repetition, choice.loader}, first_argv, fixed || same_addresses));
}

namespace
{

int run_job(plan::RunOptions options, const Wrappers& wrappers, const std::vector<std::string>& arguments)
{
  observe::RunFacts facts;
  if (options.report_details)
    facts = run_facts(arguments, options.platform);
  const auto begin = std::chrono::steady_clock::now();
  const Installation installation = find_installation();
  Watching watching(options, installation.serve);
  loader::PrivateDirectory directory(options.keep_temps);
  if (options.keep_temps)
    note(options, fmt::format("temporary files are kept in {}", directory.path()));

  plan::Plan plan;
  std::vector<std::string> notes = options.notes;
  plan.options = options;
  if (std::string& output = plan.options.output.directory; !output.empty())
    output = fs::absolute(output).string(); // ranks change the working directory, and some begin later
  plan.platform = platform::make_platform({options.platform, plan::nodes_wanted(options), 0});
  plan::apply_factors(options, *plan.platform);
  plan.placement = plan::place_ranks(options, plan.platform->name(), plan.platform->nodes());
  const auto nodes = static_cast<std::uint32_t>(plan.platform->node_count());
  plan::RegionFunctions functions;
  plan.models = plan::plan_node_models(options, nodes, functions);
  plan.cpus = plan::plan_node_cpus(options, nodes, functions);
  plan.power = plan::plan_power(options, *plan.platform, plan.placement, functions);
  plan.breaks = plan::plan_breaks(options.breaks, plan.placement.ranks.size(), functions);
  plan.failures = plan::make_failures(options, *plan.platform, plan.placement);
  plan_programs(plan, wrappers.executions, installation, notes);
  plan.loader = options.loader; // prepare() has chosen
  const plan::MachineLimits limits = plan::read_machine_limits();
  plan::WorkerPlan workers = plan_workers(plan, limits);
  notes.insert(notes.end(), workers.notes.begin(), workers.notes.end());
  check_machine(plan, workers, limits);
  plan.workers = std::move(workers.workers);
  plan.plan_spawned = [&options, &plan, &installation](const plan::SpawnedProgram& spawned) {
    return plan_spawned(options, plan.placement, spawned, installation);
  };
  plan.find_shortage = shortage_for;
  const std::shared_ptr<kernels::Kernels> kernels = plan::read_kernels(options, functions);
  if (plan.power)
    plan::find_power_kernels(*plan.power, kernels.get());
  plan.kernels = kernels;
  plan.folding = plan::read_folding(options, plan.placement.ranks.size());
  const bool traces_calls = options.trace_format && observe::shows_calls(*options.trace_format);
  const bool follows_mpi = options.mpi_calls || traces_calls || plan::has_mpi(plan.models.regions) ||
                           plan::has_mpi(plan.cpus.regions) || plan::has_mpi(plan.breaks) || options.power.phases;
  if (follows_mpi && plan::measures(options))
    notes.emplace_back(std::string(options.mpi_calls ? "--mpi-calls"
                                   : traces_calls    ? "--trace"
                                                     : "functions of MPI as places") +
                       ": to count a call of MPI is measured with it, up to 1 us each; compare with a run "
                       "without, or take --cpu none or fixed");
  plan.collectives = plan::collective_models(options);
  plan.preloaded = installation.preloaded(plan.folding != nullptr, follows_mpi || plan.collectives != nullptr);
  if (options.verbosity >= 1)
    describe(options, plan);
  if (options.display_map)
    fmt::print(stderr, "{}", plan::placement_map(plan.placement));
  if (!options.notes_said)
    print_notes(options, notes);
  const std::unique_ptr<observe::ResultFile> report = open_results(plan);
  const std::unique_ptr<observe::ResultFile> kernels_file = open_kernels_file(options);

  int exit_code = 0;
  std::vector<int> statuses; // of the ranks with wrappers
  run_in_conductor([&] {
    job::Job job(plan, gate::server(), directory);
    watching.look_at(job, begin);
    std::optional<rank_host::Signals> signals(std::in_place, job.rank_host());
    if (options.timeout)
      alarm(*options.timeout);
    const job::Outcome outcome = job.run();
    alarm(0);
    if (!job.interrupted()) // else Ctrl-C once more must not keep the summary from being printed
      signals.reset();
    directory.remove();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    observe::JobRecord record = job.record(outcome, wall.count());
    job.add_energy(record);
    if (record.details) {
      facts.objects = std::move(record.details->run.objects);
      for (observe::RunFacts::Object& object : facts.objects)
        object.build_id = loader::build_id(object.path);
      record.details->run = std::move(facts);
    }
    watching.ended(job, outcome, record);
    job.tell_breaks();
    if (options.verbosity >= 0 && options.summary)
      fmt::print(stderr, "{}", observe::summary(record));
    const bool printed = job.finish_output();
    bool whole = finish_results(plan, report.get(), record, !job.cpu().measured());
    if (kernels_file)
      whole = finish_kernels_file(*kernels_file, plan, job, record) && whole;
    exit_code = (printed && whole) || outcome.exit_code != exit_code::ok ? outcome.exit_code : exit_code::failure;
    for (const Execution& execution : wrappers.executions) {
      const observe::RankRecord& rank = record.ranks[execution.rank];
      statuses.push_back(rank.signal != 0 ? rank.signal : rank.exit_status << 8);
    }
    signals.reset();
    alarm(0); // set by a request that came meanwhile
  });
  if (wrappers.executions.empty())
    return exit_code;
  const int code = finish(wrappers, statuses, exit_code != exit_code::ok);
  return exit_code != exit_code::ok ? exit_code : code;
}

} // namespace

void run(plan::RunOptions options, const Wrappers& wrappers, const std::vector<std::string>& arguments)
{
  engine::adopt_runtime_thread_pointer();
  int exit_code = exit_code::failure;
  bool done = false;
  try {
    exit_code = run_job(std::move(options), wrappers, arguments);
    done = true;
  } catch (const UsageError& error) {
    fmt::print(stderr, "umwelt run: {}\n", error.what());
    exit_code = exit_code::usage;
  } catch (const loader::Refusal& error) {
    fmt::print(stderr, "umwelt run: {}\n", error.what());
    exit_code = error.kind() == loader::Refusal::Kind::not_found ? exit_code::not_found : exit_code::refused;
  } catch (const std::invalid_argument& error) {
    fmt::print(stderr, "umwelt run: {}\n", error.what());
    exit_code = exit_code::usage;
  } catch (const std::exception& error) {
    fmt::print(stderr, "umwelt run: {}\n", error.what());
  }
  if (!done)
    kill(wrappers);
  std::fflush(nullptr);
  _exit(exit_code);
}

} // namespace umwelt::launch
