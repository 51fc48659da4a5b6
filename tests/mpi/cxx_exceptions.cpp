// SPDX-License-Identifier: LGPL-2.1-or-later
// Exceptions through frames of the program, of a library and of MPI's C code, between messages of all ranks.
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.h"
#include "library.h"

namespace
{

int destroyed = 0;
struct Frame {
  ~Frame() { ++destroyed; }
};

void deeper(int depth)
{
  const Frame frame;
  library_call(depth, deeper); // program and library take turns
}

void rethrown()
{
  try {
    try {
      throw std::out_of_range("inner");
    } catch (const std::exception&) {
      std::throw_with_nested(std::runtime_error("outer"));
    }
  } catch (const std::exception& outer) {
    CHECK(std::string(outer.what()) == "outer");
    try {
      std::rethrow_if_nested(outer);
      CHECK(false);
    } catch (const std::out_of_range& inner) {
      CHECK(std::string(inner.what()) == "inner");
    }
  }
}

void library_raised()
{
  try {
    const std::vector<int> few(3);
    CHECK(few.at(7) == 0); // thrown inside libstdc++
  } catch (const std::out_of_range& error) {
    CHECK(std::string(error.what()).find("7") != std::string::npos);
  }
  try {
    (void)std::stoi("not a number");
  } catch (const std::invalid_argument&) {
    CHECK(true);
  }
}

// An exception while MPI waits: caught here, then thrown again to code that keeps messages going.
void around_messages()
{
  const int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  for (int i = 0; i < 50; ++i) {
    int token = -1;
    try {
      MPI_Sendrecv(&i, 1, MPI_INT, right, 0, &token, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      throw token;
    } catch (int thrown) {
      CHECK_EQ(thrown, i);
      CHECK_EQ(std::uncaught_exceptions(), 0);
      MPI_Barrier(MPI_COMM_WORLD); // blocks inside a handler: other ranks throw meanwhile
      CHECK(std::current_exception() != nullptr);
    }
  }
}

void through_mpi(void*, void*, int*, MPI_Datatype*)
{
  throw std::string("from the operation");
}

} // namespace

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  library_set_rank(world_rank);
  for (int depth = 0; depth < 40; depth += 13) {
    destroyed = 0;
    const int before = library_destroyed_frames();
    try {
      deeper(depth);
      CHECK(false);
    } catch (const LibraryError& error) {
      CHECK_EQ(error.code, 42);
      CHECK_EQ(destroyed, depth + 1);
      CHECK_EQ(library_destroyed_frames() - before, depth + 1);
    }
  }
  rethrown();
  library_raised();
  around_messages();

  int in = 1, inout = 2;
  MPI_Op op;
  MPI_Op_create(through_mpi, 1, &op);
  try {
    MPI_Reduce_local(&in, &inout, 1, MPI_INT, op); // C frames without tables for C++, but with unwind tables
    CHECK(false);
  } catch (const std::string& text) {
    CHECK(text == "from the operation");
  }
  MPI_Op_free(&op);
  return finish();
}
