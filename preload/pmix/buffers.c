/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Packing values into a buffer, and taking them out of it: what Open MPI 5 has of its processes when two jobs connect.
 * How they lie there is between the ranks of one run: each as its bytes, a string with its end. The buffer itself is
 * made, filled and emptied by functions of the real library that need no initialisation.
 */
#include "preload/shim.h"

#include "preload/pmix/values.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static size_t size_of(pmix_data_type_t type)
{
  return type == PMIX_PROC ? sizeof(pmix_proc_t) : umw_plain_size(type);
}

static bool append(pmix_data_buffer_t* buffer, const void* bytes, size_t size)
{
  if (buffer->bytes_used + size > buffer->bytes_allocated) {
    const size_t capacity = 2 * (buffer->bytes_used + size);
    char* grown = realloc(buffer->base_ptr, capacity);
    if (!grown)
      return false;
    buffer->unpack_ptr = grown + (buffer->base_ptr ? buffer->unpack_ptr - buffer->base_ptr : 0);
    buffer->pack_ptr = grown + buffer->bytes_used;
    buffer->base_ptr = grown;
    buffer->bytes_allocated = capacity;
  }
  memcpy(buffer->pack_ptr, bytes, size);
  buffer->pack_ptr += size;
  buffer->bytes_used += size;
  return true;
}

UMW_PUBLIC pmix_status_t PMIx_Data_pack(const pmix_proc_t* target, pmix_data_buffer_t* buffer, void* source,
                                        int32_t count, pmix_data_type_t type)
{
  (void)target;
  if (!buffer || (!source && count > 0) || count < 0)
    return PMIX_ERR_BAD_PARAM;
  const size_t size = size_of(type);
  if (size == 0 && type != PMIX_STRING)
    return PMIX_ERR_NOT_SUPPORTED;
  for (int32_t i = 0; i < count; ++i) {
    const char* text = type == PMIX_STRING ? ((char**)source)[i] : NULL;
    if (type == PMIX_STRING && !text)
      text = "";
    if (!append(buffer, text ? text : (const char*)source + (size_t)i * size, text ? strlen(text) + 1 : size))
      return PMIX_ERR_NOMEM;
  }
  return PMIX_SUCCESS;
}

UMW_PUBLIC pmix_status_t PMIx_Data_unpack(const pmix_proc_t* source, pmix_data_buffer_t* buffer, void* target,
                                          int32_t* count, pmix_data_type_t type)
{
  (void)source;
  if (!buffer || !target || !count)
    return PMIX_ERR_BAD_PARAM;
  const size_t size = size_of(type);
  if (size == 0 && type != PMIX_STRING)
    return PMIX_ERR_NOT_SUPPORTED;
  const int32_t room = *count;
  for (*count = 0; *count < room; ++*count) {
    const size_t left = buffer->bytes_used - (size_t)(buffer->unpack_ptr - buffer->base_ptr);
    const char* end = type == PMIX_STRING && left > 0 ? memchr(buffer->unpack_ptr, '\0', left) : NULL;
    const size_t taken = type == PMIX_STRING ? (end ? (size_t)(end - buffer->unpack_ptr) + 1 : left + 1) : size;
    if (taken > left)
      return PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER;
    if (type == PMIX_STRING && !(((char**)target)[*count] = strdup(buffer->unpack_ptr)))
      return PMIX_ERR_NOMEM;
    if (type != PMIX_STRING)
      memcpy((char*)target + (size_t)*count * size, buffer->unpack_ptr, size);
    buffer->unpack_ptr += taken;
  }
  return PMIX_SUCCESS;
}
