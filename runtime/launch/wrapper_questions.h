// SPDX-License-Identifier: LGPL-2.1-or-later
// Questions of the wrappers' processes, each before it executes something (preload/abi/wrapper_protocol.h): may it, or
// is that the program of a rank?
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include <sys/socket.h>
#include <sys/types.h>

#include "runtime/base/descriptor.h"

namespace umwelt::launch
{

// A process asks: may it execute this?
struct Question {
  Descriptor connection;
  pid_t asker = 0;
  unsigned rank = 0;
  bool searched = false;
  bool same_addresses = false;
  std::array<Descriptor, 3> streams;
  std::string file, path_variable, directory;
  std::vector<std::string> argv;
  std::vector<std::string> environment;

  void answer(char what) const { send(connection.get(), &what, 1, MSG_NOSIGNAL); }
};

// Where they ask, under a name that only those learn who are to ask.
class QuestionListener
{
public:
  QuestionListener();
  [[nodiscard]] int fd() const { return socket_.get(); }
  [[nodiscard]] const std::string& name() const { return name_; }

private:
  Descriptor socket_;
  std::string name_;
};

// None: it was no question, or not one of this user.
std::optional<Question> receive_question(int listener);

// Takes out what makes processes ask; `library`: libumwelt-wrapper.so.
void remove_traces(std::vector<std::string>& environment, const std::string& library);

} // namespace umwelt::launch
