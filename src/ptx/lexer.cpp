// SPDX-License-Identifier: Apache-2.0
#include "ptx/lexer.h"

#include <array>
#include <charconv>
#include <cstring>

namespace us::ptx {
namespace {

enum : u8 { kIdent = 1, kDigit = 2, kHex = 4, kBlank = 8 };
constexpr std::array<u8, 256> kClass = [] {
  std::array<u8, 256> t{};
  for (int c = '0'; c <= '9'; ++c) t[c] = kIdent | kDigit | kHex;
  for (int c = 'a'; c <= 'z'; ++c) t[c] = kIdent, t[c - 32] = kIdent;
  for (int c = 'a'; c <= 'f'; ++c) t[c] |= kHex, t[c - 32] |= kHex;
  t['_'] = t['$'] = t['%'] = kIdent;
  for (int c = 128; c < 256; ++c) t[c] = kIdent;  // names may carry UTF-8
  t[' '] = t['\t'] = t['\r'] = t['\n'] = t['\v'] = t['\f'] = kBlank;
  return t;
}();
bool is(char c, u8 cls) { return kClass[static_cast<u8>(c)] & cls; }
int hex_value(char c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; }

}  // namespace

void Lexer::skip_line() {
  while (pos_ < text_.size() && text_[pos_] != '\n') ++pos_;
}

void Lexer::look_for_inline_assembly(std::string_view comment) {
  if (comment.starts_with("// begin inline asm")) inline_assembly_ = true;
  if (comment.starts_with("// end inline asm")) inline_assembly_ = false;
}

// True if there was one at the current position.
bool Lexer::skip_comment() {
  if (at(1) == '/') {
    const std::size_t start = pos_;
    skip_line();
    look_for_inline_assembly(text_.substr(start, pos_ - start));
    return true;
  }
  if (at(1) != '*') return false;
  pos_ += 2;
  while (pos_ < text_.size() && !(text_[pos_] == '*' && at(1) == '/')) {
    if (text_[pos_] == '\n') ++line_, line_start_ = pos_ + 1;
    ++pos_;
  }
  pos_ = pos_ + 2 < text_.size() ? pos_ + 2 : text_.size();
  return true;
}

void Lexer::skip_blank() {
  while (pos_ < text_.size()) {
    const char c = text_[pos_];
    if (c == '\n') {
      ++pos_;
      ++line_;
      line_start_ = pos_;
    } else if (is(c, kBlank)) {
      ++pos_;
    } else if (c == '/') {
      if (!skip_comment()) return;
    } else if ((c == '#' || (c == '@' && at(1) == '@')) && pos_ == line_start_) {
      skip_line();  // line markers of a preprocessor, and the old form of debug data
    } else {
      return;
    }
  }
}

bool Lexer::braces(std::string_view& inside) {
  const std::size_t begin = pos_;
  for (u32 depth = 1; pos_ < text_.size(); ++pos_) {
    const char c = text_[pos_];
    if (c == '\n') ++line_, line_start_ = pos_ + 1;
    if (c == '{') ++depth;
    if (c == '}' && --depth == 0) {
      inside = text_.substr(begin, pos_ - begin);
      ++pos_;
      return true;
    }
  }
  return false;
}

Token Lexer::next() {
  skip_blank();
  Token t;
  t.line = line_;
  t.col = static_cast<u32>(pos_ - line_start_ + 1);
  if (pos_ >= text_.size()) return t;
  const char c = text_[pos_];
  if (is(c, kDigit)) return number(t);
  if (is(c, kIdent)) return word(t);
  if (c == '.') {
    std::size_t digits = 1;
    while (is(at(digits), kDigit)) ++digits;
    if (digits > 1 && (!is(at(digits), kIdent) || (at(digits) | 32) == 'e')) return decimal_float(t, pos_);
    if (is(at(1), kIdent)) return word(t);
    return punct(t);
  }
  if (c == '"') return string(t);
  if (c == '\'') return character(t);
  return punct(t);
}

// A name with everything dotted behind it, or one directive.
Token Lexer::word(Token t) {
  const std::size_t start = pos_;
  const bool directive = text_[pos_] == '.';
  t.kind = directive ? Token::Kind::Directive : Token::Kind::Word;
  ++pos_;
  for (;;) {
    if (is(at(0), kIdent))
      ++pos_;
    else if (at(0) == ':' && at(1) == ':' && is(at(2), kIdent))
      pos_ += 2;
    else if (at(0) == '.' && !directive && is(at(1), kIdent))
      ++pos_;
    else
      break;
  }
  t.text = text_.substr(start, pos_ - start);
  return t;
}

Token Lexer::hex_float(Token t, u32 digits) {
  pos_ += 2;
  u32 n = 0;
  for (; n < digits && is(at(0), kHex); ++n) t.bits = t.bits << 4 | static_cast<u64>(hex_value(text_[pos_++]));
  t.kind = digits == 8 ? Token::Kind::F32 : Token::Kind::F64;
  if (n != digits || is(at(0), kIdent)) {
    while (is(at(0), kIdent)) ++pos_;
    t.kind = Token::Kind::Bad;
    t.text = digits == 8 ? "a 32-bit float literal is 0f and 8 hexadecimal digits"
                         : "a 64-bit float literal is 0d and 16 hexadecimal digits";
  }
  return t;
}

Token Lexer::decimal_float(Token t, std::size_t end) {
  while (end < text_.size() && is(text_[end], kDigit)) ++end;
  if (end < text_.size() && text_[end] == '.') ++end;
  while (end < text_.size() && is(text_[end], kDigit)) ++end;
  if (end < text_.size() && (text_[end] | 32) == 'e') {
    std::size_t e = end + 1;
    if (e < text_.size() && (text_[e] == '+' || text_[e] == '-')) ++e;
    if (e < text_.size() && is(text_[e], kDigit)) {
      while (e < text_.size() && is(text_[e], kDigit)) ++e;
      end = e;
    }
  }
  double v = 0;
  const auto r = std::from_chars(text_.data() + pos_, text_.data() + end, v);
  t.kind = Token::Kind::F64;
  if (r.ec != std::errc() && r.ec != std::errc::result_out_of_range) {
    t.kind = Token::Kind::Bad;
    t.text = "malformed number";
  }
  std::memcpy(&t.bits, &v, 8);
  pos_ = end;
  return t;
}

Token Lexer::number(Token t) {
  const char second = static_cast<char>(at(1) | 32);
  if (text_[pos_] == '0' && second == 'f' && is(at(2), kHex)) return hex_float(t, 8);
  if (text_[pos_] == '0' && second == 'd' && is(at(2), kHex)) return hex_float(t, 16);
  u32 base = 10;
  std::size_t p = pos_;
  if (text_[p] == '0' && second == 'x')
    base = 16, p += 2;
  else if (text_[p] == '0' && second == 'b')
    base = 2, p += 2;
  const std::size_t first = p;
  while (p < text_.size() && is(text_[p], base == 16 ? kHex : kDigit)) ++p;
  const char after = p < text_.size() ? text_[p] : '\0';
  if (base == 10 && (after == '.' || (after | 32) == 'e')) return decimal_float(t, pos_);
  if (base == 10 && p - first > 1 && text_[first] == '0') base = 8;
  bool ok = p > first, fits = true;
  for (std::size_t k = first; k < p; ++k) {
    const u64 d = static_cast<u64>(hex_value(text_[k]));
    ok = ok && d < base;
    fits = fits && t.bits <= (~0ull - d) / base;
    t.bits = t.bits * base + d;
  }
  if (p < text_.size() && (text_[p] == 'U' || text_[p] == 'u')) t.is_unsigned = true, ++p;
  t.kind = Token::Kind::Int;
  if (p < text_.size() && is(text_[p], kIdent)) {
    while (p < text_.size() && is(text_[p], kIdent)) ++p;
    ok = false;
  }
  pos_ = p;
  if (!ok || !fits) {
    t.kind = Token::Kind::Bad;
    t.text = ok ? "integer literal does not fit 64 bits" : "malformed number";
  }
  return t;
}

Token Lexer::string(Token t) {
  const std::size_t start = ++pos_;
  while (pos_ < text_.size() && text_[pos_] != '"' && text_[pos_] != '\n')
    pos_ += text_[pos_] == '\\' && at(1) != '\n' ? 2 : 1;
  if (pos_ >= text_.size() || text_[pos_] != '"') {
    pos_ = pos_ < text_.size() ? pos_ : text_.size();
    t.kind = Token::Kind::Bad;
    t.text = "string without closing quote";
    return t;
  }
  t.kind = Token::Kind::String;
  t.text = text_.substr(start, pos_ - start);
  ++pos_;
  return t;
}

Token Lexer::character(Token t) {
  t.kind = Token::Kind::Int;
  char c = at(1);
  std::size_t n = 2;
  if (c == '\\') {
    constexpr std::string_view from = "ntr0abfv", to("\n\t\r\0\a\b\f\v", 8);
    const std::size_t k = from.find(at(2));
    c = k == std::string_view::npos ? at(2) : to[k];
    n = 3;
  }
  t.bits = static_cast<u8>(c);
  if (at(n) != '\'') {
    t.kind = Token::Kind::Bad;
    t.text = "character literal without closing quote";
    ++pos_;
    return t;
  }
  pos_ += n + 1;
  return t;
}

Token Lexer::punct(Token t) {
  t.kind = Token::Kind::Punct;
  t.punct = text_[pos_];
  const char b = at(1);
  constexpr std::string_view twice = "<>=&|";
  const bool doubled = b == t.punct && twice.find(b) != std::string_view::npos;
  const bool with_equals = b == '=' && std::string_view("<>!").find(t.punct) != std::string_view::npos;
  if (doubled || with_equals) t.punct2 = b;
  t.text = text_.substr(pos_, t.punct2 ? 2 : 1);
  pos_ += t.text.size();
  return t;
}

}  // namespace us::ptx
