/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The network interfaces of the simulated node: lo, and bxi0 for IP over BXI with the node's addresses.
 */
#include "preload/shim.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "preload/sockets/socket_addresses.h"
#include "preload/sockets/sockets.h"

struct interface {
  const char* name;
  unsigned flags;
  int mtu;
  unsigned short hardware;
};

static const struct interface interfaces[] = {
    {"lo", IFF_UP | IFF_LOOPBACK | IFF_RUNNING, 65536, ARPHRD_LOOPBACK},
    {"bxi0", IFF_UP | IFF_BROADCAST | IFF_RUNNING | IFF_MULTICAST, 65520, ARPHRD_ETHER},
};
enum { count = sizeof interfaces / sizeof *interfaces };
static const uint32_t netmask = 0xff000000;

static uint32_t address_of(int index)
{
  return index == 0 ? INADDR_LOOPBACK : umw_gate->address;
}

static int index_of(const char* name)
{
  for (int i = 0; i < count; ++i)
    if (strcmp(name, interfaces[i].name) == 0)
      return i;
  return -1;
}

static struct sockaddr_in internet(uint32_t host)
{
  return (struct sockaddr_in){AF_INET, 0, {htonl(host)}, {0}};
}

/* --- getifaddrs --------------------------------------------------------------------------------------------------- */

enum { v6_count = 3, all_count = count + v6_count };

struct list {
  struct ifaddrs entries[all_count]; /* first: freeifaddrs gets this */
  struct sockaddr_in addresses[count][3];
  struct sockaddr_in6 v6_addresses[v6_count][2];
};

static void list_v4(struct list* list)
{
  for (int i = 0; i < count; ++i) {
    list->addresses[i][0] = internet(address_of(i));
    list->addresses[i][1] = internet(netmask);
    list->addresses[i][2] = internet(address_of(i) | ~netmask);
    list->entries[i] = (struct ifaddrs){.ifa_name = (char*)interfaces[i].name,
                                        .ifa_flags = interfaces[i].flags,
                                        .ifa_addr = (struct sockaddr*)&list->addresses[i][0],
                                        .ifa_netmask = (struct sockaddr*)&list->addresses[i][1],
                                        .ifa_broadaddr = (struct sockaddr*)&list->addresses[i][2]};
  }
}

static void list_v6(struct list* list)
{
  const struct {
    int interface;
    umw_address address;
    bool host_only; /* /128, else /64 */
  } own[v6_count] = {{UMW_LOOPBACK_INDEX - 1, {.low = 1}, true},
                     {UMW_NETWORK_INDEX - 1, umw_unique_local_of(umw_gate->address), false},
                     {UMW_NETWORK_INDEX - 1, umw_link_local_of(umw_gate->address), false}};
  for (int i = 0; i < v6_count; ++i) {
    const umw_address mask = {.high = UINT64_MAX, .low = own[i].host_only ? UINT64_MAX : 0};
    list->v6_addresses[i][0] = umw_sockaddr_v6(&own[i].address);
    list->v6_addresses[i][1] = umw_sockaddr_v6(&mask);
    list->entries[count + i] = (struct ifaddrs){.ifa_name = (char*)interfaces[own[i].interface].name,
                                                .ifa_flags = interfaces[own[i].interface].flags,
                                                .ifa_addr = (struct sockaddr*)&list->v6_addresses[i][0],
                                                .ifa_netmask = (struct sockaddr*)&list->v6_addresses[i][1]};
  }
}

UMW_PUBLIC int getifaddrs(struct ifaddrs** result)
{
  if (!umw_gate)
    return UMW_REAL(getifaddrs)(result);
  struct list* list = calloc(1, sizeof *list);
  if (!list)
    return -1;
  list_v4(list);
  list_v6(list);
  for (int i = 0; i + 1 < all_count; ++i)
    list->entries[i].ifa_next = &list->entries[i + 1];
  *result = list->entries;
  return 0;
}

