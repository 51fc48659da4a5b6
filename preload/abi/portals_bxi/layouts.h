/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Structures of Portals 4 in the BXI ABI where they are not those of preload/abi/portals4.h, under names that can stand
 * beside these. Handles are pointers that nobody follows; null is none. */
#pragma once

#include <stdint.h>

struct umw_bxi_md {
  void* start;
  uint64_t length;
  unsigned int options;
  void* eq_handle;
  void* ct_handle;
};

union umw_bxi_process {
  struct {
    unsigned int nid;
    unsigned int pid;
  } phys;
  unsigned int rank;
};

/* A match list entry; a list entry is one whose last four members nobody looks at. */
struct umw_bxi_me {
  void* start;
  uint64_t length;
  void* ct_handle;
  int uid;
  unsigned int options;
  union umw_bxi_process match_id;
  uint64_t match_bits;
  uint64_t ignore_bits;
  uint64_t min_free;
};

struct umw_bxi_event {
  void* start;
  void* user_ptr;
  uint64_t hdr_data;
  uint64_t match_bits;
  uint64_t rlength;
  uint64_t mlength;
  uint64_t remote_offset;
  int uid;
  union umw_bxi_process initiator;
  unsigned int type;
  int ptl_list;
  unsigned int pt_index;
  unsigned int ni_fail_type;
  unsigned int atomic_operation;
  unsigned int atomic_type;
};
