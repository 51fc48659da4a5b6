/* SPDX-License-Identifier: LGPL-2.1-or-later
 * A shared library of the tests: what a program gets from it has to be its own rank's. */
#pragma once

#ifdef __cplusplus
#include <stdexcept>
#include <string>

class LibraryError : public std::runtime_error
{
public:
  LibraryError(const std::string& text, int code_given) : std::runtime_error(text), code(code_given) {}
  ~LibraryError() override; /* here is the key function: the type information lives in the library */
  int code;
};

/* Calls `callback`, through a frame of the library that has something to destroy; throws LibraryError if depth is 0. */
void library_call(int depth, void (*callback)(int));

extern "C" {
#endif
int library_constructed(void); /* how often its constructor ran */
int library_destroyed_frames(void);
void library_set_rank(int rank);
extern int library_counter;         /* copied into the program (copy relocation) */
extern __thread int library_thread; /* thread-local across objects (initial-exec or general dynamic) */
int library_bump(void);             /* increments both, returns their sum */
#ifdef __cplusplus
}
#endif
