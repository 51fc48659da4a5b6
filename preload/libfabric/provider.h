// SPDX-License-Identifier: LGPL-2.1-or-later
// The libfabric provider `umwelt`: RDM endpoints on the rank's Portals. An ordinary Portals program, as a provider of a
// vendor is; libfabric finds it by FI_PROVIDER_PATH. README.md says how messages map; fi_*(7) of libfabric 1.17 what
// the calls have to do.
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <portals4.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <rdma/providers/fi_prov.h>

enum {
  IOV_LIMIT = 4,        // elements of a list of buffers
  PIECES = 7,           // of a transfer, with a list on either side
  INJECT_SIZE = 256,    // bytes that are copied by the call
  ENDPOINTS = 128,      // of a process: their number has 7 bits of the match bits
  EVENTS = 32768,       // places of a domain's Portals event queue
  TRANSMITS = 4096,     // operations of a domain that may be under way
  RECEIVES = 8192,      // buffers of a domain that may be posted
  BLOCK_SIZE = 1 << 25, // bytes of a block for messages nobody waits for yet: of address space
  BLOCKS = 8,           // of each kind of messages, at least
};

// Match bits of messages: | long: 1 | endpoint that sends: 7 | tag: 56 |
#define LONG_BIT (UINT64_C(1) << 63)
#define SOURCE_SHIFT 56
#define SOURCE_MASK (UINT64_C(127) << SOURCE_SHIFT)
#define TAG_MASK ((UINT64_C(1) << SOURCE_SHIFT) - 1)

// Header data of messages: | place of the sender's buffer: 24 | its portal table entry: 7 | data is there: 1 | data: 32
// | and of writes: | 0: 24 | endpoint written to: 7 | data is there: 1 | data: 32 |
#define DATA_BIT (UINT64_C(1) << 32)
#define INDEX_SHIFT 33
#define INDEX_LIMIT 128
#define PLACE_SHIFT 40
#define PLACE_LIMIT (1u << 24)

// The address of an endpoint, as fi_getname gives it.
struct name {
  uint32_t nid, pid;
  uint16_t message_pt, tagged_pt; // portal table entries
  uint16_t quiet_pt, noisy_pt;    // of its domain's memory regions, without and with events
  uint16_t endpoint;              // its number in the process
  uint16_t zero[3];
};

struct domain;
struct endpoint;
struct request;

struct fabric {
  struct fid_fabric fid;
  int users;
};

// What the user_ptr of a Portals event points to.
enum origin {
  OF_REQUEST,
  OF_BLOCK,   // messages nobody waits for yet
  OF_REGION,  // remote access to memory
  OF_PIECE,   // of a transfer
  OF_WAKING,  // nothing but to end a wait
  OF_NOTHING, // of nobody's interest
};

enum kind {
  SEND,
  RECEIVE,
  MULTIPLE, // receive into one buffer until it is full
  SEARCH,   // FI_PEEK
  TRANSFER, // remote memory access and atomics
};

struct peer { // of an address vector
  struct name name;
  bool there;
  bool refused;         // flow control: one message at a time until one gets through
  unsigned under_way;   // messages
  struct request* held; // to be sent (again), in the order of their numbers
  uint64_t last;        // number of the last message
};

struct address_vector {
  struct fid_av fid;
  struct domain* domain;
  enum fi_av_type type;
  struct peer** peers; // they do not move
  size_t count, size;
  uint32_t* index; // open addressing: place + 1 by name
  size_t index_size;
  struct event_queue* queue;
  int users;
};

// A part of a read or write that is in one buffer on either side.
struct piece {
  enum origin origin; // first of all
  struct request* request;
  ptl_size_t from, length, to;
  uint64_t key, header;
  ptl_pt_index_t index;
};

struct request {
  enum origin origin; // first of all
  enum kind kind;
  struct endpoint* endpoint;
  struct request *next, *previous;
  void* context;
  uint64_t flags; // of its completion: FI_SEND | FI_TAGGED...
  bool silent;    // no completion unless it fails
  bool tagged;
  bool long_message, acknowledged, fetched;
  bool unwanted;  // a long message that nobody will fetch
  int failure;    // of Portals: PTL_NI_...
  unsigned parts; // Portals operations to wait for
  struct iovec iov[IOV_LIMIT];
  size_t iov_count, length;
  uint64_t tag, data;
  uint64_t match, header; // as sent
  // sending
  struct peer* peer;
  uint64_t number;
  ptl_handle_md_t md; // of a list of buffers
  ptl_handle_me_t me; // receive; or where a long message may be fetched
  uint32_t place;
  // receiving
  size_t received, offset;
  unsigned fetching; // long messages that are on their way into a MULTIPLE
  bool unlinked, discards;
  struct request* parent; // the MULTIPLE it fetches for
  fi_addr_t from;         // FI_SOURCE
  ptl_event_t found;      // FI_CLAIM: what was found
  void* claimed;          // its data
  struct piece pieces[PIECES];
  unsigned char inlined[INJECT_SIZE];
};

