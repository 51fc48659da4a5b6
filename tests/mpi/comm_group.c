/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Group arithmetic, and communicators made of groups by all (create) or by the members alone (create_group). */
#include "check.h"

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  MPI_Group world, low, odd, either, both, only_low, range;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int* members = malloc(world_size * sizeof *members);
  const int half = world_size / 2;
  for (int i = 0; i < half; ++i) {
    members[i] = i;
  }
  MPI_Group_incl(world, half, members, &low);
  int ranges[1][3] = {{1, world_size - 1, 2}};
  MPI_Group_range_incl(world, 1, ranges, &odd);
  MPI_Group_union(low, odd, &either);
  MPI_Group_intersection(low, odd, &both);
  MPI_Group_difference(low, odd, &only_low);
  MPI_Group_range_excl(world, 1, ranges, &range); /* the even ones */

  int size = -1, odds_below_half = half / 2, result = -1;
  MPI_Group_size(both, &size);
  CHECK_EQ(size, odds_below_half);
  MPI_Group_size(either, &size);
  CHECK_EQ(size, half + world_size / 2 - odds_below_half);
  MPI_Group_size(only_low, &size);
  CHECK_EQ(size, half - odds_below_half);
  MPI_Group_compare(low, odd, &result);
  CHECK_EQ(result, MPI_UNEQUAL);

  int zero_and_one[2] = {0, 1}, translated[2] = {-5, -5};
  MPI_Group_translate_ranks(odd, 1, zero_and_one, world, translated);
  CHECK_EQ(translated[0], 1);
  MPI_Group_translate_ranks(world, 2, zero_and_one, odd, translated);
  CHECK_EQ(translated[0], MPI_UNDEFINED);
  CHECK_EQ(translated[1], 0);

  MPI_Comm communicator;
  MPI_Comm_create(MPI_COMM_WORLD, either, &communicator);
  const int member = world_rank < half || world_rank % 2;
  CHECK_EQ(communicator != MPI_COMM_NULL, member);
  if (member) {
    int sum = 0, wanted = 0;
    MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, communicator);
    for (int r = 0; r < world_size; ++r) {
      wanted += r < half || r % 2 ? r : 0;
    }
    CHECK_EQ(sum, wanted);
    MPI_Comm_free(&communicator);
  }

  /* Disjoint groups make their communicators at the same time, without the others. */
  MPI_Group mine = world_rank % 2 ? odd : range;
  for (int round = 0; round < 10; ++round) {
    MPI_Comm_create_group(MPI_COMM_WORLD, mine, 100 + world_rank % 2, &communicator);
    int rank = -1;
    MPI_Comm_rank(communicator, &rank);
    CHECK_EQ(rank, world_rank / 2);
    int last = round * 1000 + world_rank;
    MPI_Comm_size(communicator, &size);
    MPI_Bcast(&last, 1, MPI_INT, size - 1, communicator);
    CHECK_EQ(last, round * 1000 + 2 * (size - 1) + world_rank % 2);
    MPI_Comm_free(&communicator);
  }

  MPI_Group* groups[] = {&world, &low, &odd, &either, &both, &only_low, &range};
  for (unsigned i = 0; i < sizeof groups / sizeof *groups; ++i) {
    MPI_Group_free(groups[i]);
    CHECK(*groups[i] == MPI_GROUP_NULL);
  }
  free(members);
  return finish();
}
