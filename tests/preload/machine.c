// SPDX-License-Identifier: LGPL-2.1-or-later
// What is told about the machine agrees, whoever tells it: C library, kernel, /proc, /sys, hwloc, libnuma. Natively for
// the machine, as a rank for the node; `machine CORES SOCKETS MIB [OWN...]`: which has so many, and the rank those of
// its own.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <hwloc.h>
#include <numa.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static int failures;

static void expect(const char* what, double got, double expected)
{
  if (got != expected)
    printf("%s: expected %.0f, got %.0f\n", what, expected, got);
  failures += got != expected;
}

// The number of lines that begin so.
static int lines(const char* path, const char* begin)
{
  char line[4096];
  int count = 0;
  FILE* file = fopen(path, "r");
  while (file && fgets(line, sizeof line, file))
    count += strncmp(line, begin, strlen(begin)) == 0;
  if (file)
    fclose(file);
  return count;
}

static double number(const char* path, const char* format)
{
  char line[4096];
  double value = -1;
  FILE* file = fopen(path, "r");
  while (file && value < 0 && fgets(line, sizeof line, file))
    sscanf(line, format, &value);
  if (file)
    fclose(file);
  return value;
}

static char text[4096];
static const char* first_line(const char* path)
{
  text[0] = '\0';
  FILE* file = fopen(path, "r");
  if (file && fgets(text, sizeof text, file))
    text[strcspn(text, "\n")] = '\0';
  if (file)
    fclose(file);
  return text;
}

static int numbered(const char* path, const char* begin)
{
  int count = 0;
  DIR* directory = opendir(path);
  for (struct dirent* entry; directory && (entry = readdir(directory));) {
    const size_t length = strlen(begin);
    count += strncmp(entry->d_name, begin, length) == 0 && strspn(entry->d_name + length, "0123456789") > 0 &&
             entry->d_name[length + strspn(entry->d_name + length, "0123456789")] == '\0';
  }
  if (directory)
    closedir(directory);
  return count;
}

static void topology(const char* how, int cores, double memory, const cpu_set_t* own)
{
  hwloc_topology_t here;
  if (hwloc_topology_init(&here) != 0 || hwloc_topology_load(here) != 0) {
    printf("hwloc %s fails\n", how);
    ++failures;
    return;
  }
  expect("PUs of hwloc", hwloc_get_nbobjs_by_type(here, HWLOC_OBJ_PU), cores);
  expect("NUMA nodes of hwloc", hwloc_get_nbobjs_by_type(here, HWLOC_OBJ_NUMANODE),
         numbered("/sys/devices/system/node", "node"));
  expect("memory of hwloc", (double)hwloc_get_root_obj(here)->total_memory / memory <= 1.1, 1);
  expect("this system", hwloc_topology_is_thissystem(here), 1);
  hwloc_cpuset_t bound = hwloc_bitmap_alloc();
  expect("hwloc_get_cpubind", hwloc_get_cpubind(here, bound, 0), 0);
  expect("bound to", hwloc_bitmap_weight(bound), CPU_COUNT(own));
  hwloc_get_last_cpu_location(here, bound, HWLOC_CPUBIND_THREAD);
  expect("runs on one", hwloc_bitmap_weight(bound), 1);
  expect("its own", CPU_ISSET((unsigned)hwloc_bitmap_first(bound), own) != 0, 1);
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET((unsigned)core, own)) { // and back
      hwloc_bitmap_only(bound, (unsigned)core);
      expect("hwloc_set_cpubind", hwloc_set_cpubind(here, bound, HWLOC_CPUBIND_THREAD), 0);
      expect("on", sched_getcpu(), core);
    }
  sched_setaffinity(0, sizeof *own, own);
  hwloc_bitmap_free(bound);
  hwloc_topology_destroy(here);
}

