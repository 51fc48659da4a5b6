// SPDX-License-Identifier: LGPL-2.1-or-later
// The library of fixed_address.
#pragma once

#include <stdexcept>

class LibraryError : public std::runtime_error
{
public:
  using std::runtime_error::runtime_error;
  ~LibraryError() override; // the key function: type information lives in the library, the program gets a copy
};

using Function = int (*)(int);

extern int library_number;          // copied into the program (copy relocation)
int library_function(int x);        // its address in the program is an entry of the program's PLT
Function library_address();         // of library_function, as the library sees it
int* library_number_address();      // the same of library_number
void library_throw(Function first); // calls `first`, then throws LibraryError
