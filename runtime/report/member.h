// SPDX-License-Identifier: LGPL-2.1-or-later
// Reading reports, which may be of another version or written by hand: what is not there, or of another kind, is null,
// zero or empty.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

namespace umwelt::report
{

inline const nlohmann::ordered_json* member(const nlohmann::ordered_json& object, const char* key)
{
  if (!object.is_object())
    return nullptr;
  const auto found = object.find(key);
  return found != object.end() ? &*found : nullptr;
}

inline const nlohmann::ordered_json* array(const nlohmann::ordered_json& object, const char* key)
{
  const nlohmann::ordered_json* value = member(object, key);
  return value != nullptr && value->is_array() ? value : nullptr;
}

inline std::int64_t as_number(const nlohmann::ordered_json& value)
{
  constexpr double most = 9e18;
  if (value.is_number_float()) { // too large a one has no integer
    const double number = value.get<double>();
    return number > -most && number < most ? static_cast<std::int64_t>(number) : 0;
  }
  return value.is_number() ? value.get<std::int64_t>() : 0;
}

inline std::int64_t number(const nlohmann::ordered_json& object, const char* key)
{
  const nlohmann::ordered_json* value = member(object, key);
  return value != nullptr ? as_number(*value) : 0;
}

// The same with a fraction.
inline double real(const nlohmann::ordered_json& object, const char* key)
{
  const nlohmann::ordered_json* value = member(object, key);
  return value != nullptr && value->is_number() ? value->get<double>() : 0;
}

inline std::string text(const nlohmann::ordered_json& object, const char* key)
{
  const nlohmann::ordered_json* value = member(object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

} // namespace umwelt::report
