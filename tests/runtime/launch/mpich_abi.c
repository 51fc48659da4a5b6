/* SPDX-License-Identifier: LGPL-2.1-or-later
 * A library with the name that MPICH, Intel MPI and others of one ABI have, and (with -DPROGRAM) who is linked to it.
 */
#include <stdio.h>
#include <stdlib.h>

int MPI_Get_version(int* version, int* subversion);

#ifdef PROGRAM
int main(void)
{
  int version = 0, subversion = 0;
  MPI_Get_version(&version, &subversion);
  const char* provider = getenv("FI_PROVIDER");
  const char* component = getenv("OMPI_MCA_pml");
  fprintf(stderr, "MPI %d.%d, FI_PROVIDER=%s, OMPI_MCA_pml=%s\n", version, subversion, provider ? provider : "none",
          component ? component : "none");
  return 0;
}
#else
int MPI_Get_version(int* version, int* subversion)
{
  *version = 3;
  *subversion = 1;
  return 0;
}
#endif
