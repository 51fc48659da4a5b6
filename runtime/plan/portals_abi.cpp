// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/portals_abi.h"

#include <algorithm>
#include <array>
#include <system_error>

#include <fmt/format.h>

#include "loader/elf_file.h"
#include "runtime/base/usage_error.h"

namespace umwelt::plan
{

namespace
{

constexpr auto names = std::to_array<std::pair<PortalsAbi, std::string_view>>(
    {{PortalsAbi::four_three, "4.3"}, {PortalsAbi::four_two, "4.2"}, {PortalsAbi::bxi, "bxi"}});

constexpr std::string_view any_library = "libportals.so";
constexpr std::string_view library_of_reference = "libportals.so.4";
constexpr std::uint32_t four_three_note = 0x403; // preload/abi/portals4.h

// Functions that only one of the ABIs has. PtlNIAtomicSync is BXI's, but portals4.h offers it as well.
constexpr auto only_4_3 = std::to_array<std::string_view>({"PtlAbort", "PtlTriggeredLEAppend", "PtlTriggeredLEUnlink"});
constexpr auto only_bxi = std::to_array<std::string_view>({
#define UMW_PTL_NOT_BLOCKING(name, of) #name,
#define UMW_LOCAL(name, version, level, note) #name,
#include "preload/abi/tables/portals_bxi.def"
#undef UMW_PTL_NOT_BLOCKING
#undef UMW_LOCAL
    "PtlNIAtomicSync"});

// Functions of ABIs that no library of Umwelt has: structures differ.
constexpr auto of_others = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"PtlGetJid", "of Portals 4.0"},
    {"PtlMsgPut", "of BXI version 3"},
    {"PtlMsgGet", "of BXI version 3"},
    {"PtlMsgPutOnce", "of BXI version 3"},
    {"PtlMsgGetOnce", "of BXI version 3"},
    {"PtlCQSet", "of BXI version 3"},
    {"PtlGetStatistics", "of BXI version 3"},
});

// What an object tells of its ABI.
struct Evidence {
  std::optional<PortalsAbi> abi; // none: 4.3 or 4.2
  bool certain = false;          // by its numbers or its functions, not by the name of a library
  std::string by;
};

template <typename Names> const std::string* first_of(const PortalsObject& object, const Names& wanted)
{
  const auto found = std::find_first_of(object.calls.begin(), object.calls.end(), wanted.begin(), wanted.end());
  return found == object.calls.end() ? nullptr : &*found;
}

[[noreturn]] void refuse(const std::string& text)
{
  throw loader::Refusal(loader::Refusal::Kind::not_runnable, text);
}

Evidence evidence_of(const PortalsObject& object)
{
  for (const auto& [function, whose] : of_others)
    if (std::find(object.calls.begin(), object.calls.end(), function) != object.calls.end())
      refuse(fmt::format("{}: expected calls of Portals 4.3, 4.2 or BXI version 2, got {}, a function {}, whose ABI "
                         "Umwelt does not have. Next step: build it against Umwelt's portals4.h and libportals.so.4",
                         object.path, function, whose));
  const std::string* const bxi = first_of(object, only_bxi);
  if (object.has_note && (!bxi || *bxi == "PtlNIAtomicSync"))
    return {PortalsAbi::four_three, true, "compiled with Umwelt's portals4.h"};
  const std::string* const four_three = first_of(object, only_4_3);
  if (bxi && (four_three || object.has_note))
    refuse(fmt::format("{}: expected calls of one Portals ABI, got {} of BXI beside {}. Next step: build all of it "
                       "against the same portals4.h",
                       object.path, *bxi, four_three ? *four_three + " of 4.3" : "Umwelt's own portals4.h"));
  if (bxi)
    return {PortalsAbi::bxi, true, "calls " + *bxi};
  if (four_three)
    return {PortalsAbi::four_three, true, "calls " + *four_three};
  if (!object.library.empty() && object.library != library_of_reference)
    return {PortalsAbi::bxi, false, "linked against " + object.library};
  return {std::nullopt, false,
          object.library.empty() ? "linked against no libportals" : "linked against " + object.library};
}

