// SPDX-License-Identifier: Apache-2.0
#include "table.h"

#include <map>

namespace fuzz {

using namespace us;
using isa::OperandSpec;
using isa::Type;

std::string_view set_named(std::string_view name) {
  static const std::map<std::string_view, std::string_view> sets = {
#define US_SET(name, alternatives) {#name, alternatives},
#include "isa/sets.inc"
#undef US_SET
  };
  return sets.at(name);
}

namespace {
bool usable(isa::Form f) {
  const isa::FormInfo& i = isa::info(f);
  static const std::vector<std::string_view> not_these = {"txq",
                                                          "txq_level",
                                                          "suq",
                                                          "isspacep",
                                                          "cvta",
                                                          "mapa",
                                                          "cvta_to",
                                                          "istypep",
                                                          "getctarank",
                                                          "fns",
                                                          "mov",
                                                          "createpolicy_fractional",
                                                          "mbarrier_pending_count",
                                                          "createpolicy_range",
                                                          "createpolicy_cvt"};
  if (i.effects != isa::kPure || !i.needs.empty() || i.semantics == "none") return false;
  for (auto n : not_these)
    if (i.id == n) return false;
  const auto& list = isa::operands_of(f);
  if (list.takes_vec || list.specs.empty()) return false;
  for (const OperandSpec& s : list.specs)
    if (s.address || s.condition_code || s.copy_of >= 0 || s.in_bracket || s.vector ||
        s.want == OperandSpec::Want::Any || s.want == OperandSpec::Want::AnyAddress)
      return false;
  return true;
}
}  // namespace

const std::vector<isa::Form>& forms() {
  static const std::vector<isa::Form> all = [] {
    std::vector<isa::Form> v;
    for (u32 k = 1; k < static_cast<u32>(isa::Form::Count); ++k)
      if (usable(static_cast<isa::Form>(k))) v.push_back(static_cast<isa::Form>(k));
    return v;
  }();
  return all;
}

Type type_of(const OperandSpec& s, const isa::Match& m) {
  switch (s.want) {
    case OperandSpec::Want::Fixed:
      return s.type;
    case OperandSpec::Want::Indexed:
      return m.types[s.index];
    case OperandSpec::Want::Wide:
      return isa::bits_of(m.types[0]) == 16 ? Type::b32 : Type::b64;
    default:
      return Type::b32;
  }
}
u32 register_bits(const OperandSpec& s, Type t) {
  const u32 bits = isa::bits_of(t);
  return bits == 8 && s.wider ? 16 : bits;
}

namespace {
class Speller {
 public:
  explicit Speller(std::string_view pattern) : p_(pattern) {}

  std::vector<std::string> choices(char end = 0) {
    std::vector<std::string> all, now(1);
    while (at_ < p_.size() && p_[at_] != end) {
      const char c = p_[at_++];
      if (c == '|') {
        all.insert(all.end(), now.begin(), now.end());
        now.assign(1, "");
      } else if (c == '(') {
        product(now, choices(')'));
        ++at_;
      } else if (c == '{') {
        std::vector<std::string> x = choices('}');
        ++at_;
        x.insert(x.begin(), "");
        product(now, x);
      } else if (c == '<') {
        const std::size_t close = p_.find('>', at_);
        product(now, every_spelling(set_named(p_.substr(at_, close - at_))));
        at_ = close + 1;
      } else {
        for (std::string& s : now) s += c;
      }
    }
    all.insert(all.end(), now.begin(), now.end());
    return all;
  }

 private:
  static void product(std::vector<std::string>& now, const std::vector<std::string>& next) {
    std::vector<std::string> out;
    for (const std::string& a : now)
      for (const std::string& b : next) out.push_back(a + b);
    now = std::move(out);
  }

  std::string_view p_;
  std::size_t at_ = 0;
};
}  // namespace

std::vector<std::string> every_spelling(std::string_view pattern) { return Speller(pattern).choices(); }

}  // namespace fuzz
