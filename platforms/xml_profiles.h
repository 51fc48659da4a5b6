// SPDX-License-Identifier: LGPL-2.1-or-later
// State profiles of links in SimGrid's XML: <link state_file=...>, and <trace_connect kind="LINK_AVAIL"> to a <trace>.
// SimGrid is given the text without them, for two reasons: it would take links down inside its solver, where a message
// fails instead of waiting or taking another way; and SimGrid 3.32 aborts when a link with two directions fails
// ("Unknown event").
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace umwelt::platform
{

struct XmlProfile {
  std::string link;        // its id
  std::string file;        // as written, relative to the platform's directory or absolute; empty:
  std::string text;        // the profile itself,
  double periodicity = -1; // seconds, below 0: it says itself whether it repeats
};

struct XmlText {
  std::string text; // of the same length in lines
  std::vector<XmlProfile> profiles;
};

// What is no well-formed XML comes back as it is. Throws std::invalid_argument for a <trace_connect> to a trace that is
// not there.
XmlText take_link_profiles(std::string_view xml);

} // namespace umwelt::platform
