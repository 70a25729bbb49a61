// SPDX-License-Identifier: Apache-2.0
// Patterns of instructions.inc compiled to a small backtracking program over words (private to isa/; see README.md).
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "isa/isa.h"

namespace us::isa::detail {

// A dotted word: a type, a modifier token, or neither (0).
using Word = u16;
inline constexpr Word kTypeBase = 1, kTokBase = 256;
Word word_from(std::string_view spelling);
inline Type type_of_word(Word w) {
  return w >= kTypeBase && w < kTokBase ? static_cast<Type>(w - kTypeBase) : Type::None;
}
inline Tok tok_of_word(Word w) { return w >= kTokBase ? static_cast<Tok>(w - kTokBase) : Tok::None; }

struct Op {
  enum class Kind : u8 { Word, Split, Jump, Accept } kind;
  Word word = 0;  // Word
  u16 x = 0;      // Split: first choice, Jump: target
  u16 y = 0;      // Split: second choice
};

struct Pattern {
  std::string_view head;  // first word of the mnemonic
  std::vector<Op> ops;
  // The words as written, in the order of the pattern. `reached`: most words ever consumed.
  bool match_strict(std::span<const Word> words, u32* reached) const;
  // The same words in any order; types keep their order, and so do state spaces and matrix layouts.
  bool match_any_order(std::span<const Word> words) const;
  bool mentions(Tok) const;
};
Pattern compile(std::string_view text);

}  // namespace us::isa::detail
