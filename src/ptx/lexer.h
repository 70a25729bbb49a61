// SPDX-License-Identifier: Apache-2.0
// PTX tokens, produced on demand. A mnemonic with its modifiers ("ld.global.u32"), a register with its component
// ("%tid.x") and a directive (".reg") are one token each.
#pragma once
#include <string_view>

#include "base/types.h"

namespace us::ptx {

struct Token {
  enum class Kind : u8 { End, Word, Directive, Int, F32, F64, String, Punct, Bad };
  Kind kind = Kind::End;
  bool is_unsigned = false;  // Int with suffix U
  char punct = 0;            // Punct: the character; two-character operators: first character, `punct2` the second
  char punct2 = 0;
  u32 line = 1, col = 1;
  std::string_view text;  // Word, Directive (with its dot), String (inside the quotes); Bad: what is wrong
  u64 bits = 0;           // Int, F32, F64
  bool is(char c) const { return kind == Kind::Punct && punct == c && punct2 == 0; }
  bool is(char a, char b) const { return kind == Kind::Punct && punct == a && punct2 == b; }
  SrcLoc loc() const { return {0, line, col}; }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  Token next();
  // Skips to behind the '}' that matches a '{' already consumed; `inside` is what lies between. False: text ended.
  bool braces(std::string_view& inside);
  // Between the comments that compilers put around inline assembly.
  bool in_inline_assembly() const { return inline_assembly_; }

 private:
  void skip_blank();
  bool skip_comment();
  void skip_line();
  void look_for_inline_assembly(std::string_view comment);
  Token word(Token t);
  Token number(Token t);
  Token hex_float(Token t, u32 digits);
  Token decimal_float(Token t, std::size_t end);
  Token string(Token t);
  Token character(Token t);
  Token punct(Token t);
  char at(std::size_t k) const { return pos_ + k < text_.size() ? text_[pos_ + k] : '\0'; }

  std::string_view text_;
  std::size_t pos_ = 0, line_start_ = 0;
  u32 line_ = 1;
  bool inline_assembly_ = false;
};

}  // namespace us::ptx