struct block {
  enum origin origin;
  struct endpoint* endpoint;
  bool tagged;
  bool linked;
  ptl_handle_me_t me;
  void* memory;
  struct block* next;
};

struct completion {
  struct fi_cq_tagged_entry entry;
  fi_addr_t source;
};

struct failure {
  struct fi_cq_err_entry entry;
  uint64_t place; // so many completions of its queue came before it
  struct failure* next;
};

struct completion_queue {
  struct fid_cq fid;
  struct domain* domain;
  enum fi_cq_format format;
  enum fi_wait_obj wait;
  struct completion* ring;
  size_t first, count, size;
  uint64_t taken; // completions that have been read
  struct failure *failures, *last_failure;
  bool signaled;
  int event_fd; // FI_WAIT_FD
  int users;
};

struct counter {
  struct fid_cntr fid;
  struct domain* domain;
  enum fi_wait_obj wait;
  uint64_t value, errors;
  int users;
};

struct region {
  enum origin origin;
  struct fid_mr fid;
  struct domain* domain;
  ptl_handle_me_t quiet, noisy;
  ptl_iovec_t iov[IOV_LIMIT];
  struct counter* counter;
  struct region* next;
};

struct domain {
  struct fid_domain fid;
  struct fabric* fabric;
  ptl_handle_ni_t ni;
  ptl_ni_limits_t limits;
  ptl_handle_eq_t eq;
  ptl_handle_md_t md; // all memory
  ptl_process_t id;
  ptl_pt_index_t quiet_pt, noisy_pt, read_pt;
  ptl_handle_me_t refusals[3];
  bool safe;          // several threads may call
  bool remote_events; // FI_RMA_EVENT: accesses are counted where the memory is
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool taken;         // a thread waits for events and will see to them
  int threads_wanted; // completion queues with a file descriptor
  bool stopping;
  pthread_t thread;
  enum origin waking;
  bool woken;
  struct endpoint* endpoints;
  struct region* regions;
  struct request* free_requests;
  unsigned transmits, receives;
  // Places of long messages: for each free one the next
  uint32_t place_size, free_place; // the first free one; place_size: none
  uint32_t* next_place;
  size_t eager_size;
  int users;
};

struct endpoint {
  struct fid_ep fid;
  struct domain* domain;
  struct endpoint* next;
  struct name name;
  uint64_t caps;
  uint64_t transmit_flags, receive_flags; // op_flags
  struct address_vector* av;
  struct completion_queue *transmit_queue, *receive_queue;
  bool transmit_selective, receive_selective;
  struct counter *on_send, *on_receive, *on_read, *on_write, *on_remote_read, *on_remote_write;
  bool enabled;
  unsigned under_way; // of the domain's transmits
  size_t min_multi_receive;
  struct request* posted; // receives
  struct request* claimed;
  struct block* blocks;
  ptl_handle_me_t long_headers[2]; // message, tagged
};

struct event_queue {
  struct fid_eq fid;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  struct queued_event* first;
  struct queued_event* last;
};

extern struct fi_provider umw_fi_provider;

// info.c
// Limits of the network interface, those of a domain that asks for the most.
const ptl_ni_limits_t* umw_fi_most(void);

// domain.c
int umw_fi_domain(struct fid_fabric* fabric, struct fi_info* info, struct fid_domain** domain, void* context);
void umw_fi_lock(struct domain* domain);
void umw_fi_unlock(struct domain* domain);
struct request* umw_fi_new_request(struct endpoint* endpoint, enum kind kind);
void umw_fi_free_request(struct request* request);
// One that is sent counts as under way from the one to the other, which frees it.
void umw_fi_begin(const struct request* request);
void umw_fi_end(struct request* request);
// -FI_... for a return code of Portals.
int umw_fi_error(int portals);
// A thread that sees to events, as long as somebody waits by a file descriptor.
int umw_fi_want_thread(struct domain* domain);
void umw_fi_leave_thread(struct domain* domain);

// progress.c, with the lock held
void umw_fi_event(struct domain* domain, const ptl_event_t* event);
void umw_fi_progress(struct domain* domain);
// Sees to events for at most so many milliseconds (negative: any time), until `reached` says so: 0, or -FI_ETIMEDOUT.
int umw_fi_wait(struct domain* domain, int timeout, bool (*reached)(void*), void* argument);
void umw_fi_wake(struct domain* domain);
// Returns when all events that are there have been seen to.
void umw_fi_drain(struct domain* domain);