UMW_PUBLIC void freeifaddrs(struct ifaddrs* list)
{
  if (umw_gate)
    free(list);
  else
    UMW_REAL(freeifaddrs)(list);
}

UMW_PUBLIC unsigned if_nametoindex(const char* name)
{
  if (!umw_gate)
    return UMW_REAL(if_nametoindex)(name);
  const int index = index_of(name);
  if (index < 0)
    errno = ENODEV;
  return (unsigned)(index + 1);
}

UMW_PUBLIC char* if_indextoname(unsigned index, char name[IF_NAMESIZE])
{
  if (!umw_gate)
    return UMW_REAL(if_indextoname)(index, name);
  if (index >= 1 && index <= count)
    return strcpy(name, interfaces[index - 1].name);
  errno = ENXIO;
  return NULL;
}

/* --- netdevice(7) ------------------------------------------------------------------------------------------------- */

static int list_interfaces(struct ifconf* answer)
{
  const int room = answer->ifc_req ? answer->ifc_len / (int)sizeof(struct ifreq) : count;
  const int listed = room < count ? room : count;
  for (int i = 0; answer->ifc_req && i < listed; ++i) {
    struct ifreq* request = &answer->ifc_req[i];
    memset(request, 0, sizeof *request);
    strcpy(request->ifr_name, interfaces[i].name);
    const struct sockaddr_in address = internet(address_of(i));
    memcpy(&request->ifr_addr, &address, sizeof address);
  }
  answer->ifc_len = listed * (int)sizeof(struct ifreq);
  return 0;
}

static bool is_of_v4(unsigned long request)
{
  return request == SIOCGIFADDR || request == SIOCGIFDSTADDR || request == SIOCGIFBRDADDR || request == SIOCGIFNETMASK;
}

int umw_interface_request(const struct umw_socket* socket, unsigned long request, void* argument)
{
  if (request == SIOCGIFCONF) /* IPv4 alone, netdevice(7) */
    return list_interfaces(argument);
  if (socket->v6 && is_of_v4(request)) {
    errno = ENOTTY;
    return -1;
  }
  if (request < SIOCGIFNAME || request > SIOCGIFMAP) {
    errno = request > 0x8900 && request < 0x8a00 ? EOPNOTSUPP : ENOTTY;
    return -1;
  }
  struct ifreq* answer = argument;
  const int index = request == SIOCGIFNAME ? answer->ifr_ifindex - 1 : index_of(answer->ifr_name);
  if (index < 0 || index >= count) {
    errno = ENODEV;
    return -1;
  }
  struct sockaddr_in address = internet(address_of(index));
  switch (request) {
  case SIOCGIFNAME:
    strcpy(answer->ifr_name, interfaces[index].name);
    return 0;
  case SIOCGIFINDEX:
    answer->ifr_ifindex = index + 1;
    return 0;
  case SIOCGIFFLAGS:
    answer->ifr_flags = (short)interfaces[index].flags;
    return 0;
  case SIOCGIFMTU:
    answer->ifr_mtu = interfaces[index].mtu;
    return 0;
  case SIOCGIFMETRIC:
    answer->ifr_metric = 0;
    return 0;
  case SIOCGIFHWADDR:
    memset(&answer->ifr_hwaddr, 0, sizeof answer->ifr_hwaddr);
    answer->ifr_hwaddr.sa_family = interfaces[index].hardware;
    if (index > 0)
      memcpy(answer->ifr_hwaddr.sa_data, (const unsigned char[]){2, 0}, 2); /* administered locally, then the address */
    memcpy(answer->ifr_hwaddr.sa_data + 2, &address.sin_addr, index > 0 ? 4 : 0);
    return 0;
  case SIOCGIFNETMASK:
    address = internet(netmask);
    break;
  case SIOCGIFBRDADDR:
    address = internet(address_of(index) | ~netmask);
    break;
  case SIOCGIFADDR:
  case SIOCGIFDSTADDR:
    break;
  default:
    errno = EOPNOTSUPP;
    return -1;
  }
  memcpy(&answer->ifr_addr, &address, sizeof address);
  return 0;
}
