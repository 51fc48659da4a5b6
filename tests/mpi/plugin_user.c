/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Second plug-in of world_plugin: linked against nothing, resolved by what is global when it is opened. */
int provide(void);
int from_program(int);

int use(int x)
{
  return provide() + from_program(x);
}
