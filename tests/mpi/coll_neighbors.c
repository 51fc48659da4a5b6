/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Neighborhood collectives on a torus and on a directed graph: allgather(v), alltoall(v, w). */
#include "collective.h"

enum { most = 16, unit = 300 };
static int out[most * unit * 2], in[most * unit * 2];
static int in_degree, out_degree, sources[most], targets[most];

/* What `from` sends over its `edge`-th outgoing edge. */
static int value(int from, int edge, int index)
{
  return from * 100000 + edge * 1000 + index;
}

/* Which outgoing edge of its source the i-th incoming edge is, told by the sources themselves. */
static int edge_of[most];

static void learn_edges(MPI_Comm graph)
{
  for (int i = 0; i < out_degree; ++i) {
    out[i] = i;
  }
  COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, out, 1, MPI_INT, edge_of, 1, MPI_INT, graph);
  for (int i = 0; i < in_degree; ++i) {
    CHECK(edge_of[i] >= 0 && edge_of[i] < most);
  }
}

static void exchange(MPI_Comm graph, int n)
{
  int counts[most], displacements[most], in_counts[most], in_displacements[most];
  MPI_Aint byte_displacements[most], in_byte_displacements[most];
  MPI_Datatype types[most];

  for (int i = 0; i < n; ++i) {
    out[i] = value(world_rank, 0, i);
  }
  memset(in, 0xff, sizeof in);
  COLLECTIVE(Neighbor_allgather, Ineighbor_allgather, out, n, MPI_INT, in, n, MPI_INT, graph);
  for (int e = 0; e < in_degree; ++e) {
    for (int i = 0; i < n; ++i) {
      CHECK_EQ(in[e * n + i], value(sources[e], 0, i));
    }
  }

  for (int e = 0; e < in_degree; ++e) { /* a gap of one behind each block */
    in_counts[e] = n - sources[e] % 2;
    in_displacements[e] = e * (n + 1);
  }
  memset(in, 0xff, sizeof in);
  COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv, out, n - world_rank % 2, MPI_INT, in, in_counts,
             in_displacements, MPI_INT, graph);
  for (int e = 0; e < in_degree; ++e) {
    for (int i = 0; i < in_counts[e]; ++i) {
      CHECK_EQ(in[in_displacements[e] + i], value(sources[e], 0, i));
    }
    CHECK_EQ(in[in_displacements[e] + n], -1);
  }

  for (int e = 0; e < out_degree; ++e) {
    counts[e] = n - (world_rank + targets[e]) % 2;
    displacements[e] = e * n;
    byte_displacements[e] = e * n * (MPI_Aint)sizeof(int);
    types[e] = MPI_INT;
    for (int i = 0; i < n; ++i) {
      out[e * n + i] = value(world_rank, e, i);
    }
  }
  memset(in, 0xff, sizeof in);
  COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, out, n, MPI_INT, in, n, MPI_INT, graph);
  for (int e = 0; e < in_degree; ++e) {
    for (int i = 0; i < n; ++i) {
      CHECK_EQ(in[e * n + i], value(sources[e], edge_of[e], i));
    }
  }

  MPI_Datatype in_types[most];
  for (int e = 0; e < in_degree; ++e) {
    in_counts[e] = n - (sources[e] + world_rank) % 2;
    in_displacements[e] = e * n;
    in_byte_displacements[e] = e * n * (MPI_Aint)sizeof(int);
    in_types[e] = MPI_INT;
  }
  for (int form = 0; form < 2; ++form) {
    memset(in, 0xff, sizeof in);
    if (form == 0) {
      COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv, out, counts, displacements, MPI_INT, in, in_counts,
                 in_displacements, MPI_INT, graph);
    } else {
      COLLECTIVE(Neighbor_alltoallw, Ineighbor_alltoallw, out, counts, byte_displacements, types, in, in_counts,
                 in_byte_displacements, in_types, graph);
    }
    for (int e = 0; e < in_degree; ++e) {
      for (int i = 0; i < in_counts[e]; ++i) {
        CHECK_EQ(in[e * n + i], value(sources[e], edge_of[e], i));
      }
    }
  }
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);

  /* A torus of two dimensions. Its edges in the standard's order: per dimension the lower neighbor, then the upper. */
  int dimensions[2] = {0, 0};
  const int periodic[2] = {1, 1};
  MPI_Comm torus;
  MPI_Dims_create(world_size, 2, dimensions);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dimensions, periodic, 0, &torus);
  for (int d = 0; d < 2; ++d) {
    MPI_Cart_shift(torus, d, 1, &sources[2 * d], &sources[2 * d + 1]);
  }
  memcpy(targets, sources, sizeof targets);
  in_degree = out_degree = 4;
  for (int e = 0; e < 4; ++e) {
    edge_of[e] = e ^ 1; /* what I get from below was sent upwards */
  }
  if (dimensions[0] > 2 && dimensions[1] > 2) { /* else both neighbors are one rank, and their order is the library's */
    exchange(torus, unit);
  }
  learn_edges(torus);
  exchange(torus, 3);
  MPI_Comm_free(&torus);

  /* A graph in which rank r sends to r+1, r+2 and, if even, to rank 0. */
  MPI_Comm graph;
  out_degree = 0;
  targets[out_degree++] = (world_rank + 1) % world_size;
  targets[out_degree++] = (world_rank + 2) % world_size;
  if (world_rank % 2 == 0 && world_rank > 0 && world_rank + 1 < world_size && world_rank + 2 < world_size) {
    targets[out_degree++] = 0;
  }
  const int source = world_rank;
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &source, &out_degree, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  int weighted = 1, outgoing = -1;
  MPI_Dist_graph_neighbors_count(graph, &in_degree, &outgoing, &weighted);
  CHECK_EQ(outgoing, out_degree);
  CHECK(!weighted);
  CHECK(in_degree >= 2);
  MPI_Dist_graph_neighbors(graph, most, sources, MPI_UNWEIGHTED, most, targets, MPI_UNWEIGHTED);
  learn_edges(graph);
  exchange(graph, 2);
  exchange(graph, unit);
  MPI_Comm_free(&graph);
  return finish();
}
