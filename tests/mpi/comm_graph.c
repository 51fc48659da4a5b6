/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Graph topologies: adjacency as given comes back, with weights, from the distributed and the classic constructors. */
#include "check.h"

enum { most = 64 };

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  const int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  const int across = (world_rank + world_size / 2) % world_size;
  MPI_Comm graph;

  /* Each rank tells its own edges. */
  const int sources[] = {left, across}, source_weights[] = {10 + left, 20}, targets[] = {right, across};
  const int target_weights[] = {10 + world_rank, 20};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, source_weights, 2, targets, target_weights, MPI_INFO_NULL,
                                 0, &graph);
  int kind = -1, in = -1, out = -1, weighted = 0;
  MPI_Topo_test(graph, &kind);
  CHECK_EQ(kind, MPI_DIST_GRAPH);
  MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
  CHECK(in == 2 && out == 2 && weighted);
  int got_sources[most], got_weights[most], got_targets[most], got_target_weights[most];
  MPI_Dist_graph_neighbors(graph, 2, got_sources, got_weights, 2, got_targets, got_target_weights);
  CHECK(got_sources[0] == left && got_sources[1] == across);
  CHECK(got_weights[0] == 10 + left && got_weights[1] == 20);
  CHECK(got_targets[0] == right && got_target_weights[0] == 10 + world_rank);
  MPI_Comm_free(&graph);

  /* Rank 0 tells everybody's edges: a star. */
  int all_targets[most], weights[most];
  const int root = 0, degree = world_size - 1, none = 0;
  for (int i = 0; i < degree; ++i) {
    all_targets[i] = i + 1;
    weights[i] = 100 + i + 1;
  }
  MPI_Dist_graph_create(MPI_COMM_WORLD, world_rank == 0 ? 1 : 0, &root, world_rank == 0 ? &degree : &none, all_targets,
                        weights, MPI_INFO_NULL, 0, &graph);
  MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
  CHECK_EQ(in, world_rank == 0 ? 0 : 1);
  CHECK_EQ(out, world_rank == 0 ? degree : 0);
  MPI_Dist_graph_neighbors(graph, in, got_sources, got_weights, out, got_targets, got_target_weights);
  if (world_rank > 0) {
    CHECK_EQ(got_sources[0], 0);
    CHECK_EQ(got_weights[0], 100 + world_rank);
  }
  MPI_Comm_free(&graph);

  /* The classic constructor: a ring, told in full by all. */
  int index[most], edges[2 * most];
  for (int r = 0; r < world_size; ++r) {
    index[r] = 2 * (r + 1);
    edges[2 * r] = (r + world_size - 1) % world_size;
    edges[2 * r + 1] = (r + 1) % world_size;
  }
  MPI_Graph_create(MPI_COMM_WORLD, world_size, index, edges, 0, &graph);
  int nodes = -1, edge_count = -1, count = -1;
  MPI_Graphdims_get(graph, &nodes, &edge_count);
  CHECK(nodes == world_size && edge_count == 2 * world_size);
  MPI_Graph_neighbors_count(graph, world_rank, &count);
  CHECK_EQ(count, 2);
  MPI_Graph_neighbors(graph, world_rank, 2, got_targets);
  CHECK(got_targets[0] == left && got_targets[1] == right);
  MPI_Comm_free(&graph);
  return finish();
}