PortalsChoice obey(std::span<const PortalsObject> objects, PortalsAbi wanted)
{
  for (const PortalsObject& object : objects)
    if (const Evidence evidence = evidence_of(object); evidence.certain && evidence.abi != wanted)
      throw UsageError("--portals-abi", fmt::format("{} for {} ({})", name_of(*evidence.abi), object.path, evidence.by),
                       in_quotes(name_of(wanted)), "Leave the option out.");
  return {wanted, ""};
}

} // namespace

std::string_view name_of(PortalsAbi abi)
{
  return std::find_if(names.begin(), names.end(), [abi](const auto& each) { return each.first == abi; })->second;
}

std::optional<PortalsAbi> parse_portals_abi(std::string_view option, std::string_view text)
{
  if (text == "auto")
    return std::nullopt;
  for (const auto& [abi, name] : names)
    if (text == name)
      return abi;
  throw UsageError(option, "auto, 4.3, 4.2 or bxi", in_quotes(text),
                   "It is that of the portals4.h which the program was compiled with.");
}

PortalsChoice choose_portals_abi(std::span<const PortalsObject> objects, std::optional<PortalsAbi> wanted)
{
  if (wanted)
    return obey(objects, *wanted);
  const PortalsObject* first = nullptr;
  Evidence known;
  const PortalsObject* open = nullptr;
  const auto mixed = [&](const PortalsObject& other, const Evidence& evidence) {
    refuse(fmt::format("{}: expected the Portals ABI of {} ({}: {}), got {} ({}). One process has one ABI. Next step: "
                       "build both against the same portals4.h, or tell with --portals-abi which it is if a library "
                       "has another name than usual",
                       other.path, first->path, name_of(*known.abi), known.by,
                       evidence.abi ? name_of(*evidence.abi) : "that of 4.3 or 4.2", evidence.by));
  };
  for (const PortalsObject& object : objects) {
    Evidence evidence = evidence_of(object);
    if (!evidence.abi) {
      open = open ? open : &object;
      continue;
    }
    if (first && evidence.abi != known.abi)
      mixed(object, evidence);
    if (!first) {
      first = &object;
      known = std::move(evidence);
    }
  }
  if (!open)
    return {first ? *known.abi : PortalsAbi::four_three, ""};
  if (first && known.abi == PortalsAbi::bxi)
    mixed(*open, evidence_of(*open));
  if (first) // most likely the same
    return {*known.abi, ""};
  return {PortalsAbi::four_three,
          fmt::format("{}: it calls functions of Portals that 4.2 and 4.3 have alike, with other numbers: taken for "
                      "4.3. Next step: --portals-abi 4.2 if it was built with that, else --portals-abi 4.3",
                      open->path)};
}

std::vector<PortalsObject> find_portals_objects(const loader::Program& program)
{
  std::vector<PortalsObject> objects;
  const auto is_portals = [](const std::string& name) { return name.starts_with(any_library); };
  if (std::none_of(program.libraries.begin(), program.libraries.end(),
                   [&](const loader::Library& library) { return is_portals(library.name); }))
    return objects;
  const auto look_into = [&](const std::string& path) {
    PortalsObject object{path, loader::imports(path, "Ptl"), "", false};
    if (object.calls.empty())
      return;
    try {
      const std::vector<std::string> needed = loader::inspect(path).needed;
      if (const auto found = std::find_if(needed.begin(), needed.end(), is_portals); found != needed.end())
        object.library = *found;
    } catch (const std::system_error&) { // gone meanwhile: ld.so will say so
      return;
    }
    object.has_note = loader::word_of_note(path, "Portals") == four_three_note;
    objects.push_back(std::move(object));
  };
  look_into(program.path);
  for (const loader::Library& library : program.libraries)
    if (!is_portals(library.name))
      look_into(library.path);
  return objects;
}

} // namespace umwelt::plan
