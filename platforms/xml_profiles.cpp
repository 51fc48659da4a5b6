// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platforms/xml_profiles.h"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "runtime/base/parameters.h"

namespace umwelt::platform
{

namespace
{

constexpr std::size_t none = std::string_view::npos;
constexpr const char* blanks = " \t\r\n";

std::string unescaped(std::string_view text)
{
  static constexpr std::array<std::pair<std::string_view, char>, 5> entities{
      {{"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}, {"&amp;", '&'}}};
  std::string plain;
  while (!text.empty()) {
    const auto* const entity =
        std::find_if(entities.begin(), entities.end(), [text](const auto& one) { return text.starts_with(one.first); });
    plain += entity == entities.end() ? text.front() : entity->second;
    text.remove_prefix(entity == entities.end() ? 1 : entity->first.size());
  }
  return plain;
}

// A place in the text, from `begin` up to, not including, `end`.
struct Piece {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct Tag {
  std::string_view name;
  struct Attribute {
    std::string value;
    Piece place; // of name and value
  };
  std::map<std::string, Attribute, std::less<>> attributes;
  Piece place;
  bool empty = false; // "<.../>": without an end tag

  [[nodiscard]] std::string value(std::string_view key) const
  {
    const auto found = attributes.find(key);
    return found == attributes.end() ? std::string() : found->second.value;
  }
};

class Scanner
{
public:
  explicit Scanner(std::string_view text) : text_(text) {}

  // The next start tag. False: there is none, or what follows is no XML.
  bool next(Tag& tag)
  {
    while ((at_ = text_.find('<', at_)) != none) {
      if (skip("<!--", "-->") || skip("<![CDATA[", "]]>") || skip("<?", "?>") || skip("</", ">") || skip_doctype())
        continue;
      return read(tag);
    }
    return false;
  }

  // What stands between a start tag that was read last and its end tag.
  std::string content(const Tag& tag)
  {
    const std::size_t end = tag.empty ? none : text_.find(fmt::format("</{}", tag.name), at_);
    if (end == none)
      return {};
    std::string inside(text_.substr(at_, end - at_));
    for (const std::string_view mark : {std::string_view("<![CDATA["), std::string_view("]]>")})
      if (const auto found = inside.find(mark); found != none)
        inside.erase(found, mark.size());
    return unescaped(inside);
  }

  // From the start tag that was read last to the end of its element.
  Piece element(const Tag& tag)
  {
    if (tag.empty)
      return tag.place;
    const std::size_t end = text_.find('>', text_.find(fmt::format("</{}", tag.name), at_));
    return {tag.place.begin, end == none ? tag.place.end : end + 1};
  }

private:
  bool skip(std::string_view begin, std::string_view end)
  {
    if (!text_.substr(at_).starts_with(begin))
      return false;
    const std::size_t found = text_.find(end, at_ + begin.size());
    at_ = found == none ? text_.size() : found + end.size();
    return true;
  }

  bool skip_doctype() // which may have declarations in brackets
  {
    if (!text_.substr(at_).starts_with("<!"))
      return false;
    const std::size_t end = text_.find('>', at_);
    const std::size_t inside = text_.find('[', at_);
    return skip("<!", inside < end ? "]>" : ">");
  }

  bool read(Tag& tag)
  {
    tag = Tag();
    tag.place.begin = at_++;
    tag.name = word();
    while (true) {
      at_ = text_.find_first_not_of(blanks, at_);
      if (at_ == none)
        return false;
      if (text_[at_] == '>' || text_[at_] == '/') {
        tag.empty = text_[at_] == '/';
        at_ = text_.find('>', at_);
        if (at_ == none)
          return false;
        tag.place.end = ++at_;
        return true;
      }
      if (!read_attribute(tag))
        return false;
    }
  }

  bool read_attribute(Tag& tag)
  {
    const std::size_t begin = at_;
    const std::string name(word());
    const std::size_t equals = text_.find_first_not_of(blanks, at_);
    if (name.empty() || equals == none || text_[equals] != '=')
      return false;
    const std::size_t quote = text_.find_first_not_of(blanks, equals + 1);
    if (quote == none || (text_[quote] != '"' && text_[quote] != '\''))
      return false;
    const std::size_t end = text_.find(text_[quote], quote + 1);
    if (end == none)
      return false;
    tag.attributes[name] = {unescaped(text_.substr(quote + 1, end - quote - 1)), {begin, end + 1}};
    at_ = end + 1;
    return true;
  }

  std::string_view word()
  {
    const std::size_t begin = at_;
    at_ = std::min(text_.find_first_of(" \t\r\n=/>", at_), text_.size());
    return text_.substr(begin, at_ - begin);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

void blank_out(std::string& text, Piece piece)
{
  for (std::size_t i = piece.begin; i < piece.end; ++i)
    if (text[i] != '\n') // messages name lines
      text[i] = ' ';
}

} // namespace

XmlText take_link_profiles(std::string_view xml)
{
  XmlText result{std::string(xml), {}};
  std::map<std::string, XmlProfile> traces;
  std::vector<std::pair<std::string, std::string>> connected; // link and trace
  Scanner scanner(xml);
  for (Tag tag; scanner.next(tag);) {
    if (tag.name == "link") {
      if (std::string file = tag.value("state_file"); !file.empty()) {
        result.profiles.push_back({tag.value("id"), std::move(file), {}, -1});
        blank_out(result.text, tag.attributes.find("state_file")->second.place);
      }
    } else if (tag.name == "trace") {
      double period = 0; // SimGrid itself refuses what is no number
      const bool repeats = parse_number(tag.value("periodicity"), period) && period > 0;
      traces[tag.value("id")] = {{}, tag.value("file"), scanner.content(tag), repeats ? period : -1};
    } else if (tag.name == "trace_connect" && tag.value("kind") == "LINK_AVAIL") {
      connected.emplace_back(tag.value("element"), tag.value("trace"));
      blank_out(result.text, scanner.element(tag));
    }
  }
  for (const auto& [link, name] : connected) {
    const auto trace = traces.find(name);
    if (trace == traces.end())
      throw std::invalid_argument(fmt::format(
          "<trace_connect kind=\"LINK_AVAIL\"> of link '{}': expected the id of a trace, got '{}'", link, name));
    result.profiles.push_back(trace->second);
    result.profiles.back().link = link;
  }
  return result;
}

} // namespace umwelt::platform
