// SPDX-License-Identifier: LGPL-2.1-or-later
// Data movement (Portals 4.3, 3.15) and its triggered variants (3.16).
#include <cstring>

#include "runtime/portals/api/api.h"
#include "runtime/portals/fabric/fabric.h"
#include "runtime/portals/fabric/process.h"

namespace umwelt::portals::api
{

namespace
{

// Where the operation goes: the arguments all calls share.
Move move_to(Operation operation, ptl_size_t length, ptl_process_t target, ptl_pt_index_t index, ptl_match_bits_t bits,
             ptl_size_t remote_offset, void* user_ptr)
{
  Move move;
  move.operation = operation;
  move.length = length;
  move.target = target;
  move.pt_index = index;
  move.match_bits = bits;
  move.remote_offset = remote_offset;
  move.user_ptr = user_ptr;
  return move;
}

int start(Process& process, const Move& move)
{
  return process.initialised() ? process.fabric().initiator().start(process, move) : PTL_NO_INIT;
}

int arm(Process& process, const Move& move, ptl_handle_ct_t trigger, ptl_size_t threshold)
{
  return process.initialised() ? process.fabric().initiator().arm(process, move, trigger, threshold) : PTL_NO_INIT;
}

Move put(ptl_handle_md_t md, ptl_size_t offset, ptl_ack_req_t ack_req, ptl_hdr_data_t hdr_data, Move move)
{
  move.put_md = md;
  move.put_offset = offset;
  move.ack_req = ack_req;
  move.hdr_data = hdr_data;
  return move;
}

Move get(ptl_handle_md_t md, ptl_size_t offset, Move move)
{
  move.get_md = md;
  move.get_offset = offset;
  return move;
}

Move with_operation(ptl_op_t operation, ptl_datatype_t datatype, Move move)
{
  move.atomic_operation = operation;
  move.atomic_type = datatype;
  return move;
}

// PTL_ARG_INVALID if the operation needs an operand and there is none.
int with_operand(const void* operand, Move& move)
{
  if (!atomics::uses_operand(move.atomic_operation))
    return PTL_OK;
  if (!operand)
    return PTL_ARG_INVALID;
  std::memcpy(move.operand.data(), operand, atomics::item_size(move.atomic_type));
  return PTL_OK;
}

} // namespace

int PtlPut(Process& process, ptl_handle_md_t md_handle, ptl_size_t local_offset, ptl_size_t length,
           ptl_ack_req_t ack_req, ptl_process_t target_id, ptl_pt_index_t pt_index, ptl_match_bits_t match_bits,
           ptl_size_t remote_offset, void* user_ptr, ptl_hdr_data_t hdr_data)
{
  return start(process, put(md_handle, local_offset, ack_req, hdr_data,
                            move_to(Operation::put, length, target_id, pt_index, match_bits, remote_offset, user_ptr)));
}

int PtlTriggeredPut(Process& process, ptl_handle_md_t md_handle, ptl_size_t local_offset, ptl_size_t length,
                    ptl_ack_req_t ack_req, ptl_process_t target_id, ptl_pt_index_t pt_index,
                    ptl_match_bits_t match_bits, ptl_size_t remote_offset, void* user_ptr, ptl_hdr_data_t hdr_data,
                    ptl_handle_ct_t trig_ct_handle, ptl_size_t threshold)
{
  return arm(process,
             put(md_handle, local_offset, ack_req, hdr_data,
                 move_to(Operation::put, length, target_id, pt_index, match_bits, remote_offset, user_ptr)),
             trig_ct_handle, threshold);
}

int PtlGet(Process& process, ptl_handle_md_t md_handle, ptl_size_t local_offset, ptl_size_t length,
           ptl_process_t target_id, ptl_pt_index_t pt_index, ptl_match_bits_t match_bits, ptl_size_t remote_offset,
           void* user_ptr)
{
  return start(process, get(md_handle, local_offset,
                            move_to(Operation::get, length, target_id, pt_index, match_bits, remote_offset, user_ptr)));
}

int PtlTriggeredGet(Process& process, ptl_handle_md_t md_handle, ptl_size_t local_offset, ptl_size_t length,
                    ptl_process_t target_id, ptl_pt_index_t pt_index, ptl_match_bits_t match_bits,
                    ptl_size_t remote_offset, void* user_ptr, ptl_handle_ct_t trig_ct_handle, ptl_size_t threshold)
{
  return arm(process,
             get(md_handle, local_offset,
                 move_to(Operation::get, length, target_id, pt_index, match_bits, remote_offset, user_ptr)),
             trig_ct_handle, threshold);
}

int PtlAtomic(Process& process, ptl_handle_md_t md_handle, ptl_size_t local_offset, ptl_size_t length,
              ptl_ack_req_t ack_req, ptl_process_t target_id, ptl_pt_index_t pt_index, ptl_match_bits_t match_bits,
              ptl_size_t remote_offset, void* user_ptr, ptl_hdr_data_t hdr_data, ptl_op_t operation,
              ptl_datatype_t datatype)
{
  return start(process, with_operation(operation, datatype,
                                       put(md_handle, local_offset, ack_req, hdr_data,
                                           move_to(Operation::atomic, length, target_id, pt_index, match_bits,
                                                   remote_offset, user_ptr))));
}

int PtlTriggeredAtomic(Process& process, ptl_handle_md_t md_handle, ptl_size_t local_offset, ptl_size_t length,
                       ptl_ack_req_t ack_req, ptl_process_t target_id, ptl_pt_index_t pt_index,
                       ptl_match_bits_t match_bits, ptl_size_t remote_offset, void* user_ptr, ptl_hdr_data_t hdr_data,
                       ptl_op_t operation, ptl_datatype_t datatype, ptl_handle_ct_t trig_ct_handle,
                       ptl_size_t threshold)
{
  return arm(
      process,
      with_operation(operation, datatype,
                     put(md_handle, local_offset, ack_req, hdr_data,
                         move_to(Operation::atomic, length, target_id, pt_index, match_bits, remote_offset, user_ptr))),
      trig_ct_handle, threshold);
}

namespace
{

Move fetching(Operation kind, ptl_handle_md_t get_md, ptl_size_t get_offset, ptl_handle_md_t put_md,
              ptl_size_t put_offset, ptl_size_t length, ptl_process_t target, ptl_pt_index_t index,
              ptl_match_bits_t bits, ptl_size_t remote_offset, void* user_ptr, ptl_hdr_data_t hdr_data,
              ptl_op_t operation, ptl_datatype_t datatype)
{
  return with_operation(operation, datatype,
                        get(get_md, get_offset,
                            put(put_md, put_offset, PTL_NO_ACK_REQ, hdr_data,
                                move_to(kind, length, target, index, bits, remote_offset, user_ptr))));
}

} // namespace

int PtlFetchAtomic(Process& process, ptl_handle_md_t get_md_handle, ptl_size_t local_get_offset,
                   ptl_handle_md_t put_md_handle, ptl_size_t local_put_offset, ptl_size_t length,
                   ptl_process_t target_id, ptl_pt_index_t pt_index, ptl_match_bits_t match_bits,
                   ptl_size_t remote_offset, void* user_ptr, ptl_hdr_data_t hdr_data, ptl_op_t operation,
                   ptl_datatype_t datatype)
{
  return start(process, fetching(Operation::fetch_atomic, get_md_handle, local_get_offset, put_md_handle,
                                 local_put_offset, length, target_id, pt_index, match_bits, remote_offset, user_ptr,
                                 hdr_data, operation, datatype));
}

int PtlTriggeredFetchAtomic(Process& process, ptl_handle_md_t get_md_handle, ptl_size_t local_get_offset,
                            ptl_handle_md_t put_md_handle, ptl_size_t local_put_offset, ptl_size_t length,
                            ptl_process_t target_id, ptl_pt_index_t pt_index, ptl_match_bits_t match_bits,
                            ptl_size_t remote_offset, void* user_ptr, ptl_hdr_data_t hdr_data, ptl_op_t operation,
                            ptl_datatype_t datatype, ptl_handle_ct_t trig_ct_handle, ptl_size_t threshold)
{
  return arm(process,
             fetching(Operation::fetch_atomic, get_md_handle, local_get_offset, put_md_handle, local_put_offset, length,
                      target_id, pt_index, match_bits, remote_offset, user_ptr, hdr_data, operation, datatype),
             trig_ct_handle, threshold);
}

int PtlSwap(Process& process, ptl_handle_md_t get_md_handle, ptl_size_t local_get_offset, ptl_handle_md_t put_md_handle,
            ptl_size_t local_put_offset, ptl_size_t length, ptl_process_t target_id, ptl_pt_index_t pt_index,
            ptl_match_bits_t match_bits, ptl_size_t remote_offset, void* user_ptr, ptl_hdr_data_t hdr_data,
            const void* operand, ptl_op_t operation, ptl_datatype_t datatype)
{
  Move move = fetching(Operation::swap, get_md_handle, local_get_offset, put_md_handle, local_put_offset, length,
                       target_id, pt_index, match_bits, remote_offset, user_ptr, hdr_data, operation, datatype);
  if (!process.initialised())
    return PTL_NO_INIT;
  const int result = with_operand(operand, move);
  return result == PTL_OK ? start(process, move) : result;
}

int PtlTriggeredSwap(Process& process, ptl_handle_md_t get_md_handle, ptl_size_t local_get_offset,
                     ptl_handle_md_t put_md_handle, ptl_size_t local_put_offset, ptl_size_t length,
                     ptl_process_t target_id, ptl_pt_index_t pt_index, ptl_match_bits_t match_bits,
                     ptl_size_t remote_offset, void* user_ptr, ptl_hdr_data_t hdr_data, const void* operand,
                     ptl_op_t operation, ptl_datatype_t datatype, ptl_handle_ct_t trig_ct_handle, ptl_size_t threshold)
{
  Move move = fetching(Operation::swap, get_md_handle, local_get_offset, put_md_handle, local_put_offset, length,
                       target_id, pt_index, match_bits, remote_offset, user_ptr, hdr_data, operation, datatype);
  if (!process.initialised())
    return PTL_NO_INIT;
  const int result = with_operand(operand, move);
  return result == PTL_OK ? arm(process, move, trig_ct_handle, threshold) : result;
}

int PtlAtomicSync(Process& process)
{
  if (!process.initialised())
    return PTL_NO_INIT;
  // Atomics act on host memory when they are delivered: there is no cache to write back. But who waits for one may call
  // this again and again, and no time would pass.
  process.fabric().host().idle_call(process);
  return PTL_OK;
}

} // namespace umwelt::portals::api
