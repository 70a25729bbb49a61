// SPDX-License-Identifier: Apache-2.0
#include "sass/anchors.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace us::sass {
namespace {

struct Row {
  std::string_view instructions, forms;
};
constexpr Row kRows[] = {
#define US_ANCHOR(instructions, forms) {instructions, forms},
#include "sass/anchors.inc"
#undef US_ANCHOR
};

template <class F>
bool any_word(std::string_view words, F&& f) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (f(words.substr(0, end))) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

bool begins(std::string_view id, std::string_view form) {
  return id.starts_with(form) && (id.size() == form.size() || id[form.size()] == '_');
}

// Parameters are constants in machine code, and reading one is arithmetic.
bool of_parameters(const ir::Inst& i) { return i.has(isa::Tok::param); }

bool adds(std::string_view name) {
  constexpr std::string_view names[] = {"IADD3", "UIADD3", "VIADD", "IMAD", "UIMAD", "LEA", "ULEA"};
  return std::ranges::find(names, name) != std::end(names);
}

constexpr u64 kMostSteps = 64;

}  // namespace

std::string_view base_name(const Instruction& i) {
  const std::string_view name = i.name;
  return name.substr(0, name.find('.'));
}

bool is_anchor(const Instruction& i, const Program::Statement& s) {
  if (!s.inst || i.guard.never() || s.inst->form == isa::Form::Unknown || of_parameters(*s.inst)) return false;
  const std::string_view name = base_name(i), id = isa::info(s.inst->form).id;
  return std::ranges::any_of(kRows, [&](const Row& r) {
    return any_word(r.instructions, [&](std::string_view w) { return w == name; }) &&
           any_word(r.forms, [&](std::string_view w) { return begins(id, w); });
  });
}

u64 induction_step(const Program::Statement& s) {
  using Kind = ir::Operand::Kind;
  if (!s.inst) return 0;
  const ir::Inst& i = *s.inst;
  if ((i.form != isa::Form::add_int && i.form != isa::Form::sub_int) || i.ops.size() < 3) return 0;
  if (i.ops[0].kind != Kind::Value || i.ops[1].kind != Kind::Value || i.ops[2].kind != Kind::Imm) return 0;
  if (i.ops[0].value != i.ops[1].value) return 0;
  return static_cast<u64>(i.ops[2].imm < 0 ? -i.ops[2].imm : i.ops[2].imm);
}

u32 steps_of(const Instruction& i, u64 step) {
  if (!step || !adds(base_name(i))) return 0;
  const std::string_view text = i.operands;
  u64 most = 0;
  for (std::size_t at = text.find("0x"); at != text.npos; at = text.find("0x", at + 1)) {
    std::size_t before = at;
    if (before && text[before - 1] == '-') --before;
    if (before && text[before - 1] != ' ') continue;  // in an address, or in a name
    u64 value = 0;
    std::from_chars(text.data() + at + 2, text.data() + text.size(), value, 16);
    if (value >= u64{1} << 31 && value < u64{1} << 32) value = (u64{1} << 32) - value;
    if (value && value % step == 0 && value / step <= kMostSteps) most = std::max(most, value / step);
  }
  return static_cast<u32>(most);
}

u32 vector_bytes(const Program::Statement& s) {
  using isa::Tok;
  if (!s.inst || !isa::info(s.inst->form).id.starts_with("ld")) return 0;
  const u32 words = s.inst->has(Tok::v2) ? 2 : s.inst->has(Tok::v4) ? 4 : s.inst->has(Tok::v8) ? 8 : 0;
  return words * isa::bits_of(s.inst->type()) / 8;
}

Place place_of(const Instruction& i) {
  const std::string_view text = i.operands;
  const std::size_t begin = text.rfind('[') + 1, end = text.find(']', begin);  // "R2, desc[UR4][R2.64+0xc]"
  if (begin == 0 || end == text.npos) return {};
  const std::string_view inner = text.substr(begin, end - begin);
  const std::size_t at = inner.find("0x");
  if (at == inner.npos) return {inner, 0};
  i64 value = 0;
  std::from_chars(inner.data() + at + 2, inner.data() + inner.size(), value, 16);
  const bool minus = at && inner[at - 1] == '-';
  return {inner.substr(0, at ? at - 1 : 0), minus ? -value : value};
}

}  // namespace us::sass
