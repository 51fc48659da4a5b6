/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "preload/pmi/pairs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/pmix/values.h"

int umw_pmi_check_key(const char* key)
{
  if (!key || !*key)
    return PMI_ERR_INVALID_KEY;
  return strlen(key) > UMW_PMI_KEY_MAX ? PMI_ERR_INVALID_KEY_LENGTH : PMI_SUCCESS;
}

int umw_pmi_check_value(const char* value)
{
  if (!value)
    return PMI_ERR_INVALID_VAL;
  return strlen(value) > UMW_PMI_VALUE_MAX ? PMI_ERR_INVALID_VAL_LENGTH : PMI_SUCCESS;
}

int umw_pmi_copy(const char* text, char* to, int size)
{
  if (!to)
    return PMI_ERR_INVALID_ARG;
  const size_t bytes = strlen(text) + 1;
  if (size < 0 || (size_t)size < bytes)
    return PMI_ERR_INVALID_LENGTH;
  memcpy(to, text, bytes);
  return PMI_SUCCESS;
}

/* What a rank has put with PMIx under this key, if it is a string; a length as umw_pmi_find returns it. */
static int64_t find_pmix_string(const char* key, char* text, int size)
{
  unsigned char small[sizeof(pmix_data_type_t) + UMW_PMI_VALUE_MAX + 1];
  const int64_t bytes = umw_key_get("", -1, key, small, sizeof small, 0);
  if (bytes < 0 || bytes > (int64_t)sizeof small)
    return -ENOENT;
  pmix_value_t value;
  if (umw_unpack_value(small, (size_t)bytes, &value) != PMIX_SUCCESS)
    return -ENOENT;
  int64_t length = -ENOENT;
  if (value.type == PMIX_STRING)
    length = snprintf(text, (size_t)size, "%s", value.data.string);
  umw_destruct_value(&value);
  return length;
}

int64_t umw_pmi_find(const char* space, const char* key, char* value, int size, bool wait)
{
  const int64_t length = umw_pair_get(space, key, value, (uint64_t)size - 1, wait);
  if (length == -ENOENT && strcmp(space, umw_pmi_own_space().name) == 0)
    return find_pmix_string(key, value, size);
  if (length >= 0)
    value[length < size ? length : size - 1] = '\0';
  return length;
}

int umw_pmi_publish(const char* service, const char* port)
{
  if (!service || !*service || strlen(service) > UMW_PMI_VALUE_MAX || umw_pmi_check_value(port) != PMI_SUCCESS)
    return PMI_ERR_INVALID_ARG;
  return umw_pair_put(UMW_PMI_NAMES, service, port, UMW_PAIR_NEW) == 0 ? PMI_SUCCESS : PMI_FAIL;
}

int umw_pmi_look_up(const char* service, char* port, int size)
{
  if (!service || !*service || !port || size < 1)
    return PMI_ERR_INVALID_ARG;
  const int64_t length = umw_pmi_find(UMW_PMI_NAMES, service, port, size, false);
  if (length < 0)
    return PMI_FAIL;
  return length < size ? PMI_SUCCESS : PMI_ERR_INVALID_LENGTH;
}

int umw_pmi_unpublish(const char* service)
{
  if (!service || !*service)
    return PMI_ERR_INVALID_ARG;
  return umw_pair_remove(UMW_PMI_NAMES, service) == 0 ? PMI_SUCCESS : PMI_FAIL;
}

int umw_pmi_local_ranks(int* ranks, int most)
{
  int count = 0;
  for (const char* next = umw_gate->local_peers; *next && count < most; ++count) {
    char* end;
    ranks[count] = (int)strtol(next, &end, 10);
    next = *end == ',' ? end + 1 : end;
  }
  return count;
}

void umw_pmi_refuse(const char* call, const char* why)
{
  char text[256];
  snprintf(text, sizeof text, "%s is refused (PMI_FAIL): %s", call, why);
  umw_warn(text);
}
