// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/cli/manual.h"

#include <fmt/format.h>
#include <sstream>

#include "runtime/base/exit_codes.h"

namespace umwelt::cli
{
namespace
{

// Text as roff shows it: '\' and '-' would be a request and a hyphen, and a line that begins with '.' or ''' a macro.
std::string escaped(std::string_view text)
{
  std::string result;
  for (const char c : text) {
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else {
      if ((c == '.' || c == '\'') && (result.empty() || result.back() == '\n'))
        result += "\\&";
      result += c;
    }
  }
  return result;
}

// Bold, and back to what it was.
std::string bold(std::string_view text)
{
  return fmt::format("\\fB{}\\fR", escaped(text));
}

std::string italic(std::string_view text)
{
  return fmt::format("\\fI{}\\fR", escaped(text));
}

// A macro's single argument.
std::string argument(std::string_view text)
{
  std::string result = "\"";
  for (const char c : escaped(text))
    result += c == '"' ? std::string("\\(dq") : std::string(1, c);
  return result + "\"";
}

std::string paragraph(std::string_view tag, std::string_view text)
{
  return fmt::format(".TP\n{}\n{}\n", tag, escaped(text));
}

std::string tag_of(const OptionEntry& option)
{
  std::string tag;
  for (const std::string& name : option.names)
    tag += (tag.empty() ? "" : ", ") + bold(name);
  for (const std::string_view value : option.values)
    tag += " " + italic(value);
  return tag;
}

// Lines as they are.
std::string verbatim(std::string_view text)
{
  return fmt::format(".nf\n{}.fi\n", escaped(text));
}

} // namespace

std::string manual(std::span<const CommandEntry> commands, std::span<const OptionGroup> groups,
                   std::string_view version)
{
  std::string text = ".\\\" Made by `umwelt help --man`.\n";
  text += fmt::format(".TH UMWELT 1 \"\" {} \"User Commands\"\n", argument(fmt::format("umwelt {}", version)));
  text += ".SH NAME\numwelt \\- run MPI and Portals programs on a simulated cluster\n";
  text +=
      fmt::format(".SH SYNOPSIS\n{} {} [{}] {} [{}] [{} [{}] {} [{}]]...\n.br\n{} {} [{}]\n", bold("umwelt"),
                  bold("run"), italic("options"), italic("program"), italic("arguments"), bold(":"), italic("options"),
                  italic("program"), italic("arguments"), bold("umwelt"), italic("command"), italic("options"));
  text += ".SH DESCRIPTION\n"
          "Runs unmodified MPI, OpenSHMEM and Portals programs as if on the nodes of a BXI cluster.\n" +
          bold("umwelt run") +
          " takes the place of mpirun, and its options are those of Open MPI's mpirun and some of the simulation.\n"
          "The clocks, messages and results of the program are those of the simulated machine.\n";
  text += ".SH COMMANDS\n";
  for (const CommandEntry& command : commands)
    text += paragraph(bold(command.name), command.summary);
  text += ".SH \"OPTIONS OF UMWELT RUN\"\n" +
          escaped("-option and --option, '--option value' and '--option=value' are the same.\n");
  for (const OptionGroup& group : groups) {
    text += fmt::format(".SS {}\n", argument(group.title));
    for (const OptionEntry& option : group.options)
      text += paragraph(tag_of(option), option.help);
  }
  const std::string_view codes = exit_code_help;
  text += ".SH \"EXIT STATUS\"\n" + verbatim(codes.substr(codes.find('\n') + 1)); // without its heading
  text += ".SH ENVIRONMENT\n";
  text += paragraph(bold("MPIEXEC_TIMEOUT"), "seconds after which a run is ended, where --timeout says nothing");
  text += paragraph(bold("TMPDIR"), "where the files of the simulated nodes are during a run; default /tmp");
  text += ".SH EXAMPLES\n" + verbatim("umwelt run -np 8 ./app\n"
                                      "umwelt run -np 8 -N 2 ./app\n"
                                      "umwelt run -np 8 --cpu none --report run.json ./app\n"
                                      "umwelt run -np 1 ./master : -np 7 ./worker\n");
  return text + ".SH \"SEE ALSO\"\n" + bold("mpirun") + "(1)\n";
}

} // namespace umwelt::cli
