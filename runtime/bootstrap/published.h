// SPDX-License-Identifier: LGPL-2.1-or-later
// Values that ranks publish for ranks of any job to look up, as PMIx has them (PMIx_Publish, PMIx_Lookup,
// PMIx_Unpublish). Who finds what follows Open MPI's mpirun (orte_data_server): the first that was published under a
// key counts, and only who has published a value may take it back.
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>

namespace umwelt::bootstrap
{

struct Publication {
  std::string key;
  std::string value;
  std::size_t owner = 0; // rank of the run
  unsigned job = 0;      // number of its job
  bool once = false;     // who looks it up takes it away
  bool in_job = false;   // only ranks of the same job find it
};

class Published
{
public:
  void add(Publication publication) { all_.push_back(std::move(publication)); }
  // Null: there is none that a rank of that job may see.
  [[nodiscard]] const Publication* find(std::string_view key, unsigned job) const
  {
    for (const Publication& each : all_)
      if (each.key == key && (!each.in_job || each.job == job))
        return &each;
    return nullptr;
  }
  // One that was found has been read.
  void read(const Publication& publication)
  {
    if (publication.once)
      all_.remove_if([&publication](const Publication& each) { return &each == &publication; });
  }
  // An empty key: all of the owner's.
  void remove(std::string_view key, std::size_t owner, bool in_job)
  {
    all_.remove_if([&](const Publication& each) {
      return each.owner == owner && each.in_job == in_job && (key.empty() || each.key == key);
    });
  }

private:
  std::list<Publication> all_;
};

} // namespace umwelt::bootstrap
