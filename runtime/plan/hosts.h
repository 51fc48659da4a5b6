// SPDX-License-Identifier: LGPL-2.1-or-later
// Host lists: the value of --host and the file of --hostfile, both in Open MPI 4.1's syntax (mpirun(1), "Specifying
// Host Nodes"; the keywords of a host file are those of its orte/util/hostfile).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace umwelt::plan
{

struct Host {
  std::string name;
  unsigned slots = 0;     // ranks it takes; 0: as many as the node has cores
  unsigned max_slots = 0; // ranks it takes with --oversubscribe; 0: no limit but its cores
  std::string where;      // "--host", "hosts.txt:3": for messages
};

// "a:2,b,c:*": one slot unless given, `*` for the node's cores; a name that comes again adds its slots.
std::vector<Host> parse_host_list(std::string_view option, std::string_view text);

// One host per line, `name [slots=N] [max_slots=N]`, comments with #, // and /* */. A host listed several times without
// slots has one slot per line, a host listed once without slots as many as cores. `file` is for messages. Throws
// UsageError with file, line and the offending text.
std::vector<Host> parse_hostfile(std::string_view file, std::string_view text);

// The file's hosts; UsageError if it cannot be read.
std::vector<Host> read_hostfile(std::string_view option, const std::string& path);

// --host and --hostfile together, as in mpirun: the list selects among the file's hosts; slots that the list gives
// replace the file's.
std::vector<Host> select_hosts(const std::vector<Host>& file, const std::vector<Host>& list);

} // namespace umwelt::plan
