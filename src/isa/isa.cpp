// SPDX-License-Identifier: Apache-2.0
#include "isa/isa.h"

#include <algorithm>
#include <unordered_map>

#include "isa/pattern.h"

namespace us::isa {
namespace {

struct TypeRow {
  std::string_view name;
  u32 bits;
  TypeClass cls;
};
constexpr TypeRow kTypes[] = {
    {"", 0, TypeClass::None},
#define US_TYPE(id, name, bits, cls) {name, bits, TypeClass::cls},
#include "isa/types.inc"
#undef US_TYPE
};

constexpr std::string_view kToks[] = {
    "",
#define US_TOK(id, spelling) spelling,
#include "isa/tokens.inc"
#undef US_TOK
};

constexpr SRegInfo kSRegs[] = {
    {"", Type::None, 0},
#define US_SREG(id, name, type, comps) {name, Type::type, comps},
#include "isa/sregs.inc"
#undef US_SREG
};

// Leading operands whose name starts with `d`, and what follows them after '|'.
constexpr u8 count_dests(std::string_view operands) {
  u8 n = 0;
  std::size_t i = 0;
  while (i < operands.size()) {
    if (operands[i] != 'd' && !(operands[i] == '{' && i + 1 < operands.size() && operands[i + 1] == 'd')) break;
    ++n;
    while (i < operands.size() && operands[i] != ',') {
      if (operands[i] == '|') ++n;
      ++i;
    }
    ++i;
    if (i >= 2 && i <= operands.size() && operands[i - 2] == '{') break;  // "{,x}" follows
  }
  return n;
}

constexpr std::string_view semantics_name(std::string_view s) {
  return s == "sem_todo" || s.starts_with("sem_needs_") ? std::string_view("none") : s;
}
constexpr std::string_view needed_for(std::string_view s) {
  return s == "sem_needs_sm100" ? "sm_100 or newer" : s == "sem_needs_multicast" ? "a multicast object" : "";
}

constexpr FormInfo kForms[] = {
    {"unknown", "", "", kSide, kCarriesNothing, "none", "", 0},
#define US_INST(id, pattern, operands, effects, semantics) \
  {#id,                                                    \
   pattern,                                                \
   operands,                                               \
   (effects) & ~kCarry,                                    \
   static_cast<Carry>((effects)&kCarry),                   \
   semantics_name(#semantics),                             \
   needed_for(#semantics),                                 \
   count_dests(operands)},
#include "isa/instructions.inc"
#undef US_INST
};

using NameMap = std::unordered_map<std::string_view, u16>;

const NameMap& words() {
  static const NameMap map = [] {
    NameMap m;
    for (u16 i = 1; i < std::size(kTypes); ++i) m.emplace(kTypes[i].name, detail::kTypeBase + i);
    for (u16 i = 1; i < std::size(kToks); ++i) m.emplace(kToks[i], detail::kTokBase + i);
    return m;
  }();
  return map;
}

struct Table {
  std::vector<detail::Pattern> patterns;  // by Form, [0] unused
  std::unordered_map<std::string_view, std::vector<u16>> by_head;
};
const Table& table() {
  static const Table t = [] {
    Table r;
    r.patterns.resize(std::size(kForms));
    for (u16 f = 1; f < std::size(kForms); ++f) {
      r.patterns[f] = detail::compile(kForms[f].pattern);
      r.by_head[r.patterns[f].head].push_back(f);
    }
    return r;
  }();
  return t;
}

struct Split {
  std::string_view head;
  std::array<detail::Word, 31> words;
  std::array<std::string_view, 31> spelled;
  u32 count = 0;
  bool overflow = false;
};
Split split(std::string_view m) {
  Split s;
  std::size_t dot = m.find('.');
  s.head = m.substr(0, dot);
  while (dot != std::string_view::npos) {
    const std::size_t next = m.find('.', dot + 1);
    const std::string_view w = m.substr(dot + 1, next == std::string_view::npos ? next : next - dot - 1);
    if (s.count == s.words.size()) {
      s.overflow = true;
      break;
    }
    s.spelled[s.count] = w;
    s.words[s.count++] = detail::word_from(w);
    dot = next;
  }
  return s;
}

Match made(Form f, const Split& s) {
  Match m;
  m.form = f;
  for (u32 i = 0; i < s.count; ++i) {
    if (const Tok t = detail::tok_of_word(s.words[i]); t != Tok::None) m.toks.set(static_cast<std::size_t>(t));
    const Type ty = detail::type_of_word(s.words[i]);
    if (ty != Type::None && m.type_count < m.types.size()) m.types[m.type_count++] = ty;
  }
  return m;
}

}  // namespace

namespace detail {
Word word_from(std::string_view spelling) {
  const auto it = words().find(spelling);
  return it == words().end() ? 0 : it->second;
}
}  // namespace detail

u32 bits_of(Type t) { return kTypes[static_cast<int>(t)].bits; }
TypeClass class_of(Type t) { return kTypes[static_cast<int>(t)].cls; }
std::string_view name_of(Type t) { return kTypes[static_cast<int>(t)].name; }
Type type_from(std::string_view name) { return detail::type_of_word(detail::word_from(name)); }
std::string_view name_of(Tok t) { return kToks[static_cast<int>(t)]; }
Tok tok_from(std::string_view spelling) { return detail::tok_of_word(detail::word_from(spelling)); }

std::string_view name_of(Space s) {
  constexpr std::string_view names[] = {"generic", "global", "shared", "shared::cluster",
                                        "local",   "const",  "param",  "reg"};
  return names[static_cast<int>(s)];
}

const SRegInfo& info(SReg r) { return kSRegs[static_cast<int>(r)]; }
SReg sreg_from(std::string_view name) {
  static const NameMap map = [] {
    NameMap m;
    for (u16 i = 1; i < std::size(kSRegs); ++i) m.emplace(kSRegs[i].name, i);
    return m;
  }();
  const auto it = map.find(name);
  return it == map.end() ? SReg::None : static_cast<SReg>(it->second);
}

std::string need(Form f) {
  const std::string_view n = info(f).needs;
  return n.empty() ? "" : " (needs " + std::string(n) + ")";
}
const FormInfo& info(Form f) { return kForms[static_cast<int>(f)]; }

Match match(std::string_view mnemonic, std::string* expected) {
  const Split s = split(mnemonic);
  const auto candidates = table().by_head.find(s.head);
  if (candidates == table().by_head.end()) {
    if (expected) *expected = "no instruction is called '" + std::string(s.head) + "'";
    return {};
  }
  const std::span<const detail::Word> words(s.words.data(), s.count);
  u32 best = 0, best_form = candidates->second.front();
  if (!s.overflow) {
    for (const u16 f : candidates->second) {
      u32 reached = 0;
      if (table().patterns[f].match_strict(words, &reached)) return made(static_cast<Form>(f), s);
      if (reached > best) best = reached, best_form = f;
    }
    if (std::find(words.begin(), words.end(), 0) == words.end())
      for (const u16 f : candidates->second)
        if (table().patterns[f].match_any_order(words)) return made(static_cast<Form>(f), s);
  }
  if (expected) {
    *expected = "nearest form is '" + std::string(kForms[best_form].pattern) + "'";
    if (best < s.count) *expected += ", which does not take '." + std::string(s.spelled[best]) + "' here";
  }
  return {};
}

}  // namespace us::isa
