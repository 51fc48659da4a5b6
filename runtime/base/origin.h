// SPDX-License-Identifier: LGPL-2.1-or-later
// What somebody wants to know of the moment when a message left, once it has come: it goes with the message, and ends
// with it.
#pragma once

namespace umwelt::sim
{

class Origin
{
public:
  Origin() = default;
  Origin(const Origin&) = delete;
  Origin& operator=(const Origin&) = delete;
  virtual ~Origin() = default;
};

} // namespace umwelt::sim