// endpoint.c
int umw_fi_endpoint(struct fid_domain* domain, struct fi_info* info, struct fid_ep** endpoint, void* context);
struct endpoint* umw_fi_numbered(unsigned number);

struct outgoing {
  const struct iovec* iov;
  size_t count;
  fi_addr_t to;
  bool tagged;
  uint64_t tag, data, flags;
  void* context;
};

// sends.c
ssize_t umw_fi_send(struct endpoint* endpoint, const struct outgoing* out, bool silent);
void umw_fi_send_event(struct request* request, const ptl_event_t* event);
// A descriptor of the request's buffers, if it has several. A return code of Portals.
int umw_fi_bind_list(struct request* request);
// Where its buffers are, for Portals.
struct place {
  ptl_handle_md_t md;
  ptl_size_t offset;
};
struct place umw_fi_place(const struct request* request);
// Copies the buffers into the request: how many bytes.
size_t umw_fi_inline(struct request* request, const struct iovec* iov, size_t count);

// messages.c
extern struct fi_ops_msg umw_fi_message_calls;
extern struct fi_ops_tagged umw_fi_tagged_calls;
ssize_t umw_fi_cancel(fid_t fid, void* context);
void umw_fi_unpost(struct request* receive);

// arrivals.c
void umw_fi_message_event(struct request* request, const ptl_event_t* event);
// What has arrived: `data` of it, or it is to be fetched from whom sends it.
void umw_fi_deliver(struct request* receive, const ptl_event_t* event, const void* data);

// unexpected.c: where messages go that nobody waits for yet
int umw_fi_open_blocks(struct endpoint* endpoint);
void umw_fi_close_blocks(struct endpoint* endpoint);
void umw_fi_block_event(struct block* block, const ptl_event_t* event);
// Flow control has disabled a portal table entry of the domain: it takes messages again as soon as there is room.
void umw_fi_disabled(struct domain* domain, ptl_pt_index_t index);

// transfers.c
extern struct fi_ops_rma umw_fi_rma_calls;
void umw_fi_transfer_event(struct request* request, const ptl_event_t* event);
void umw_fi_piece_event(struct piece* piece, const ptl_event_t* event);
// atomics.c
extern struct fi_ops_atomic umw_fi_atomic_calls;
int umw_fi_query_atomic(struct fid_domain* domain, enum fi_datatype type, enum fi_op op, struct fi_atomic_attr* attr,
                        uint64_t flags);
// A request for a transfer: 0 or -FI_...; -FI_EAGAIN: no room, to be tried again.
int umw_fi_new_transfer(struct endpoint* endpoint, fi_addr_t to, uint64_t flags, void* context, bool message,
                        struct request** made);
// After the last operation of it was started, or `error` (of Portals) ended that.
ssize_t umw_fi_transfer_started(struct request* request, unsigned parts, int error);

// regions.c
extern struct fi_ops_mr umw_fi_region_calls;
void umw_fi_region_event(struct region* region, const ptl_event_t* event);

// completions.c
int umw_fi_cq_open(struct fid_domain* domain, struct fi_cq_attr* attr, struct fid_cq** queue, void* context);
void umw_fi_complete(struct request* request, uint64_t flags, size_t length, void* buffer);
void umw_fi_put_completion(struct completion_queue* queue, const struct fi_cq_tagged_entry* entry, fi_addr_t source);
void umw_fi_fail(struct request* request, int error, int portals, size_t length, size_t too_long);

// counters.c
int umw_fi_cntr_open(struct fid_domain* domain, struct fi_cntr_attr* attr, struct fid_cntr** counter, void* context);
void umw_fi_count(struct counter* counter);
void umw_fi_count_error(struct counter* counter);
int umw_fi_poll_open(struct fid_domain* domain, struct fi_poll_attr* attr, struct fid_poll** set);

// addresses.c
int umw_fi_av_open(struct fid_domain* domain, struct fi_av_attr* attr, struct fid_av** av, void* context);
struct peer* umw_fi_peer(struct endpoint* endpoint, fi_addr_t address); // null: there is none
fi_addr_t umw_fi_address_of(const struct address_vector* av, const struct name* name);

// event_queue.c
int umw_fi_eq_open(struct fid_fabric* fabric, struct fi_eq_attr* attr, struct fid_eq** queue, void* context);
int umw_fi_add_event(struct event_queue* queue, uint32_t event, const void* entry, size_t size);

// Calls that there are none of.
int umw_fi_no_bind(struct fid* fid, struct fid* other, uint64_t flags);
int umw_fi_no_control(struct fid* fid, int command, void* argument);
int umw_fi_no_ops_open(struct fid* fid, const char* name, uint64_t flags, void** ops, void* context);

#define CONTAINER(type, member, pointer) ((type*)((char*)(pointer)-offsetof(type, member)))
