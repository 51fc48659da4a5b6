/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Constants of another ABI as those of preload/abi/portals4.h and back, made from preload/abi/portals_constants.def.
 * UMW_COLUMN(four_two, bxi) chooses the other ABI. What it does not know becomes something that no call accepts, so
 * that a program's mistake stays one.
 */
#pragma once

enum { NOT_AN_OPTION = 1 << 29, NOT_A_VALUE = 0xff };

/* Options are bits. */
#define BIT(foreign, own)                                                                                              \
  if ((foreign) != UMW_ABSENT && (own) != UMW_ABSENT) {                                                                \
    known |= (unsigned int)(foreign);                                                                                  \
    if (options & (unsigned int)(foreign))                                                                             \
      result |= (unsigned int)(own);                                                                                   \
  }
#define BIT_ROW(name, four_three, four_two, bxi) BIT(UMW_COLUMN(four_two, bxi), four_three)

static inline unsigned int ni_options(unsigned int options)
{
  unsigned int result = 0;
  unsigned int known = 0;
#define UMW_PTL_NI_OPTION BIT_ROW
#include "preload/abi/portals_constants.def"
  return options & ~known ? result | NOT_AN_OPTION : result;
}

static inline unsigned int pt_options(unsigned int options)
{
  unsigned int result = 0;
  unsigned int known = 0;
#define UMW_PTL_PT_OPTION BIT_ROW
#include "preload/abi/portals_constants.def"
  return options & ~known ? result | NOT_AN_OPTION : result;
}

static inline unsigned int md_options(unsigned int options)
{
  unsigned int result = 0;
  unsigned int known = 0;
#define UMW_PTL_IOVEC BIT_ROW
#define UMW_PTL_MD_OPTION BIT_ROW
#include "preload/abi/portals_constants.def"
  return options & ~known ? result | NOT_AN_OPTION : result;
}

static inline unsigned int entry_options(unsigned int options)
{
  unsigned int result = 0;
  unsigned int known = 0;
#define UMW_PTL_IOVEC BIT_ROW
#define UMW_PTL_ENTRY_OPTION BIT_ROW
#define UMW_PTL_ME_OPTION BIT_ROW
#include "preload/abi/portals_constants.def"
  return options & ~known ? result | NOT_AN_OPTION : result;
}

#define VALUE(from, to)                                                                                                \
  if ((from) != UMW_ABSENT && (to) != UMW_ABSENT && value == (from))                                                   \
    return to;
#define FROM_FOREIGN(name, four_three, four_two, bxi) VALUE(UMW_COLUMN(four_two, bxi), four_three)
#define TO_FOREIGN(name, four_three, four_two, bxi) VALUE(four_three, UMW_COLUMN(four_two, bxi))

static inline int result_of(int value)
{
#define UMW_PTL_RETURN TO_FOREIGN
#include "preload/abi/portals_constants.def"
  return value;
}

static inline int list_from(int value)
{
#define UMW_PTL_LIST FROM_FOREIGN
#include "preload/abi/portals_constants.def"
  return NOT_A_VALUE;
}

static inline int search_from(int value)
{
#define UMW_PTL_SEARCH FROM_FOREIGN
#include "preload/abi/portals_constants.def"
  return NOT_A_VALUE;
}

static inline int ack_from(int value)
{
#define UMW_PTL_ACK FROM_FOREIGN
#include "preload/abi/portals_constants.def"
  return NOT_A_VALUE;
}

static inline int operation_from(int value)
{
#define UMW_PTL_OP FROM_FOREIGN
#include "preload/abi/portals_constants.def"
  return NOT_A_VALUE;
}

static inline int datatype_from(int value)
{
#define UMW_PTL_DATATYPE FROM_FOREIGN
#include "preload/abi/portals_constants.def"
  return NOT_A_VALUE;
}

static inline int list_to(int value)
{
#define UMW_PTL_LIST TO_FOREIGN
#include "preload/abi/portals_constants.def"
  return value;
}

static inline int event_to(int value)
{
#define UMW_PTL_EVENT TO_FOREIGN
#include "preload/abi/portals_constants.def"
  return value;
}

static inline int fail_type_to(int value)
{
#define UMW_PTL_FAIL_TYPE TO_FOREIGN
#include "preload/abi/portals_constants.def"
  return value;
}

static inline int operation_to(int value)
{
#define UMW_PTL_OP TO_FOREIGN
#include "preload/abi/portals_constants.def"
  return value;
}

static inline int datatype_to(int value)
{
#define UMW_PTL_DATATYPE TO_FOREIGN
#include "preload/abi/portals_constants.def"
  return value;
}

#undef BIT
#undef BIT_ROW
#undef VALUE
#undef FROM_FOREIGN
#undef TO_FOREIGN
