// SPDX-License-Identifier: LGPL-2.1-or-later
#include "fixed_library.h"

int library_number = 17;

LibraryError::~LibraryError() = default;

int library_function(int x)
{
  return x + library_number;
}

Function library_address()
{
  return library_function;
}

int* library_number_address()
{
  return &library_number;
}

void library_throw(Function first)
{
  throw LibraryError(first(1) == 2 ? "thrown in the library" : "the callback is wrong");
}
