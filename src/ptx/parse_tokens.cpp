// SPDX-License-Identifier: Apache-2.0
// The parser's view of tokens: look-ahead, expectations, errors, and where parsing resumes after an error.
#include "ptx/parser.h"

namespace us::ptx {

const Token& Parser::ahead() {
  if (!have_ahead_) {
    ahead_ = lex_.next();
    have_ahead_ = true;
  }
  return ahead_;
}

bool Parser::accept(char c) {
  if (!cur_.is(c)) return false;
  advance();
  return true;
}

bool Parser::accept_directive(std::string_view text) {
  if (!at_directive(text)) return false;
  advance();
  return true;
}

bool Parser::expect(char c, const char* where) {
  if (accept(c)) return true;
  return error(cur_.loc(), std::string("expected '") + c + "' " + where + ", found " + describe(cur_));
}

std::string Parser::describe(const Token& t) const {
  switch (t.kind) {
    case Token::Kind::End:
      return "the end of the text";
    case Token::Kind::Bad:
      return "a malformed token (" + std::string(t.text) + ")";
    case Token::Kind::String:
      return "a string";
    case Token::Kind::Int:
    case Token::Kind::F32:
    case Token::Kind::F64:
      return "a number";
    default:
      return "'" + std::string(t.text) + "'";
  }
}

bool Parser::error(SrcLoc loc, std::string message) {
  constexpr std::size_t kMaxDiags = 1000;
  if (diags_.size() < kMaxDiags)
    diags_.push_back({Diag::Kind::Error, loc, std::move(message)});
  else if (diags_.size() == kMaxDiags)
    diags_.push_back({Diag::Kind::Note, loc, "further errors are not listed"});
  return false;
}

bool Parser::unexpected(const char* expected) {
  return error(cur_.loc(), std::string("expected ") + expected + ", found " + describe(cur_));
}

void Parser::skip_statement() {
  u32 depth = 0;
  while (cur_.kind != Token::Kind::End) {
    if (cur_.is('{')) ++depth;
    if (cur_.is('}')) {
      if (depth == 0 && !scopes_.empty()) return;
      if (depth > 0) --depth;
      if (depth == 0 && scopes_.empty()) return advance();
    }
    const bool done = cur_.is(';') && depth == 0;
    advance();
    if (done) return;
  }
}

bool Parser::end_statement() {
  if (accept(';')) return true;
  unexpected("';'");
  skip_statement();
  return false;
}

}  // namespace us::ptx
