/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Opened by fixed_address, to whose symbols it refers. */
extern int program_number;
int program_function(int x);

int (*plugin_sees(void))(int)
{
  return program_function;
}

int plugin(int x)
{
  return program_function(x) + program_number++;
}
