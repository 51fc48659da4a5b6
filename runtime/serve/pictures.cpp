// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/serve/pictures.h"

#include <utility>
#include <vector>

#include "runtime/report/page.h"

namespace umwelt::serve
{

using Json = nlohmann::ordered_json;

Pictures::Pictures(std::string nonce) : nonce_(std::move(nonce)), data_(report::page_data({}))
{
  data_["now"] = {{"state", "starting"}};
}

bool Pictures::take(const std::string& state)
{
  Json told = Json::parse(state, nullptr, false);
  if (!told.is_object() || !told.contains("now") || !told.contains("report"))
    return false;
  const Json& programs = told["report"]["programs"];
  const std::string name =
      programs.is_array() && !programs.empty() && programs[0].is_string() ? programs[0].get<std::string>() : "run";
  const std::vector<report::Run> runs{{name, std::move(told["report"])}};
  data_ = report::page_data(runs);
  data_["now"] = std::move(told["now"]);
  page_.reset();
  state_.reset();
  return true;
}

const std::string& Pictures::page()
{
  if (!page_)
    page_ = report::page_of(data_, nonce_);
  return *page_;
}

const std::string& Pictures::state()
{
  if (!state_)
    state_ = data_.dump(-1, ' ', false, Json::error_handler_t::replace);
  return *state_;
}

} // namespace umwelt::serve
