// SPDX-License-Identifier: Apache-2.0
#include "isa/operands.h"

namespace us::isa {
namespace {

class SpecParser {
 public:
  SpecParser(std::string_view text, std::vector<OperandSpec>& out) : text_(text), out_(out) {}

  void run() {
    bool optional = false, pipe = false, bracket = false, inner = false;
    while (pos_ < text_.size()) {
      const char c = text_[pos_];
      if (c == ',') {
        ++pos_;
        pipe = false;
        inner = bracket;
      } else if (c == '{' && peek(1) == ',') {
        optional = true;
        inner = bracket;
        pos_ += 2;
      } else if (c == '}') {  // closes an optional part (vectors are consumed by one())
        optional = false;
        ++pos_;
      } else if (c == '|') {
        pipe = true;
        ++pos_;
      } else if (c == '[') {
        bracket = true;
        inner = false;
        ++pos_;
      } else if (c == ']') {
        bracket = inner = false;
        ++pos_;
      } else {
        OperandSpec s = one();
        s.optional = optional || pipe;
        s.pipe = pipe;
        s.address = bracket && !inner;
        s.in_bracket = inner;
        const bool prior_dests = out_.empty() || (pipe && out_.back().dest);
        s.dest = !bracket && (pipe ? prior_dests : s.name == 'd' && prior_dests);
        out_.push_back(s);
      }
    }
  }

 private:
  char peek(std::size_t k) const { return pos_ + k < text_.size() ? text_[pos_ + k] : '\0'; }

  std::string_view word() {
    const std::size_t start = pos_;
    while (pos_ < text_.size() && std::string_view(",{}[]|~!@").find(text_[pos_]) == std::string_view::npos &&
           !(text_[pos_] == ':' && peek(1) != ':' && (pos_ == start || text_[pos_ - 1] != ':')))
      ++pos_;
    return text_.substr(start, pos_ - start);
  }

  OperandSpec one() {
    OperandSpec s;
    const std::size_t start = pos_;
    if (text_[pos_] == '%') {
      pos_ += 3;  // %cc
      s.condition_code = true;
      s.want = OperandSpec::Want::Fixed;
      s.type = Type::pred;
    } else if (text_[pos_] == '=') {
      for (std::size_t k = 0; k < out_.size(); ++k)
        if (out_[k].name == peek(1)) s.copy_of = static_cast<i8>(k);
      pos_ += 2;
      s.want = OperandSpec::Want::Any;
    } else {
      if (text_[pos_] == '{') {
        s.vector = true;
        ++pos_;
      }
      s.name = text_[pos_++];
      if (s.vector) ++pos_;
      suffixes(s);
    }
    s.text = text_.substr(start, pos_ - start);
    return s;
  }

  void suffixes(OperandSpec& s) {
    if (peek(0) == ':') {
      ++pos_;
      want(s, word());
    }
    if (peek(0) == '~') {
      s.wider = true;
      ++pos_;
    }
    if (peek(0) == '!') {
      s.register_only = true;
      ++pos_;
    }
    if (peek(0) == '@') {
      ++pos_;
      const std::string_view w = word();
      if (w == "im2col") {
        s.present_if = {Tok::im2col, Tok::im2col_w, Tok::im2col_w_128};
      } else {
        s.present_if = {tok_from(w)};
        US_CHECK(s.present_if[0] != Tok::None);
      }
    }
  }

  static void want(OperandSpec& s, std::string_view w) {
    using Want = OperandSpec::Want;
    if (w == "w")
      s.want = Want::Wide;
    else if (w == "any")
      s.want = Want::Any;
    else if (w == "addr")
      s.want = Want::AnyAddress;
    else if (w == "imm")
      s.want = Want::Literal;
    else if (w.size() == 1 && w[0] >= '0' && w[0] <= '3')
      s.index = static_cast<u8>(w[0] - '0');
    else {
      s.want = Want::Fixed;
      s.type = type_from(w);
      US_CHECK(s.type != Type::None);
    }
  }

  std::string_view text_;
  std::vector<OperandSpec>& out_;
  std::size_t pos_ = 0;
};

OperandList make(const FormInfo& f) {
  OperandList l;
  SpecParser(f.operands, l.specs).run();
  for (std::size_t k = 0; k < l.specs.size(); ++k)
    if (l.specs[k].name == 'm' && !l.specs[k].address) l.membermask = static_cast<i8>(k);
  l.takes_vec = f.pattern.find("<vec>") != std::string_view::npos || f.pattern.find(".v2") != std::string_view::npos ||
                f.pattern.find(".v4") != std::string_view::npos;
  return l;
}

}  // namespace

const OperandList& operands_of(Form f) {
  static const std::vector<OperandList> lists = [] {
    std::vector<OperandList> v;
    for (int k = 0; k < static_cast<int>(Form::Count); ++k) v.push_back(make(info(static_cast<Form>(k))));
    return v;
  }();
  return lists[static_cast<std::size_t>(f)];
}

}  // namespace us::isa
