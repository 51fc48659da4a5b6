/* SPDX-License-Identifier: LGPL-2.1-or-later
 * PMIx values as flat bytes, so that they can travel through the gate: the type's two bytes, then its data. */
#pragma once

#include <pmix.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Size of types whose value lies in the union itself; 0 for the others. */
size_t umw_plain_size(pmix_data_type_t type);
/* malloc'ed bytes; null (and PMIX_ERR_NOT_SUPPORTED in *status) for types that hold pointers of their own. */
unsigned char* umw_pack_value(const pmix_value_t* value, size_t* size, pmix_status_t* status);
pmix_status_t umw_unpack_value(const unsigned char* bytes, size_t size, pmix_value_t* value);
/* Fills `value` from a pointer to the plain C object of the type, copying strings and byte objects. */
pmix_status_t umw_load_value(pmix_value_t* value, const void* data, pmix_data_type_t type);
void umw_destruct_value(pmix_value_t* value);

#pragma GCC visibility pop
