// SPDX-License-Identifier: LGPL-2.1-or-later
// Objects of System V IPC with their keys and numbers, as ipc/util.c of Linux gives them: of one kind, on one node.
#pragma once

#include <cerrno>
#include <cstdint>
#include <map>
#include <memory>

#include <sys/ipc.h>
#include <unistd.h>

namespace umwelt::sysv
{

// Permissions of somebody who is not the super-user; `wanted`: the three bits of one of owner, group, others.
inline bool grants(const ipc_perm& permissions, unsigned wanted)
{
  if (geteuid() == 0)
    return true;
  const unsigned shift = geteuid() == permissions.uid || geteuid() == permissions.cuid   ? 6
                         : getegid() == permissions.gid || getegid() == permissions.cgid ? 3
                                                                                         : 0;
  return (wanted & ~(permissions.mode >> shift & 07U)) == 0;
}

constexpr unsigned readable = 04;
constexpr unsigned writable = 02;

// IPC_SET and IPC_RMID.
inline bool may_change(const ipc_perm& permissions)
{
  return geteuid() == 0 || geteuid() == permissions.uid || geteuid() == permissions.cuid;
}

inline void change(ipc_perm& permissions, const ipc_perm& wanted)
{
  permissions.uid = wanted.uid;
  permissions.gid = wanted.gid;
  permissions.mode = static_cast<decltype(permissions.mode)>((permissions.mode & ~0777U) | (wanted.mode & 0777U));
}

template <class Object> class Table
{
public:
  // The number of the object with that key; a negative errno. `fits(object)`: an errno if the one that is there will
  // not do; `make(permissions)`: a new one, or null and errno.
  template <class Fits, class Make> int get(key_t key, int flags, std::size_t most, Fits fits, Make make)
  {
    const auto known = key == IPC_PRIVATE ? ids_.end() : ids_.find(key);
    if (known != ids_.end()) {
      if ((flags & IPC_CREAT) != 0 && (flags & IPC_EXCL) != 0)
        return -EEXIST;
      Object& object = *objects_.at(known->second);
      const auto mode = static_cast<unsigned>(flags);
      if (!grants(object.permissions, ((mode >> 6) | (mode >> 3) | mode) & 07U))
        return -EACCES;
      const int error = fits(object);
      return error != 0 ? -error : known->second;
    }
    if (key != IPC_PRIVATE && (flags & IPC_CREAT) == 0)
      return -ENOENT;
    if (objects_.size() >= most)
      return -ENOSPC;
    ipc_perm permissions{};
    permissions.__key = key;
    permissions.uid = permissions.cuid = geteuid();
    permissions.gid = permissions.cgid = getegid();
    permissions.mode = static_cast<decltype(permissions.mode)>(flags & 0777);
    const int id = next_++;
    std::unique_ptr<Object> object = make(permissions, id);
    if (!object)
      return -errno;
    objects_[id] = std::move(object);
    if (key != IPC_PRIVATE)
      ids_[key] = id;
    return id;
  }

  // Null: there is none.
  [[nodiscard]] Object* find(int id)
  {
    const auto entry = objects_.find(id);
    return entry == objects_.end() ? nullptr : entry->second.get();
  }

  // Nobody finds it by its key any longer.
  void hide(int id)
  {
    ipc_perm& permissions = objects_.at(id)->permissions;
    if (permissions.__key != IPC_PRIVATE)
      ids_.erase(permissions.__key);
    permissions.__key = IPC_PRIVATE;
  }

  std::unique_ptr<Object> remove(int id)
  {
    hide(id);
    std::unique_ptr<Object> object = std::move(objects_.at(id));
    objects_.erase(id);
    return object;
  }

  [[nodiscard]] std::map<int, std::unique_ptr<Object>>& objects() { return objects_; }

private:
  std::map<int, std::unique_ptr<Object>> objects_;
  std::map<key_t, int> ids_;
  int next_ = 0;
};

} // namespace umwelt::sysv
