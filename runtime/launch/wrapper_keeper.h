// SPDX-License-Identifier: LGPL-2.1-or-later
// The keeper of the wrappers: a process that ends what is left of them if Umwelt is gone, however that came about, and
// answers their questions once the ranks run. A process of its own since nothing else is sure to outlive Umwelt.
#pragma once

#include <cstddef>
#include <string>

#include "runtime/launch/wrapper_kinds.h"
#include "runtime/launch/wrapper_questions.h"

namespace umwelt::launch
{

enum class KeeperOrder : char { answer = 'a', leave = 'l' };

// `keeper`: the pipe to it.
void order_keeper(int keeper, KeeperOrder order);

// The keeper's life. `orders`: its end of the pipe.
[[noreturn]] void keep(int orders, QuestionListener& listener, Judge& judge);

// Sends a signal (0: none) to the processes of the wrappers; returns how many there are.
std::size_t signal_marked(const std::string& mark, int signal);

} // namespace umwelt::launch
