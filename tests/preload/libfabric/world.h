// SPDX-License-Identifier: LGPL-2.1-or-later
// Ranks that know each other's endpoints: MPI tells them the names, libfabric does the rest. Under Umwelt over its
// provider, natively over libfabric's sockets; FI_PROVIDER chooses.
#pragma once

#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static struct fi_info* info;
static struct fid_fabric* fabric;
static struct fid_domain* domain;
static struct fid_av* av;
static struct fid_cq *sends, *receives;
static struct fid_ep* endpoint;
static fi_addr_t* peers;

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "[%d] %s:%d: expected %s\n", rank, __FILE__, __LINE__, #condition);                              \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                                                    \
    }                                                                                                                  \
  } while (0)
#define OK(call)                                                                                                       \
  do {                                                                                                                 \
    const long code_ = (long)(call);                                                                                   \
    if (code_ != 0) {                                                                                                  \
      fprintf(stderr, "[%d] %s:%d: %s: %s\n", rank, __FILE__, __LINE__, #call, fi_strerror((int)-code_));              \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                                                    \
    }                                                                                                                  \
  } while (0)

static inline struct fid_ep* new_endpoint(struct fid_cq* transmit, struct fid_cq* receive)
{
  struct fid_ep* made = NULL;
  OK(fi_endpoint(domain, info, &made, NULL));
  OK(fi_ep_bind(made, &av->fid, 0));
  OK(fi_ep_bind(made, &transmit->fid, FI_TRANSMIT));
  OK(fi_ep_bind(made, &receive->fid, FI_RECV));
  return made;
}

// Names of all ranks' endpoints, in their order: peers of `endpoint`.
static inline void exchange_names(void)
{
  char name[128] = {0};
  size_t length = sizeof name;
  OK(fi_getname(&endpoint->fid, name, &length));
  char* const all = malloc((size_t)size * length);
  MPI_Allgather(name, (int)length, MPI_BYTE, all, (int)length, MPI_BYTE, MPI_COMM_WORLD);
  peers = calloc((size_t)size, sizeof *peers);
  CHECK(fi_av_insert(av, all, (size_t)size, peers, 0, NULL) == size);
  free(all);
}

static inline void open_world(int* argc, char*** argv, uint64_t caps, enum fi_wait_obj wait)
{
  int given = 0;
  MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  struct fi_info* const hints = fi_allocinfo();
  hints->caps = caps;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->threading = FI_THREAD_SAFE;
  hints->domain_attr->av_type = FI_AV_TABLE;
  hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
  if (getenv("FI_PROVIDER") == NULL)
    hints->fabric_attr->prov_name = strdup("sockets");
  OK(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info));
  fi_freeinfo(hints);
  OK(fi_fabric(info->fabric_attr, &fabric, NULL));
  OK(fi_domain(fabric, info, &domain, NULL));
  struct fi_av_attr av_attr = {.type = FI_AV_TABLE};
  OK(fi_av_open(domain, &av_attr, &av, NULL));
  struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_TAGGED, .wait_obj = wait};
  OK(fi_cq_open(domain, &cq_attr, &sends, NULL));
  OK(fi_cq_open(domain, &cq_attr, &receives, NULL));
  endpoint = new_endpoint(sends, receives);
}

static inline void enable_world(void)
{
  OK(fi_enable(endpoint));
  exchange_names();
}

static inline void close_world(void)
{
  MPI_Barrier(MPI_COMM_WORLD);
  OK(fi_close(&endpoint->fid));
  OK(fi_close(&sends->fid));
  OK(fi_close(&receives->fid));
  OK(fi_close(&av->fid));
  OK(fi_close(&domain->fid));
  OK(fi_close(&fabric->fid));
  fi_freeinfo(info);
  MPI_Finalize();
}

// The next completion; the other queue goes on meanwhile, too: progress is manual.
static inline struct fi_cq_tagged_entry next(struct fid_cq* queue)
{
  struct fi_cq_tagged_entry entry = {0};
  for (;;) {
    const ssize_t got = fi_cq_read(queue, &entry, 1);
    if (got == 1)
      return entry;
    if (got == -FI_EAVAIL) {
      struct fi_cq_err_entry error = {0};
      CHECK(fi_cq_readerr(queue, &error, 0) == 1);
      fprintf(stderr, "[%d] expected a completion, got %s\n", rank, fi_strerror(error.err));
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    CHECK(got == -FI_EAGAIN);
    fi_cq_read(queue == sends ? receives : sends, NULL, 0);
  }
}

// The next one, which is to have failed: its error.
static inline struct fi_cq_err_entry next_failure(struct fid_cq* queue)
{
  struct fi_cq_tagged_entry entry;
  struct fi_cq_err_entry error = {0};
  ssize_t got = 0;
  while ((got = fi_cq_read(queue, &entry, 1)) == -FI_EAGAIN)
    fi_cq_read(queue == sends ? receives : sends, NULL, 0);
  CHECK(got == -FI_EAVAIL);
  CHECK(fi_cq_readerr(queue, &error, 0) == 1);
  return error;
}

// A call that may have to wait for room.
#define AGAIN(call)                                                                                                    \
  do {                                                                                                                 \
    ssize_t said_ = 0;                                                                                                 \
    while ((said_ = (call)) == -FI_EAGAIN) {                                                                           \
      fi_cq_read(sends, NULL, 0);                                                                                      \
      fi_cq_read(receives, NULL, 0);                                                                                   \
    }                                                                                                                  \
    OK(said_);                                                                                                         \
  } while (0)

static inline void fill(unsigned char* memory, size_t length, unsigned seed)
{
  for (size_t i = 0; i < length; ++i)
    memory[i] = (unsigned char)(seed * 31 + i * 7 + i / 251);
}

static inline bool is_filled(const unsigned char* memory, size_t length, unsigned seed)
{
  for (size_t i = 0; i < length; ++i)
    if (memory[i] != (unsigned char)(seed * 31 + i * 7 + i / 251))
      return false;
  return true;
}
