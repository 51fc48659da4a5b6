// SPDX-License-Identifier: LGPL-2.1-or-later
// What depends on where a program lies and on how it was linked: fixed_address PLUGIN. Built in several ways without
// -pie.
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "fixed_library.h"

extern "C" {
int program_number = 5;
int program_function(int x);
extern const ElfW(Ehdr) __ehdr_start; // of the linker: where the program was linked
}

int program_function(int x)
{
  return 2 * x;
}

namespace
{

thread_local int with_value = 42;
thread_local const int* with_address = &program_number;
thread_local std::array<int, 1000> zero;

struct Global {
  explicit Global(const char* n) : name(n) { std::cout << "constructor of " << name << '\n'; }
  ~Global() { std::printf("destructor of %s\n", name); }
  const char* name;
};
Global global("the program");
std::string text = "a string with a constructor of its own";

__attribute__((constructor)) void constructor_function()
{
  std::printf("constructor function\n");
}

__attribute__((destructor)) void destructor_function()
{
  std::printf("destructor function\n");
}

int descending(const void* a, const void* b)
{
  return *static_cast<const int*>(b) - *static_cast<const int*>(a);
}

void thread_variables(const char* of)
{
  int sum = 0;
  for (int& value : zero)
    sum += value++;
  std::printf("%s: %d %d %d\n", of, with_value, *with_address, sum);
  with_value = 0;
  with_address = nullptr;
}

void functions()
{
  std::printf("function addresses %s\n", library_address() == library_function ? "agree" : "differ");
  std::printf("variable addresses %s\n", library_number_address() == &library_number ? "agree" : "differ");
  library_number = 100;
  std::printf("library_function %d\n", library_function(1));
  std::array<int, 5> numbers{3, 1, 4, 1, 5};
  std::qsort(numbers.data(), numbers.size(), sizeof numbers[0], descending);
  for (const int number : numbers)
    std::printf("%d ", number);
  std::printf("sorted\n");
  std::printf("exit looked up: %s\n",
              dlsym(RTLD_DEFAULT, "exit") == reinterpret_cast<void*>(std::exit) ? "the same" : "another");
}

void exceptions()
{
  try {
    library_throw([](int x) { return x + 1; });
  } catch (const LibraryError& error) {
    std::printf("caught: %s\n", error.what());
  }
  try {
    throw LibraryError("thrown in the program");
  } catch (const std::exception& error) {
    std::printf("caught: %s\n", error.what());
  }
}

void plugin(const char* path)
{
  void* handle = dlopen(path, RTLD_NOW);
  if (handle == nullptr) {
    std::printf("dlopen: %s\n", dlerror());
    return;
  }
  void* everything = dlopen(nullptr, RTLD_NOW);
  std::printf("without a name: %s\n", dlsym(everything, "program_function") == reinterpret_cast<void*>(program_function)
                                          ? "the program"
                                          : "another");
  dlclose(everything);
  const auto call = reinterpret_cast<Function>(dlsym(handle, "plugin"));
  const auto sees = reinterpret_cast<Function (*)()>(dlsym(handle, "plugin_sees"));
  std::printf("plugin %d %d, program_number %d\n", call(1), call(2), program_number);
  std::printf("plugin sees %s\n", sees() == program_function ? "the function of the program" : "another function");
}

// Where the program lies, by the auxiliary vector and by the loader.
void addresses()
{
  const auto* base = reinterpret_cast<const char*>(&__ehdr_start);
  std::printf("AT_PHDR %s, AT_ENTRY %s\n",
              getauxval(AT_PHDR) == reinterpret_cast<unsigned long>(base + __ehdr_start.e_phoff) ? "right" : "wrong",
              getauxval(AT_ENTRY) == __ehdr_start.e_entry ? "right" : "wrong");
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(program_function), &info);
  std::printf("base %s, name %s\n", info.dli_fbase == base ? "right" : "wrong",
              info.dli_sname != nullptr ? info.dli_sname : "none");
}

} // namespace

int main(int argc, char** argv)
{
  std::setvbuf(stdout, nullptr, _IOFBF, BUFSIZ);
  std::atexit([] { std::printf("atexit\n"); });
  std::fprintf(stdout, "stdout is there, environ too: %d, %d arguments\n", environ != nullptr && environ[0] != nullptr,
               argc);
  std::cout << text << ' ' << program_invocation_short_name << std::endl;
  if (argc > 2)
    std::raise(SIGSEGV);
  thread_variables("main thread");
  std::thread(thread_variables, "second thread").join();
  functions();
  exceptions();
  plugin(argv[1]);
  addresses();
  std::fflush(stdout);
  return 7;
}
