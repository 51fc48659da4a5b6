/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "preload/pmix/values.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

size_t umw_plain_size(pmix_data_type_t type)
{
  switch (type) {
  case PMIX_BOOL:
    return sizeof(bool);
  case PMIX_BYTE:
  case PMIX_INT8:
  case PMIX_UINT8:
  case PMIX_SCOPE:
  case PMIX_DATA_RANGE:
  case PMIX_PERSIST:
  case PMIX_PROC_STATE:
  case PMIX_JOB_STATE:
  case PMIX_LINK_STATE:
  case PMIX_ALLOC_DIRECTIVE:
    return 1;
  case PMIX_INT16:
  case PMIX_UINT16:
  case PMIX_LOCTYPE:
    return 2;
  case PMIX_INT32:
  case PMIX_UINT32:
  case PMIX_INT:
  case PMIX_UINT:
  case PMIX_STATUS:
  case PMIX_PROC_RANK:
  case PMIX_PID:
  case PMIX_FLOAT:
    return 4;
  case PMIX_INT64:
  case PMIX_UINT64:
  case PMIX_SIZE:
  case PMIX_TIME:
  case PMIX_DOUBLE:
  case PMIX_DEVTYPE:
  case PMIX_POINTER: /* meaningful to the process that stored it */
    return 8;
  case PMIX_TIMEVAL:
    return sizeof(struct timeval);
  default:
    return 0;
  }
}

static bool is_bytes(pmix_data_type_t type)
{
  return type == PMIX_BYTE_OBJECT || type == PMIX_COMPRESSED_STRING || type == PMIX_REGEX ||
         type == PMIX_COMPRESSED_BYTE_OBJECT;
}

unsigned char* umw_pack_value(const pmix_value_t* value, size_t* size, pmix_status_t* status)
{
  const void* data = &value->data;
  size_t length = umw_plain_size(value->type);
  if (value->type == PMIX_STRING) {
    data = value->data.string ? value->data.string : "";
    length = strlen(data) + 1;
  } else if (is_bytes(value->type)) {
    data = value->data.bo.bytes;
    length = value->data.bo.size;
  } else if (length == 0 && value->type != PMIX_UNDEF) {
    *status = PMIX_ERR_NOT_SUPPORTED;
    return NULL;
  }
  unsigned char* bytes = malloc(sizeof value->type + length + 1);
  if (!bytes) {
    *status = PMIX_ERR_NOMEM;
    return NULL;
  }
  memcpy(bytes, &value->type, sizeof value->type);
  if (length > 0)
    memcpy(bytes + sizeof value->type, data, length);
  *size = sizeof value->type + length;
  *status = PMIX_SUCCESS;
  return bytes;
}

pmix_status_t umw_unpack_value(const unsigned char* bytes, size_t size, pmix_value_t* value)
{
  memset(value, 0, sizeof *value);
  if (size < sizeof value->type)
    return PMIX_ERR_UNPACK_FAILURE;
  memcpy(&value->type, bytes, sizeof value->type);
  bytes += sizeof value->type;
  size -= sizeof value->type;
  if (value->type == PMIX_STRING || is_bytes(value->type)) {
    char* copy = malloc(size + 1);
    if (!copy)
      return PMIX_ERR_NOMEM;
    memcpy(copy, bytes, size);
    copy[size] = '\0';
    if (value->type == PMIX_STRING) {
      value->data.string = copy;
    } else {
      value->data.bo.bytes = copy;
      value->data.bo.size = size;
    }
    return PMIX_SUCCESS;
  }
  if (size > sizeof value->data)
    return PMIX_ERR_UNPACK_FAILURE;
  memcpy(&value->data, bytes, size);
  return PMIX_SUCCESS;
}

pmix_status_t umw_load_value(pmix_value_t* value, const void* data, pmix_data_type_t type)
{
  memset(value, 0, sizeof *value);
  value->type = type;
  if (type == PMIX_STRING) {
    value->data.string = data ? strdup(data) : NULL;
    return !data || value->data.string ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
  }
  if (is_bytes(type)) {
    const pmix_byte_object_t* object = data;
    if (!object || object->size == 0)
      return PMIX_SUCCESS;
    value->data.bo.bytes = malloc(object->size);
    if (!value->data.bo.bytes)
      return PMIX_ERR_NOMEM;
    memcpy(value->data.bo.bytes, object->bytes, object->size);
    value->data.bo.size = object->size;
    return PMIX_SUCCESS;
  }
  if (type == PMIX_POINTER) {
    value->data.ptr = (void*)data;
    return PMIX_SUCCESS;
  }
  const size_t size = umw_plain_size(type);
  if (size == 0)
    return type == PMIX_UNDEF ? PMIX_SUCCESS : PMIX_ERR_NOT_SUPPORTED;
  if (data)
    memcpy(&value->data, data, size);
  else if (type == PMIX_BOOL)
    value->data.flag = true; /* an attribute given without a value is set */
  return PMIX_SUCCESS;
}

void umw_destruct_value(pmix_value_t* value)
{
  if (value->type == PMIX_STRING)
    free(value->data.string);
  else if (is_bytes(value->type))
    free(value->data.bo.bytes);
  else if (value->type == PMIX_PROC)
    free(value->data.proc);
  memset(value, 0, sizeof *value);
}
