/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * libportals-4.2.so, in ranks in place of libportals.so.4: Portals 4 in the ABI of the reference's 4.2, whose layouts
 * are those of 4.3. Other numbers stand for what functions return and for options.
 */
#include "preload/portals/shim_functions.h"

#define UMW_ABI "4.2"
#define LIBRARY "libportals.so.4, 4.2"
#define UMW_COLUMN(four_two, bxi) four_two
#include "preload/portals/constants.h"

PUBLIC const char umw_portals_abi[] = UMW_ABI;

__attribute__((constructor)) static void begin(void)
{
  check_abi_of_rank(LIBRARY, UMW_ABI);
  find_shim();
}

static void explain(const char* function)
{
  explain_outside(LIBRARY, function);
}

/* In a structure of its own an unsigned int travels as ever. */
typedef struct {
  unsigned int bits;
} foreign_ni_options;
typedef struct {
  unsigned int bits;
} foreign_pt_options;

enum {
#define UMW_PTL_RETURN(name, four_three, four_two, bxi) foreign_##name = UMW_COLUMN(four_two, bxi),
#include "preload/abi/portals_constants.def"
};

union umw_room {
  ptl_md_t md;
  ptl_le_t le;
  ptl_me_t me;
};

/* Each gets the address of the argument, whatever that is, since all choices have to be valid C. */
static inline unsigned int ni_options_in(const void* argument)
{
  return ni_options(((const foreign_ni_options*)argument)->bits);
}

static inline unsigned int pt_options_in(const void* argument)
{
  return pt_options(((const foreign_pt_options*)argument)->bits);
}

static inline const ptl_md_t* md_in(const void* argument, union umw_room* room)
{
  const ptl_md_t* md = *(const ptl_md_t* const*)argument;
  if (!md)
    return NULL;
  room->md = *md;
  room->md.options = md_options(md->options);
  return &room->md;
}

static inline ptl_le_t* le_in(const void* argument, union umw_room* room)
{
  const ptl_le_t* le = *(const ptl_le_t* const*)argument;
  if (!le)
    return NULL;
  room->le = *le;
  room->le.options = entry_options(le->options);
  return &room->le;
}

static inline ptl_me_t* me_in(const void* argument, union umw_room* room)
{
  const ptl_me_t* me = *(const ptl_me_t* const*)argument;
  if (!me)
    return NULL;
  room->me = *me;
  room->me.options = entry_options(me->options);
  return &room->me;
}

#define UMW_NOTE(argument, call) (void)(call)
// clang-format off
#define UMW_IN(argument, room, call)                                                                                   \
  _Generic((argument),                                                                                                 \
      foreign_ni_options: ni_options_in(&(argument)),                                                                  \
      foreign_pt_options: pt_options_in(&(argument)),                                                                  \
      const ptl_md_t*: md_in(&(argument), room),                                                                       \
      const ptl_le_t*: le_in(&(argument), room),                                                                       \
      ptl_le_t*: le_in(&(argument), room),                                                                             \
      const ptl_me_t*: me_in(&(argument), room),                                                                       \
      ptl_me_t*: me_in(&(argument), room),                                                                             \
      default: (argument))
// clang-format on
#define UMW_OUT(argument, room, call) (void)(room)

#define umw_ni_options_t foreign_ni_options
#define umw_pt_options_t foreign_pt_options
#include "preload/portals/translation.h"
