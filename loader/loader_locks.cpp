// SPDX-License-Identifier: LGPL-2.1-or-later
#include "loader/loader_locks.h"

#include <algorithm>
#include <cstddef>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unistd.h>

namespace umwelt::loader
{

namespace
{

struct Search {
  const char* begin = nullptr;
  const char* end = nullptr;
  const pthread_mutex_t* held = nullptr;
};

bool recursive(const pthread_mutex_t& mutex)
{
  return mutex.__data.__kind == PTHREAD_MUTEX_RECURSIVE_NP;
}

// Runs with _dl_load_write_lock held: the mutex of _rtld_global that this thread owns.
int look(dl_phdr_info*, std::size_t, void* argument)
{
  auto* search = static_cast<Search*>(argument);
  const pid_t self = gettid();
  for (const char* at = search->begin; at + sizeof(pthread_mutex_t) <= search->end; at += alignof(pthread_mutex_t)) {
    const auto* mutex = reinterpret_cast<const pthread_mutex_t*>(at);
    if (mutex->__data.__lock != 0 && mutex->__data.__owner == self && mutex->__data.__count == 1 && recursive(*mutex))
      search->held = mutex;
  }
  return 1;
}

} // namespace

LoaderLocks::LoaderLocks()
{
  Dl_info info{};
  Elf64_Sym* symbol = nullptr;
  const auto* global = static_cast<const char*>(dlsym(RTLD_DEFAULT, "_rtld_global"));
  if (global == nullptr || dladdr1(global, &info, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT) == 0 ||
      symbol == nullptr)
    return;
  Search search{global, global + symbol->st_size, nullptr};
  // The C library's, not the runtime's own (diagnose/symbols.cpp).
  using Iterate = int (*)(int (*)(dl_phdr_info*, std::size_t, void*), void*);
  const auto iterate = reinterpret_cast<Iterate>(dlsym(RTLD_NEXT, "dl_iterate_phdr"));
  if (iterate == nullptr)
    return;
  iterate(look, &search);
  if (search.held == nullptr)
    return;
  const pthread_mutex_t* first = search.held - 1;
  for (int i = 0; i < count; ++i)
    if (!recursive(first[i]))
      return;
  first_ = first;
}

bool may_be_held_by(const pthread_mutex_t& mutex, std::int32_t thread)
{
  const int owner = __atomic_load_n(&mutex.__data.__owner, __ATOMIC_RELAXED);
  return owner == thread || (owner == 0 && __atomic_load_n(&mutex.__data.__lock, __ATOMIC_RELAXED) != 0);
}

bool LoaderLocks::held_by(std::int32_t thread) const
{
  if (first_ == nullptr)
    return false;
  return std::any_of(first_, first_ + count,
                     [thread](const pthread_mutex_t& mutex) { return may_be_held_by(mutex, thread); });
}

} // namespace umwelt::loader
