/* SPDX-License-Identifier: LGPL-2.1-or-later
 * The code of Umwelt's own libraries is that of their files: nothing in it traps, as a time stamp of a program does. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct found {
  int libraries;
  size_t changed; /* bytes */
};

static int look(struct dl_phdr_info* object, size_t size, void* argument)
{
  (void)size;
  struct found* found = argument;
  const char* slash = strrchr(object->dlpi_name, '/');
  if (slash == NULL || strncmp(slash, "/libumwelt-", strlen("/libumwelt-")) != 0)
    return 0;
  ++found->libraries;
  const int file = open(object->dlpi_name, O_RDONLY);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* segment = &object->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD || (segment->p_flags & PF_X) == 0)
      continue;
    const unsigned char* wanted = mmap(NULL, segment->p_filesz, PROT_READ, MAP_PRIVATE, file, (off_t)segment->p_offset);
    if (wanted == MAP_FAILED)
      return -1;
    const unsigned char* code = (const unsigned char*)(object->dlpi_addr + segment->p_vaddr);
    for (size_t k = 0; k < segment->p_filesz; ++k)
      found->changed += code[k] != wanted[k];
    munmap((void*)wanted, segment->p_filesz);
  }
  close(file);
  return 0;
}

int main(void)
{
  struct found found = {0, 0};
  if (dl_iterate_phdr(look, &found) != 0)
    return 1;
  printf("%d libraries of Umwelt, %zu bytes changed\n", found.libraries, found.changed);
  return 0;
}
