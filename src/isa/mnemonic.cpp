// SPDX-License-Identifier: Apache-2.0
#include "isa/mnemonic.h"

#include <map>

#include "isa/pattern.h"

namespace us::isa {
namespace {

using detail::Word;

std::string_view set_named(std::string_view name) {
  static const std::map<std::string_view, std::string_view> sets = {
#define US_SET(name, alternatives) {#name, alternatives},
#include "isa/sets.inc"
#undef US_SET
  };
  const auto it = sets.find(name);
  return it == sets.end() ? std::string_view{} : it->second;
}

// Goes through the words of a pattern and keeps those that the instruction has.
class Speller {
 public:
  Speller(const TokSet& toks, std::span<const Type> types) : left_(toks), types_(types) {}

  void walk(std::string_view pattern) {
    constexpr std::string_view kEnds = ".|{}()<>";
    for (std::size_t at = 0; at < pattern.size();) {
      const std::size_t end = std::min(pattern.find_first_of(kEnds, at + 1), pattern.size());
      const std::string_view word = pattern.substr(at + 1, end - at - 1);
      if (pattern[at] == '<') walk(set_named(word));
      if (pattern[at] == '.') take(word);
      at = end;
    }
  }
  std::string text;

 private:
  void take(std::string_view word) {
    const Word w = detail::word_from(word);
    const Tok tok = detail::tok_of_word(w);
    const Type type = detail::type_of_word(w);
    const bool modifier = tok != Tok::None && left_[static_cast<std::size_t>(tok)];
    const bool next = type != Type::None && !types_.empty() && types_[0] == type;
    if (!modifier && !next) return;
    if (modifier) left_[static_cast<std::size_t>(tok)] = false;
    if (next) types_ = types_.subspan(1);
    text += "." + std::string(word);
  }

  TokSet left_;
  std::span<const Type> types_;
};

}  // namespace

std::string mnemonic(Form form, const TokSet& toks, std::span<const Type> types) {
  const std::string_view pattern = info(form).pattern;
  const std::size_t head = std::min(pattern.find_first_of(".{(<"), pattern.size());
  Speller s(toks, types);
  s.walk(pattern.substr(head));
  return std::string(pattern.substr(0, head)) + s.text;
}

}  // namespace us::isa
