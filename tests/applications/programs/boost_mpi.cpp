// SPDX-License-Identifier: LGPL-2.1-or-later
// Objects of C++ through Boost.MPI: a ring of maps, a reduction of strings in the order of ranks, all to all of
// vectors.
#include <boost/mpi.hpp>
#include <boost/serialization/map.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>

#include <iostream>
#include <map>
#include <string>
#include <vector>

namespace mpi = boost::mpi;

int main(int argc, char** argv)
{
  mpi::environment environment(argc, argv);
  mpi::communicator world;
  std::map<std::string, int> table;
  const int next = (world.rank() + 1) % world.size(), before = (world.rank() + world.size() - 1) % world.size();
  if (world.rank() > 0)
    world.recv(before, 0, table);
  table["rank " + std::to_string(world.rank())] = world.rank() * world.rank();
  if (next != 0)
    world.send(next, 0, table);
  mpi::broadcast(world, table, world.size() - 1);
  const std::string words = mpi::all_reduce(world, std::to_string(world.rank()), std::plus<std::string>());
  std::vector<std::vector<int>> out(world.size()), in;
  for (int i = 0; i < world.size(); ++i)
    out[i].assign(i + 1, world.rank());
  mpi::all_to_all(world, out, in);
  int sum = 0;
  for (const auto& part : in)
    for (const int value : part)
      sum += value;
  const int total = mpi::all_reduce(world, sum, std::plus<int>());
  if (world.rank() == 0) {
    for (const auto& [key, value] : table)
      std::cout << key << ": " << value << '\n';
    std::cout << words << ' ' << total << '\n';
  }
}
