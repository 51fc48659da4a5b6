/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Info objects, attributes with their copy and delete functions, names. */
#include "check.h"

static int copied, deleted;

static int copy(MPI_Comm old, int key, void* extra, void* in, void* out, int* flag)
{
  (void)old;
  (void)key;
  ++copied;
  *(void**)out = (char*)in + *(int*)extra;
  *flag = 1;
  return MPI_SUCCESS;
}

static int drop(MPI_Comm communicator, int key, void* value, void* extra)
{
  (void)communicator;
  (void)key;
  (void)value;
  (void)extra;
  ++deleted;
  return MPI_SUCCESS;
}

static void infos(void)
{
  MPI_Info info, duplicate;
  char value[MPI_MAX_INFO_VAL + 1] = "", key[MPI_MAX_INFO_KEY + 1] = "";
  int found = 0, count = -1, length = -1;
  MPI_Info_create(&info);
  MPI_Info_set(info, "colour", "blue");
  MPI_Info_set(info, "size", "large");
  MPI_Info_set(info, "colour", "red");
  MPI_Info_get_nkeys(info, &count);
  CHECK_EQ(count, 2);
  MPI_Info_get(info, "colour", MPI_MAX_INFO_VAL, value, &found);
  CHECK(found && strcmp(value, "red") == 0);
  MPI_Info_get_valuelen(info, "size", &length, &found);
  CHECK(found && length == 5);
  MPI_Info_get_nthkey(info, 1, key);
  CHECK(strcmp(key, "size") == 0);
  MPI_Info_dup(info, &duplicate);
  MPI_Info_delete(info, "size");
  MPI_Info_get(info, "size", MPI_MAX_INFO_VAL, value, &found);
  CHECK(!found);
  MPI_Info_get(duplicate, "size", MPI_MAX_INFO_VAL, value, &found);
  CHECK(found && strcmp(value, "large") == 0);
  MPI_Info_free(&duplicate);
  MPI_Info_free(&info);
  CHECK(info == MPI_INFO_NULL);
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  infos();

  int key = MPI_KEYVAL_INVALID, step = 5, found = 0;
  char base[100];
  void* value = NULL;
  MPI_Comm duplicate;
  MPI_Comm_create_keyval(copy, drop, &key, &step);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, base);
  MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
  CHECK_EQ(copied, 1);
  MPI_Comm_get_attr(duplicate, key, &value, &found);
  CHECK(found && value == base + 5);
  MPI_Comm_free(&duplicate);
  CHECK_EQ(deleted, 1);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
  CHECK_EQ(deleted, 2);
  MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &found);
  CHECK(!found);
  MPI_Comm_free_keyval(&key);
  CHECK_EQ(key, MPI_KEYVAL_INVALID);

  /* an attribute of MPI_COMM_SELF is deleted first thing in MPI_Finalize */
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, base);
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
  CHECK(strcmp(name, "MPI_COMM_WORLD") == 0);
  MPI_Finalize();
  CHECK_EQ(deleted, 3);
  return verdict();
}
