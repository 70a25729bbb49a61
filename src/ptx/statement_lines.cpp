// SPDX-License-Identifier: Apache-2.0
#include "ptx/statement_lines.h"

#include <cctype>

namespace us::ptx {
namespace {

bool blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
// Not .local.
bool is_location(std::string_view s) { return s.starts_with(".loc") && s.size() > 4 && blank(s[4]); }

// Inside of bodies a line ends behind a statement, a label, a brace of a scope, and a directive without semicolon.
class Printer {
 public:
  explicit Printer(std::string_view text) : text_(text) {}

  std::string run() {
    while (at_ < text_.size()) {
      if (comment()) continue;
      if (text_[at_] == '"')
        string();
      else
        character(text_[at_++]);
    }
    return std::move(out_);
  }

 private:
  bool comment() {
    const std::string_view rest = text_.substr(at_);
    const bool line = rest.starts_with("//");
    if (!line && !rest.starts_with("/*")) return false;
    const std::size_t end = line ? rest.find('\n') : rest.find("*/", 2);
    at_ = end == rest.npos ? text_.size() : at_ + end + (line ? 0 : 2);
    if (!line && (begun_ || !body_)) put(' ');
    return true;
  }

  void string() {
    const std::size_t end = text_.find('"', at_ + 1);
    const std::size_t behind = end == text_.npos ? text_.size() : end + 1;
    out_.append(text_.substr(at_, behind - at_));
    begun_ = true;
    at_ = behind;
  }

  void put(char c) { out_ += c; }
  void end_line() {
    if (!out_.empty() && out_.back() != '\n') out_ += '\n';
    begun_ = until_newline_ = false;
  }

  void character(char c) {
    if (!body_) return outside(c);
    if (c == '\n') {
      if (until_newline_)
        end_line();
      else if (begun_)
        put(' ');
      return;
    }
    if (blank(c)) {
      if (begun_) put(c);
      return;
    }
    if (!begun_ && (c == '{' || c == '}')) return scope(c);
    if (!begun_) until_newline_ = directive_line(), statement_ = out_.size();
    begun_ = true;
    put(c);
    if (c == ';' || (c == ':' && label())) end_line();
  }

  // "name:", but not the first half of "::".
  bool label() const {
    if (at_ < text_.size() && text_[at_] == ':') return false;
    const std::string_view word = std::string_view(out_).substr(statement_, out_.size() - 1 - statement_);
    return word.find_first_of(" \t.:@") == word.npos;
  }

  // .loc and .file end with their line.
  bool directive_line() const {
    const std::string_view rest = text_.substr(at_ - 1);
    return is_location(rest) || rest.starts_with(".loc_intermediate") || rest.starts_with(".file");
  }

  void scope(char c) {
    put(c);
    end_line();
    depth_ += c == '{' ? 1 : -1;
    body_ = depth_ > 0;
  }

  // A brace behind .entry or .func opens a body, unless the semicolon of a declaration comes first.
  void outside(char c) {
    const bool word = !blank(c) && (at_ < 2 || blank(text_[at_ - 2]));
    const std::string_view rest = text_.substr(at_ - 1);
    if (word && (rest.starts_with(".entry") || rest.starts_with(".func"))) head_ = true;
    if (c == ';') head_ = false;
    put(c);
    if (c != '{' || !head_) return;
    head_ = false;
    body_ = true;
    depth_ = 1;
    end_line();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
  bool head_ = false, body_ = false;
  bool begun_ = false;          // a statement
  bool until_newline_ = false;  // that ends with its line
  int depth_ = 0;
  std::size_t statement_ = 0;  // where it begins in out_
};

}  // namespace

std::string one_statement_per_line(std::string_view text) { return Printer(text).run(); }

std::string without_locations(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const std::size_t word = line.find_first_not_of(" \t");
    if (word == line.npos || !is_location(line.substr(word))) out += line;
    if (end == text.npos) break;
    out += '\n';
    text.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace us::ptx
