// SPDX-License-Identifier: LGPL-2.1-or-later
// Callbacks of dl_iterate_phdr that compute for several time slices and look at the clock: ld.so's lock is held, and
// other ranks want it too.
#include <cstdio>
#include <cstring>
#include <ctime>

#include <dlfcn.h>
#include <link.h>

static double seconds(clockid_t clock)
{
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

static int computes(dl_phdr_info* object, std::size_t, void* objects)
{
  ++*static_cast<int*>(objects);
  if (std::strstr(object->dlpi_name, "libc.so") == nullptr)
    return 0;
  const double end = seconds(CLOCK_PROCESS_CPUTIME_ID) + 0.03;
  volatile double sum = 0;
  while (seconds(CLOCK_PROCESS_CPUTIME_ID) < end)
    for (int i = 0; i < 100; ++i)
      sum = sum + 1e-3 * i;
  return 7;
}

int main()
{
  for (int round = 0; round < 3; ++round) {
    int objects = 0;
    const int result = dl_iterate_phdr(computes, &objects);
    Dl_info info{};
    if (result != 7 || objects < 2 || dladdr(reinterpret_cast<void*>(main), &info) == 0 ||
        dlsym(RTLD_DEFAULT, "no such symbol") != nullptr) {
      std::printf("round %d: result %d, expected 7; %d objects\n", round, result, objects);
      return 1;
    }
  }
  std::printf("%s\n", "done");
}
