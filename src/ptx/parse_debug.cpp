// SPDX-License-Identifier: Apache-2.0
// Source positions: .loc with the calls that the front-end compiler inlined, and the names of their functions, which
// stand in the section .debug_str (PTX ISA, Debugging Directives).
#include <charconv>

#include "ptx/parser.h"

namespace us::ptx {

// The outermost call comes first: the position named behind inlined_at is the last one of this function that is written
// so. LLVM counts a line up for each statement of inline assembly, whatever lines it stands on in the source: such a
// statement is of the line that was named before.
void Parser::loc_directive() {
  const bool counted = lex_.in_inline_assembly();
  const bool intermediate = cur_.text == ".loc_intermediate";  // a line of what the compiler made of the source
  const SrcLoc before = line_;
  advance();
  u32 v[3] = {};
  for (u32& x : v)
    if (!constant_u32(x, "a source position")) return;
  if (intermediate) return;
  line_ = {v[0], v[1], v[2]};
  std::string label;
  SrcLoc call;
  while (accept(',')) {
    if (cur_.kind != Token::Kind::Word) {
      unexpected("function_name or inlined_at");
      return;
    }
    const bool at = cur_.text == "inlined_at";
    advance();
    if (at ? !inlined_at(call) : !function_name(label)) return;
  }
  if (call.line) {
    auto& calls = module_->inlined;
    const auto [it, fresh] = inlined_calls_.try_emplace({label, {call.file, call.line, call.col, call.inlined}},
                                                        static_cast<u32>(calls.size()));
    if (fresh) calls.push_back({label, call});
    line_.inlined = it->second;
  }
  lines_[{v[0], v[1], v[2]}] = line_;
  if (counted && before.line) line_ = before;
}

bool Parser::inlined_at(SrcLoc& call) {
  u32 v[3] = {};
  for (u32& x : v)
    if (!constant_u32(x, "a source position")) return false;
  const auto it = lines_.find({v[0], v[1], v[2]});
  call = it != lines_.end() ? it->second : SrcLoc{v[0], v[1], v[2]};
  return true;
}

bool Parser::function_name(std::string& label) {
  if (cur_.kind != Token::Kind::Word) {
    unexpected("a label");
    return false;
  }
  label = cur_.text;
  advance();
  i64 offset = 0;
  if (!offset_suffix(offset)) return false;
  if (offset) label += '+' + std::to_string(offset);
  return true;
}

void Parser::section() {
  const SrcLoc loc = cur_.loc();
  const bool named = cur_.text == ".section";
  advance();
  if (named && cur_.kind != Token::Kind::Directive && cur_.kind != Token::Kind::Word) {
    unexpected("a section name");
    return skip_statement();
  }
  const bool strings = named && cur_.text == ".debug_str";
  if (named) advance();
  if (!cur_.is('{')) {
    unexpected("'{' after the section name");
    return skip_statement();
  }
  have_ahead_ = false;
  std::string_view inside;
  if (!lex_.braces(inside)) error(loc, "this section has no closing '}'");
  if (strings) debug_strings(inside);
  advance();
}

// Labels and lists of .b8 numbers; what is none of them is passed over, as in other sections.
void Parser::debug_strings(std::string_view s) {
  std::string* at = nullptr;
  std::size_t pos = 0;
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ','; };
  while (pos < s.size()) {
    if (blank(s[pos])) {
      ++pos;
      continue;
    }
    std::size_t end = pos;
    while (end < s.size() && !blank(s[end])) ++end;
    const std::string_view word = s.substr(pos, end - pos);
    pos = end;
    if (word.ends_with(':')) {
      at = &debug_strings_[std::string(word.substr(0, word.size() - 1))];
      at->clear();
    } else if (u8 c = 0; at && std::from_chars(word.data(), word.data() + word.size(), c).ec == std::errc{}) {
      *at += static_cast<char>(c);
    }
  }
}

void Parser::name_inlined_functions() {
  for (ir::InlinedCall& call : module_->inlined) {
    const std::size_t plus = call.function.find('+');
    const auto it = debug_strings_.find(std::string_view(call.function).substr(0, plus));
    std::size_t skip = 0;
    if (plus != std::string::npos)
      std::from_chars(call.function.data() + plus + 1, call.function.data() + call.function.size(), skip);
    const bool known = it != debug_strings_.end() && skip < it->second.size();
    call.function = known ? std::string(it->second.c_str() + skip) : std::string();
  }
}

}  // namespace us::ptx
