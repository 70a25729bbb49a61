// SPDX-License-Identifier: Apache-2.0
#include "isa/pattern.h"

#include <bit>

namespace us::isa::detail {
namespace {

struct Set {
  std::string_view name, alternatives;
};
constexpr Set kSets[] = {
#define US_SET(name, alternatives) {#name, alternatives},
#include "isa/sets.inc"
#undef US_SET
};

std::string_view set_text(std::string_view name) {
  for (const Set& s : kSets)
    if (s.name == name) return s.alternatives;
  US_UNREACHABLE();
}

bool word_char(char c) {
  return c != '.' && c != '{' && c != '}' && c != '(' && c != ')' && c != '|' && c != '<' && c != '>';
}

// Recursive descent over the pattern text; emits into `out`.
class Compiler {
 public:
  Compiler(std::string_view text, std::vector<Op>& out) : text_(text), out_(out) {}

  std::string_view word() {
    const std::size_t start = pos_;
    while (pos_ < text_.size() && word_char(text_[pos_])) ++pos_;
    return text_.substr(start, pos_ - start);
  }

  void sequence() {
    while (pos_ < text_.size()) {
      switch (text_[pos_]) {
        case '.': {
          ++pos_;
          const Word w = word_from(word());
          US_CHECK(w != 0);
          out_.push_back({Op::Kind::Word, w, 0, 0});
          break;
        }
        case '<':
          named_set();
          break;
        case '(':
          group('(', ')', false);
          break;
        case '{':
          group('{', '}', true);
          break;
        default:
          return;
      }
    }
  }

  // Alternatives up to the end or the closing character; optional: also nothing.
  void alternatives(bool optional) {
    std::vector<std::size_t> to_end;
    for (;;) {
      const bool last = !optional && !has_more_alternatives();
      const std::size_t split = out_.size();
      if (!last) out_.push_back({Op::Kind::Split, 0, here(), 0});
      if (!last) out_[split].x = here();
      sequence();
      const bool more = pos_ < text_.size() && text_[pos_] == '|';
      if (more || optional) {
        to_end.push_back(out_.size());
        out_.push_back({Op::Kind::Jump, 0, 0, 0});
      }
      if (!last) out_[split].y = here();
      if (!more) break;
      ++pos_;
    }
    for (std::size_t j : to_end) out_[j].x = here();
  }

 private:
  u16 here() const { return static_cast<u16>(out_.size()); }

  bool has_more_alternatives() const {
    int depth = 0;
    for (std::size_t i = pos_; i < text_.size(); ++i) {
      const char c = text_[i];
      if (c == '(' || c == '{') ++depth;
      if (c == ')' || c == '}') {
        if (depth == 0) return false;
        --depth;
      }
      if (c == '|' && depth == 0) return true;
    }
    return false;
  }

  void group(char open, char close, bool optional) {
    US_CHECK(text_[pos_] == open);
    ++pos_;
    alternatives(optional);
    US_CHECK(pos_ < text_.size() && text_[pos_] == close);
    ++pos_;
  }

  void named_set() {
    ++pos_;
    const std::string_view name = word();
    US_CHECK(pos_ < text_.size() && text_[pos_] == '>');
    ++pos_;
    Compiler inner(set_text(name), out_);
    inner.alternatives(false);
  }

  std::string_view text_;
  std::vector<Op>& out_;
  std::size_t pos_ = 0;
};

struct StrictRun {
  const std::vector<Op>& ops;
  std::span<const Word> words;
  u32 reached = 0;

  bool run(u32 pc, u32 pos) {
    for (;;) {
      if (pos > reached) reached = pos;
      const Op& op = ops[pc];
      switch (op.kind) {
        case Op::Kind::Word:
          if (pos >= words.size() || words[pos] != op.word) return false;
          ++pos, ++pc;
          break;
        case Op::Kind::Jump:
          pc = op.x;
          break;
        case Op::Kind::Split:
          if (run(op.x, pos)) return true;
          pc = op.y;
          break;
        case Op::Kind::Accept:
          return pos == words.size();
      }
    }
  }
};

// Words of one class keep their order even when the rest does not.
enum class OrderClass : u8 { None, Type, Space, Layout };
OrderClass order_class(Word w) {
  if (type_of_word(w) != Type::None) return OrderClass::Type;
  switch (tok_of_word(w)) {
    case Tok::global:
    case Tok::shared:
    case Tok::shared_cta:
    case Tok::shared_cluster:
    case Tok::local:
    case Tok::const_:
    case Tok::param:
    case Tok::param_entry:
    case Tok::param_func:
      return OrderClass::Space;
    case Tok::row:
    case Tok::col:
      return OrderClass::Layout;
    default:
      return OrderClass::None;
  }
}

struct FreeRun {
  const std::vector<Op>& ops;
  std::span<const Word> words;
  u32 budget = 20000;  // a bound on backtracking: no mnemonic that means something comes near it

  bool take(Word w, u32& used) const {
    const OrderClass c = order_class(w);
    for (u32 i = 0; i < words.size(); ++i) {
      if (used >> i & 1) continue;
      if (words[i] == w) {
        used |= 1u << i;
        return true;
      }
      if (c != OrderClass::None && order_class(words[i]) == c) return false;
    }
    return false;
  }

  bool run(u32 pc, u32 used) {
    for (;;) {
      if (budget == 0) return false;
      --budget;
      const Op& op = ops[pc];
      switch (op.kind) {
        case Op::Kind::Word:
          if (!take(op.word, used)) return false;
          ++pc;
          break;
        case Op::Kind::Jump:
          pc = op.x;
          break;
        case Op::Kind::Split:
          if (run(op.x, used)) return true;
          pc = op.y;
          break;
        case Op::Kind::Accept:
          return static_cast<std::size_t>(std::popcount(used)) == words.size();
      }
    }
  }
};

}  // namespace

bool Pattern::match_strict(std::span<const Word> words, u32* reached) const {
  StrictRun r{ops, words};
  const bool ok = r.run(0, 0);
  if (reached) *reached = r.reached;
  return ok;
}

bool Pattern::match_any_order(std::span<const Word> words) const {
  if (words.size() > 31) return false;
  FreeRun r{ops, words};
  return r.run(0, 0);
}

bool Pattern::mentions(Tok t) const {
  for (const Op& op : ops)
    if (op.kind == Op::Kind::Word && tok_of_word(op.word) == t) return true;
  return false;
}

Pattern compile(std::string_view text) {
  Pattern p;
  Compiler head(text, p.ops);
  p.head = head.word();
  head.sequence();
  p.ops.push_back({Op::Kind::Accept, 0, 0, 0});
  return p;
}

}  // namespace us::isa::detail
