// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/traced_calls.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/mpi/functions.h"

namespace umwelt::observe
{

namespace
{

constexpr std::uint64_t records_for(std::uint64_t bytes)
{
  return (bytes + UMW_EVENT_DATA_BYTES - 1) / UMW_EVENT_DATA_BYTES;
}

void set_at(std::vector<std::uint32_t>& numbers, std::size_t index, std::uint32_t number)
{
  if (index >= numbers.size())
    numbers.resize(index + 1, TracedCalls::none);
  numbers[index] = number;
}

std::uint32_t look_up(const std::vector<std::uint32_t>& numbers, std::size_t index)
{
  return index < numbers.size() ? numbers[index] : TracedCalls::none;
}

} // namespace

std::int64_t TracedCalls::Members::at(std::int64_t index) const
{
  if (index < 0 || index >= size)
    return -1;
  return listed.empty() ? first + index * step : listed[static_cast<std::size_t>(index)];
}

void TracedCalls::begin(std::uint32_t first)
{
  first_ = first;
  for (auto* numbers : {&own_communicators_, &own_windows_, &own_files_, &own_functions_})
    numbers->clear();
  peers_.clear();
  made_.clear();
  opened_.clear();
  data_left_ = 0;
  has_half_ = false;
}

void TracedCalls::begin_definition(const umw_event& event)
{
  definition_ = event;
  data_.clear();
  const bool listed = event.kind == UMW_EVENT_COMMUNICATOR && (event.flags & UMW_EVENT_LISTED) != 0;
  listed_bytes_ = listed ? records_for(event.bytes * sizeof(std::int32_t)) * UMW_EVENT_DATA_BYTES : 0;
  data_left_ = listed_bytes_ / UMW_EVENT_DATA_BYTES + records_for(event.more);
  if (data_left_ == 0)
    end_definition();
}

void TracedCalls::end_definition()
{
  const std::string text = data_.substr(listed_bytes_, definition_.more);
  if (definition_.kind == UMW_EVENT_FUNCTION) {
    const auto [found, added] = function_numbers_.try_emplace(text, static_cast<std::uint32_t>(functions_.size()));
    if (added)
      functions_.push_back(text);
    set_at(own_functions_, definition_.function - UMW_EVENT_FUNCTIONS, found->second);
    return;
  }
  if (definition_.kind == UMW_EVENT_FILE) {
    const std::uint32_t on = look_up(own_communicators_, definition_.request);
    set_at(own_files_, definition_.object, number_in(file_numbers_, files_, File{on, opened_[on]++, text}));
    return;
  }
  Members members{
      definition_.peer + std::int64_t{first_}, definition_.tag, static_cast<std::uint32_t>(definition_.bytes), {}};
  if (listed_bytes_ > 0) {
    members = {0, 0, members.size, std::vector<std::int32_t>(members.size)};
    std::memcpy(members.listed.data(), data_.data(), members.size * sizeof(std::int32_t));
    for (std::int32_t& one : members.listed)
      one = one < 0 ? -1 : one + static_cast<std::int32_t>(first_);
  }
  if ((definition_.flags & UMW_EVENT_TWO_GROUPS) != 0 && (definition_.flags & UMW_EVENT_OWN_GROUP) == 0) {
    half_ = std::move(members);
    has_half_ = true;
    return;
  }
  const std::size_t own = definition_.object;
  if (own >= peers_.size())
    peers_.resize(own + 1);
  peers_[own] = has_half_ ? half_ : members;
  Communicator communicator{std::move(members), has_half_ ? std::move(half_) : Members{}, definition_.request, text};
  if (std::exchange(has_half_, false) && communicator.others.at(0) < communicator.members.at(0))
    std::swap(communicator.members, communicator.others); // either side says the same
  set_at(own_communicators_, own, number_of(std::move(communicator)));
}

std::uint32_t TracedCalls::number_of(Communicator communicator)
{
  const auto [found, added] =
      communicator_numbers_.try_emplace(Key{communicator.members, communicator.others, communicator.ordinal},
                                        static_cast<std::uint32_t>(communicators_.size()));
  if (added)
    communicators_.push_back(std::move(communicator));
  return found->second;
}

template <class One>
std::uint32_t TracedCalls::number_in(std::map<One, std::uint32_t>& numbers, std::vector<One>& all, One one)
{
  const auto [found, added] = numbers.try_emplace(one, static_cast<std::uint32_t>(all.size()));
  if (added)
    all.push_back(std::move(one));
  return found->second;
}

bool TracedCalls::takes(umw_event& event)
{
  last_object_ = event.object;
  switch (event.kind) {
  case UMW_EVENT_DATA:
    if (data_left_ > 0) {
      data_.append(static_cast<const char*>(umw_event_data(&event)), UMW_EVENT_DATA_BYTES);
      if (--data_left_ == 0)
        end_definition();
    }
    return true;
  case UMW_EVENT_COMMUNICATOR:
  case UMW_EVENT_FILE:
  case UMW_EVENT_FUNCTION:
    begin_definition(event);
    return true;
  case UMW_EVENT_SEND:
  case UMW_EVENT_RECEIVE_BEGUN:
  case UMW_EVENT_RECEIVED:
  case UMW_EVENT_COLLECTIVE_END:
    event.object = look_up(own_communicators_, event.object);
    return false;
  case UMW_EVENT_WINDOW_MADE: {
    const std::uint32_t on = look_up(own_communicators_, event.request);
    set_at(own_windows_, event.object, number_in(window_numbers_, windows_, Window{on, made_[on]++}));
    event.object = own_windows_[event.object];
    return false;
  }
  case UMW_EVENT_WINDOW_FREED:
  case UMW_EVENT_RMA:
  case UMW_EVENT_RMA_DONE:
    event.object = look_up(own_windows_, event.object);
    return false;
  default:
    break;
  }
  if (event.kind >= UMW_EVENT_FILE_OPENED && event.kind <= UMW_EVENT_IO_END)
    event.object = look_up(own_files_, event.object);
  else if (event.function >= UMW_EVENT_FUNCTIONS)
    event.function =
        static_cast<std::uint16_t>(UMW_EVENT_FUNCTIONS + look_up(own_functions_, event.function - UMW_EVENT_FUNCTIONS));
  return false;
}

std::string TracedCalls::function_name(std::uint32_t function) const
{
  return function < UMW_EVENT_FUNCTIONS ? std::string(mpi::function_name(function))
                                        : functions_.at(function - UMW_EVENT_FUNCTIONS);
}

std::int64_t TracedCalls::peer_of(const umw_event& event) const
{
  return last_object_ < peers_.size() ? peers_[last_object_].at(event.peer) : -1;
}

} // namespace umwelt::observe
