/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Messages of sendmsg(2) that go in several parts. */
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

static inline size_t umw_message_size(const struct msghdr* message)
{
  size_t size = 0;
  for (size_t i = 0; i < message->msg_iovlen; ++i)
    size += message->msg_iov[i].iov_len;
  return size;
}

/* The parts of `message` behind the first `done` bytes; at most `most`. Their number. */
static inline size_t umw_message_rest(const struct msghdr* message, size_t done, struct iovec* parts, size_t most)
{
  size_t count = 0;
  for (size_t i = 0; i < message->msg_iovlen && count < most; ++i) {
    const struct iovec part = message->msg_iov[i];
    if (done >= part.iov_len) {
      done -= part.iov_len;
      continue;
    }
    parts[count++] = (struct iovec){(char*)part.iov_base + done, part.iov_len - done};
    done = 0;
  }
  return count;
}