int main(int argc, char** argv)
{
  cpu_set_t own;
  CPU_ZERO(&own);
  sched_getaffinity(0, sizeof own, &own);
  const int cores = (int)sysconf(_SC_NPROCESSORS_CONF);
  const double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  if (argc > 3) {
    expect("cores", cores, atoi(argv[1]));
    expect("sockets", numa_num_configured_nodes(), atoi(argv[2]));
    expect("memory in MiB", memory / (1 << 20), atof(argv[3]));
    expect("of libnuma", (double)numa_node_size64(0, NULL) * numa_num_configured_nodes(), memory);
    for (int i = 4; i < argc; ++i)
      expect(argv[i], CPU_ISSET((size_t)atoi(argv[i]), &own) != 0, 1);
    if (argc > 4)
      expect("cores of the rank", CPU_COUNT(&own), argc - 4);
  }

  expect("online", (double)sysconf(_SC_NPROCESSORS_ONLN), cores);
  expect("get_nprocs", get_nprocs(), cores);
  expect("/proc/cpuinfo", lines("/proc/cpuinfo", "processor"), cores);
  expect("/proc/stat", lines("/proc/stat", "cpu") - 1, cores);
  expect("/sys/devices/system/cpu", numbered("/sys/devices/system/cpu", "cpu"), cores);
  int first = 0, last = 0;
  sscanf(first_line("/sys/devices/system/cpu/online"), "%d-%d", &first, &last);
  expect("/sys/devices/system/cpu/online", last + 1, cores);
  expect("/proc/meminfo", number("/proc/meminfo", "MemTotal: %lf") * 1024, memory);
  struct sysinfo info;
  expect("sysinfo", sysinfo(&info), 0);
  expect("totalram", (double)info.totalram * info.mem_unit, memory);
  expect("get_phys_pages", (double)get_phys_pages(), (double)sysconf(_SC_PHYS_PAGES));
  expect("free memory", info.freeram > 0 && info.freeram <= info.totalram, 1);

  struct utsname names;
  uname(&names);
  expect("/proc/sys/kernel/hostname", strcmp(first_line("/proc/sys/kernel/hostname"), names.nodename) == 0, 1);
  struct timespec since;
  clock_gettime(CLOCK_BOOTTIME, &since);
  const double uptime = number("/proc/uptime", "%lf");
  expect("/proc/uptime", uptime - (double)since.tv_sec < 2 && uptime > (double)since.tv_sec - 2, 1);
  expect("uptime of sysinfo", (double)info.uptime - (double)since.tv_sec < 2, 1);
  const struct timespec nap = {0, 30000000};
  nanosleep(&nap, NULL);
  expect("/proc/uptime goes on", number("/proc/uptime", "%lf") > uptime, 1);
  double load[3];
  expect("getloadavg", getloadavg(load, 3), 3);
  expect("/proc/loadavg", number("/proc/loadavg", "%lf") - load[0] < 0.5, 1);

  // where a thread is
  unsigned core = 0, node = 0;
  long kernel_core = 0;
  expect("getcpu", getcpu(&core, &node), 0);
  syscall(SYS_getcpu, &kernel_core, NULL, NULL);
  if (CPU_COUNT(&own) == 1) {
    expect("sched_getcpu", sched_getcpu(), core);
    expect("getcpu of the kernel", (double)(kernel_core & 0xffff), core);
  }
  expect("a core of its own", CPU_ISSET(core, &own) != 0, 1);
  char path[128];
  snprintf(path, sizeof path, "/sys/devices/system/node/node%u/cpu%u", node, core);
  expect(path, access(path, F_OK), 0);
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/physical_package_id", core);
  expect(path, access(path, R_OK), 0);
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d", cores);
  expect(path, access(path, F_OK), -1);

  // libnuma
  expect("numa_available", numa_available(), 0);
  expect("numa_num_configured_cpus", numa_num_configured_cpus(), cores);
  expect("numa_num_task_cpus", numa_num_task_cpus(), CPU_COUNT(&own));
  expect("numa_node_of_cpu", numa_node_of_cpu((int)core), node);
  double whole = 0;
  long long unused;
  for (int i = 0; i <= numa_max_node(); ++i)
    whole += (double)numa_node_size64(i, &unused);
  expect("numa_node_size", whole > 0 && whole / memory < 1.1, 1);
  expect("numa_distance", numa_distance(0, 0), 10);
  expect("numa_run_on_node", numa_run_on_node(numa_max_node()), 0);
  expect("on that node", numa_node_of_cpu(sched_getcpu()), numa_max_node());
  sched_setaffinity(0, sizeof own, &own);
  void* block = numa_alloc_onnode(1 << 20, numa_max_node());
  expect("numa_alloc_onnode", block != NULL, 1);
  numa_free(block, 1 << 20);
  numa_set_preferred(numa_max_node());
  expect("numa_preferred", numa_preferred(), numa_max_node());
  numa_set_localalloc();
  struct bitmask* nodes = numa_get_mems_allowed();
  expect("numa_get_mems_allowed", numa_bitmask_weight(nodes), numa_num_configured_nodes());
  numa_bitmask_free(nodes);

  topology("as it is", cores, memory, &own);
  if (argc > 3) // its plugins, which look for this machine's devices, are not loaded
    expect("libxml2", dlopen("libxml2.so.2", RTLD_LAZY | RTLD_NOLOAD) == NULL, 1);
  unsetenv("HWLOC_XMLFILE"); // from the files below /sys
  setenv("HWLOC_COMPONENTS", "-x86", 1);
  topology("from /sys", cores, memory, &own);

  // what is not there, and what is no directory
  errno = 0;
  expect("open of a core that is not there", open("/sys/devices/system/cpu/cpu99999/online", O_RDONLY), -1);
  expect("ENOENT", errno, ENOENT);
  expect("opendir of a file", opendir("/proc/meminfo") == NULL, 1);
  expect("ENOTDIR", errno, ENOTDIR);
  expect("no write", open("/proc/uptime", O_WRONLY) < 0 || geteuid() == 0, 1);
  printf("%d failures\n", failures);
  return failures != 0;
}
