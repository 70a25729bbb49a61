// SPDX-License-Identifier: Apache-2.0
#include "sass/opcodes.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace us::sass {
namespace {

struct Row {
  u16 code;
  const char *forms, *name, *modifiers, *operands;
  Family family;
  Flow flow;
};
constexpr Row kRows[] = {
#define US_SASS(code, forms, name, modifiers, operands, family, flow) \
  {0x##code, forms, name, modifiers, operands, Family::family, Flow::flow},
#include "sass/opcodes.inc"
#undef US_SASS
};

std::vector<std::string_view> split(std::string_view s, char separator) {
  std::vector<std::string_view> out;
  while (true) {
    const auto at = s.find(separator);
    out.push_back(s.substr(0, at));
    if (at == s.npos) return out;
    s.remove_prefix(at + 1);
  }
}

// Reads what a row says; a mistake in a row is ours.
class Reader {
 public:
  explicit Reader(std::string_view s) : s_(s) {}
  bool empty() const { return s_.empty(); }
  char peek() const { return s_.empty() ? '\0' : s_.front(); }
  bool accept(char c) {
    if (peek() != c) return false;
    s_.remove_prefix(1);
    return true;
  }
  char take() {
    US_CHECK(!s_.empty());
    const char c = s_.front();
    s_.remove_prefix(1);
    return c;
  }
  u32 number() {
    u32 v = 0;
    const auto [end, error] = std::from_chars(s_.data(), s_.data() + s_.size(), v);
    US_CHECK(error == std::errc());
    s_.remove_prefix(static_cast<std::size_t>(end - s_.data()));
    return v;
  }
  bool digit() const { return peek() >= '0' && peek() <= '9'; }
  std::string_view until(char c) {
    const auto at = s_.find(c);
    US_CHECK(at != s_.npos);
    const auto part = s_.substr(0, at);
    s_.remove_prefix(at + 1);
    return part;
  }
  std::string_view rest() const { return s_; }

 private:
  std::string_view s_;
};

std::string dotted(std::string_view word) {
  if (word.empty() || word == "?") return std::string(word);
  return "." + std::string(word);
}

// ".FTZ@80", "!.32@80", "@78:2=,RM,RP,RZ", ".LUT"
Modifier modifier_of(std::string_view text) {
  Modifier m;
  if (text.starts_with("N@")) m.tile = true;
  const bool inverted = text.starts_with('!');
  if (inverted) text.remove_prefix(1);
  const auto at = text.find('@');
  if (at == text.npos) {
    m.values = {std::string(text)};
    return m;
  }
  Reader r(text.substr(at + 1));
  m.field.at = static_cast<u8>(r.number());
  m.field.width = r.accept(':') ? static_cast<u8>(r.number()) : u8{1};
  if (r.accept('+')) m.low_bit = static_cast<u8>(r.number());
  if (m.tile) return m;
  if (!r.accept('=')) {
    const std::string word(text.substr(0, at));
    m.values = inverted ? std::vector<std::string>{word, ""} : std::vector<std::string>{"", word};
    return m;
  }
  for (const auto v : split(r.rest(), ',')) m.values.push_back(dotted(v));
  return m;
}

Pattern pattern_of(std::string_view text) {
  Pattern p;
  Reader r(text);
  if (r.accept('{')) {
    p.only_if_value = !r.accept('!');
    p.only_if = {static_cast<u8>(r.number()), 1};
    US_CHECK(r.accept('}'));
  }
  p.high_form = r.accept('@');
  p.optional = r.accept('?');
  if (r.accept('\'')) {
    p.kind = '\'';
    p.literal = r.until('\'');
  } else {
    p.written = r.accept('>');
    if (p.written && r.accept('<'))
      p.read = true;
    else
      p.read = !p.written;
    p.kind = r.take();
  }
  if (p.kind == 'd') p.at = 16;
  if (p.kind == 'd') p.written = true, p.read = false;
  if (r.digit()) p.at = static_cast<u8>(r.number());
  if (r.accept(':')) p.width = static_cast<u8>(r.number());
  if (r.accept('#')) p.neutral = r.number();
  while (!r.empty()) {
    if (r.accept('*'))
      p.size = r.take();
    else if (r.accept('-'))
      p.negate = true;
    else if (r.accept('|'))
      p.absolute = true;
    else if (r.accept('~'))
      p.complement = true;
    else if (r.accept('!'))
      p.negate = true;
    else {
      US_CHECK(r.accept('('));
      // "(74:2=,a,b)" is a field, "(.negA@72)" a word
      const std::string_view text = r.until(')');
      const bool word = text.starts_with('.');
      p.suffixes.push_back(modifier_of(word ? std::string(text) : "@" + std::string(text)));
    }
  }
  return p;
}

// Commas separate operands, except in the lists of values within parentheses.
std::vector<std::string_view> operands_in(std::string_view s) {
  std::vector<std::string_view> out;
  std::size_t begin = 0;
  bool inside = false;
  for (std::size_t i = 0; i <= s.size(); ++i) {
    if (i == s.size() || (s[i] == ',' && !inside)) {
      std::string_view word = s.substr(begin, i - begin);
      while (word.starts_with(' ')) word.remove_prefix(1);
      if (!word.empty()) out.push_back(word);
      begin = i + 1;
    } else if (s[i] == '(' || s[i] == ')') {
      inside = s[i] == '(';
    }
  }
  return out;
}

Opcode opcode_of(const Row& row) {
  Opcode o{.code = row.code, .name = row.name, .family = row.family, .flow = row.flow};
  for (const char* f = row.forms; *f; ++f) o.forms |= static_cast<u8>(1u << (*f - '0'));
  for (const auto word : split(row.modifiers, ' ')) {
    if (word.starts_with('~')) {
      Reader r(word.substr(1));
      const auto at = static_cast<u8>(r.number());
      o.unused.push_back({at, r.accept(':') ? static_cast<u8>(r.number()) : u8{1}});
    } else if (word == "@UP") {
      o.uniform_guard = true;
    } else if (word.starts_with('=')) {
      Reader r(word.substr(1));
      const auto at = static_cast<u8>(r.number());
      US_CHECK(r.accept(':'));
      const auto width = static_cast<u8>(r.number());
      US_CHECK(r.accept('='));
      o.conditions.push_back({{at, width}, r.number()});
    } else if (!word.empty()) {
      o.modifiers.push_back(modifier_of(word));
    }
  }
  std::string_view operands = row.operands;
  if (operands.size() > 1 && operands[1] == ';') {
    o.immediate = operands[0];
    operands.remove_prefix(2);
  }
  for (const auto text : operands_in(operands)) o.operands.push_back(pattern_of(text));
  return o;
}

struct Table {
  std::vector<Opcode> rows;
  std::array<std::vector<u16>, 4096> by_code;  // in the order of the rows: the first that fits
  Table() {
    for (const Row& r : kRows) {
      rows.push_back(opcode_of(r));
      for (u32 form = 0; form < 8; ++form)
        if (rows.back().forms >> form & 1) by_code[form << 9 | r.code].push_back(static_cast<u16>(rows.size() - 1));
    }
  }
};

const Table& table() {
  static const Table t;
  return t;
}

}  // namespace

std::string_view name_of(Family f) {
  constexpr std::string_view names[] = {"integer",    "float",     "double",  "half",    "convert", "special",
                                        "move",       "predicate", "matrix",  "load",    "store",   "atomic",
                                        "async copy", "mbarrier",  "texture", "surface", "warp",    "barrier",
                                        "fence",      "control",   "other"};
  return names[static_cast<int>(f)];
}

const Opcode* find_opcode(Word w) {
  for (const u16 i : table().by_code[w.field(0, 12)]) {
    const Opcode& o = table().rows[i];
    if (std::ranges::all_of(o.conditions, [&](auto& c) { return w.field(c.field.at, c.field.width) == c.value; }))
      return &o;
  }
  return nullptr;
}

const std::vector<Opcode>& all_opcodes() { return table().rows; }

}  // namespace us::sass
