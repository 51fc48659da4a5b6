/* SPDX-License-Identifier: LGPL-2.1-or-later
 * First plug-in of world_plugin: offers symbols to those opened later. */
int provider_state = 1;
static __thread int calls;

int provide(void)
{
  ++calls;
  return provider_state + calls;
}
