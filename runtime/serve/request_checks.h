// SPDX-License-Identifier: LGPL-2.1-or-later
// Who may see a run's page: whoever knows its token, and came by an address rather than by a name that somebody else
// may have pointed here (DNS rebinding).
#pragma once

#include <string>
#include <string_view>

namespace umwelt::serve
{

// In a time that does not depend on where they differ.
bool same_text(std::string_view a, std::string_view b);

// Of the header Host: localhost, this machine's own name, or an address as numbers; with any port, since a tunnel may
// have another.
bool is_trusted_host(std::string_view host, std::string_view own_name);

// Of the header Origin, which browsers send with POST: empty, or that of a page that came from the same Host.
bool is_same_origin(std::string_view origin, std::string_view host);

// What of the page a path asks for.
enum class Resource { none, page, state, stop };
Resource resource_at(std::string_view path, std::string_view token);

} // namespace umwelt::serve
