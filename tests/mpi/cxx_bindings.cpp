// SPDX-License-Identifier: LGPL-2.1-or-later
// The C++ bindings of MPI-2 (libmpi_cxx.so), which older codes still use: objects with constructors before MPI_Init,
// user-defined operations through the library's own trampolines.
#include "check.h"

namespace
{

MPI::Intracomm before_init; // constructed before main, assigned later

void add(const void* in, void* inout, int length, const MPI::Datatype&)
{
  for (int i = 0; i < length; ++i) {
    static_cast<int*>(inout)[i] += static_cast<const int*>(in)[i];
  }
}

} // namespace

int main(int argc, char** argv)
{
  MPI::Init(argc, argv);
  world_rank = MPI::COMM_WORLD.Get_rank();
  world_size = MPI::COMM_WORLD.Get_size();
  before_init = MPI::COMM_WORLD.Dup();
  const int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;

  int token = world_rank, got = -1;
  MPI::Status status;
  MPI::Request request = before_init.Irecv(&got, 1, MPI::INT, left, 4);
  before_init.Send(&token, 1, MPI::INT, right, 4);
  request.Wait(status);
  CHECK_EQ(got, left);
  CHECK_EQ(status.Get_source(), left);
  CHECK_EQ(status.Get_count(MPI::INT), 1);

  MPI::Op op;
  op.Init(add, true);
  int sum = -1;
  before_init.Allreduce(&world_rank, &sum, 1, MPI::INT, op);
  CHECK_EQ(sum, world_size * (world_size - 1) / 2);
  op.Free();

  const MPI::Intercomm none = MPI::Comm::Get_parent();
  CHECK(none == MPI::COMM_NULL);
  before_init.Free();
  MPI::Finalize();
  return verdict();
}
