// SPDX-License-Identifier: Apache-2.0
// Layout shared by most instructions (bits):
//   0 opcode 9 | 9 form 3 | 12 guard 4 | 16 destination 8 | 24 a 8 | 32 b: register, immediate, constant .. | 64 c 8 |
//   72 modifiers | 81 predicates written | 87 predicate read 4 | 91 an operand is uniform | 105 control word 21
// The form says what the middle slot holds: 1 a register, 2 and 4 an immediate, 3 and 5 a constant, 6 and 7 a uniform
// register; with 2, 3, 7 it is the third source and c is the second.
#include "sass/decode.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include <fmt/format.h>

#include "sass/immediate.h"
#include "sass/special_registers.h"

namespace us::sass {
namespace {

constexpr u32 kRZ = 255, kURZ = 63, kPT = 7;

enum class Slot : u8 { Register, Immediate, Constant, Uniform };
constexpr Slot kSlots[] = {Slot::Register,  Slot::Register, Slot::Immediate, Slot::Constant,
                           Slot::Immediate, Slot::Constant, Slot::Uniform,   Slot::Uniform};

class Decoder {
 public:
  Decoder(Word word, Instruction& out) : w_(word), out_(out) {}

  void run() {
    out_.opcode = find_opcode(w_);
    get(0, 12);
    form_ = static_cast<u32>(w_.field(9, 3));
    get(105, 20), get(125, 1);
    out_.guard = {static_cast<u8>(get(12, 3)), get(15, 1) != 0};
    out_.guard.uniform = out_.opcode && out_.opcode->uniform_guard;
    if (out_.guard.predicate != kPT)
      add(out_.reads, {out_.guard.uniform ? Bank::UniformPredicate : Bank::Predicate, out_.guard.predicate, 1});
    if (!out_.opcode) {
      out_.name = fmt::format("?{:03x}", w_.field(0, 12));
      out_.unknown = w_;
      return;
    }
    for (const Field f : out_.opcode->unused) get(f.at, f.width);
    for (const auto& c : out_.opcode->conditions) get(c.field.at, c.field.width);
    out_.name = out_.opcode->name;
    for (const Modifier& m : out_.opcode->modifiers) out_.name += value_of(m);
    rename();
    find_width();
    for (const Pattern& p : out_.opcode->operands) {
      if (p.only_if.width && (get(p.only_if.at, 1) != 0) != p.only_if_value) continue;
      if (p.high_form && (!has(".HI") || has(".SX32"))) {
        get(p.kind == 'U' ? p.at : 64, 8);
        continue;
      }
      const std::string text = operand(p);
      if (text.empty()) continue;
      if (!out_.operands.empty()) out_.operands += ", ";
      out_.operands += text;
    }
    const auto is_predicate = [](const Access& a) {
      return a.bank == Bank::Predicate || a.bank == Bank::UniformPredicate;
    };
    out_.conditional =
        !out_.guard.always() || has(".DIV") || has(".CONV") || std::ranges::any_of(out_.reads, is_predicate);
    out_.unknown = {w_.lo & ~used_.lo, w_.hi & ~used_.hi};
  }

 private:
  u64 get(u32 at, u32 width) {
    used_.mark(at, width);
    return w_.field(at, width);
  }

  std::string value_of(const Modifier& m) {
    if (!m.field.width) return m.values[0];
    u64 v = get(m.field.at, m.field.width);
    if (m.low_bit) v = v << 1 | get(m.low_bit, 1);
    if (m.tile) return fmt::format(".64x{}", 8 * (v + 1));
    if (v < m.values.size() && m.values[v] != "?") return m.values[v];
    out_.unknown_value = true;
    return fmt::format(".?{}={}", m.field.at, v);
  }

  bool has(std::string_view modifier) const {
    const auto at = out_.name.find(modifier);
    return at != std::string::npos &&
           (at + modifier.size() == out_.name.size() || out_.name[at + modifier.size()] == '.');
  }

  // A multiplication that moves, adds or shifts is printed as what it does.
  void rename() {
    if (out_.opcode->name != "IMAD" || out_.opcode->code != 0x24) return;
    const Slot slot = kSlots[form_];
    const bool b_middle = !third_in_middle();
    const auto b_is = [&](u32 v) { return b_middle && slot == Slot::Immediate && w_.field(32, 32) == v; };
    const bool a_zero = w_.field(24, 8) == kRZ, c_zero = b_middle && w_.field(64, 8) == kRZ;
    const bool b_zero = b_is(0) || (b_middle ? slot == Slot::Register && w_.field(32, 8) == kRZ
                                             : slot != Slot::Uniform && w_.field(64, 8) == kRZ);
    const u64 v = w_.field(32, 32);
    const bool shift = b_middle && slot == Slot::Immediate && std::has_single_bit(v) && v != 1 << 16 && v != 1u << 31;
    if (w_.bit(74)) return;
    const char* what = (a_zero && b_zero) || (b_is(1) && (a_zero || c_zero)) ? ".MOV"
                       : b_is(1)                                             ? ".IADD"
                       : shift && c_zero                                     ? ".SHL"
                                                                             : "";
    out_.name.insert(4, what);
  }

  void find_width() {
    Memory& m = out_.memory;
    const auto family = out_.opcode->family;
    if (family != Family::Load && family != Family::Store && family != Family::Atomic && family != Family::AsyncCopy &&
        family != Family::Mbarrier && family != Family::Matrix && family != Family::Surface)
      return;
    bytes_ = 4;
    for (const auto& [word, bytes] : {std::pair{".U8", 1},
                                      {".S8", 1},
                                      {".U16", 2},
                                      {".S16", 2},
                                      {".64", 8},
                                      {".U64", 8},
                                      {".S64", 8},
                                      {".F64", 8},
                                      {".F32x2", 8},
                                      {".F32x4", 16},
                                      {".F16x4", 8},
                                      {".BF16x4", 8},
                                      {".F16x8", 16},
                                      {".BF16x8", 16},
                                      {".128", 16}})
      if (has(word)) bytes_ = bytes;
    if (out_.opcode->name == "SYNCS" || out_.opcode->name == "ARRIVES") bytes_ = 8;
    m.bytes = static_cast<u8>(bytes_);
  }

  // ---- registers
  static void add(std::vector<Access>& list, Access a) {
    if (std::ranges::find(list, a) == list.end()) list.push_back(a);
  }
  void touch(const Pattern& p, Bank bank, u32 index, u32 count) {
    const Access a{bank, static_cast<u8>(index), static_cast<u8>(count)};
    if (p.written) add(out_.writes, a);
    if (p.read) add(out_.reads, a);
  }

  u32 count_of(const Pattern& p) {
    const u32 words = (static_cast<u32>(bytes_) + 3) / 4;
    switch (p.size) {
      case '1':
        return 1;
      case 'm':
        return words;
      case 'k':
        return static_cast<u32>(w_.field(79, 3)) + 3;  // address, mbarrier, a coordinate per dimension
      case 'K':
        return static_cast<u32>(w_.field(79, 3)) + 2;  // address, coordinates
      case 'g':
        return has(".G.S") ? 1 : 2;
      case 'c':
        return texture_coordinates();
      case 's':
        return surface_coordinates();
      case 'h':
        return has(".F32") ? 4 : 2;
      case 'l':
        return has(".4") ? 4 : has(".2") ? 2 : 1;
      case 'D':
        return w_.field(75, 3) == 3 ? 2 : 1;
      case 'S':
        return w_.field(84, 3) == 3 ? 2 : 1;
      case 'F':
        return 16;
      case 'N':
        return tile_registers();
      case 't':
      case 'T':
      case 'x':
        return texture_registers(p.size);
      case 'w':
        return has(".64") || has(".U64") || has(".S64") ? 2 : 1;
      default:
        return static_cast<u32>(p.size - '0');
    }
  }

  // The 64 x N results of a warpgroup, over its 128 lanes.
  u32 tile_registers() const {
    const auto at = out_.name.find(".64x");
    const u32 n = static_cast<u32>(std::strtoul(out_.name.c_str() + at + 4, nullptr, 10));
    return has(".F16") && !has(".F32") ? n / 4 : n / 2;
  }
  // Registers of a position in a texture: 1D, 2D, 3D, cube, then arrays of them with the layer.
  u32 texture_coordinates() {
    constexpr u8 counts[] = {1, 2, 3, 3, 2, 3, 0, 4};
    return known(counts[w_.field(61, 3)]);
  }
  u32 known(u32 count) {
    out_.unknown_value |= count == 0;
    return std::max(count, 1u);
  }
  // .. in a surface: 1D, buffer, array of 1D, 2D, array of 2D, 3D.
  u32 surface_coordinates() {
    constexpr u8 counts[] = {1, 0, 0, 2, 3, 3, 0, 0};  // 0: not known
    return known(counts[w_.field(61, 3)]);
  }
  // The first two and the last two results of a texture read, by the mask of those that are wanted.
  u32 texture_registers(char which) const {
    const auto low = static_cast<u32>(__builtin_popcountll(w_.field(72, 4)));
    if (which == 'x') return has(".AOFFI") ? 2 : 1;
    return which == 'T' ? std::min(low, 2u) : low > 2 ? low - 2 : 1;
  }

  std::string reg(const Pattern& p, u32 at, u32 reuse_slot) {
    const auto index = static_cast<u32>(get(at, 8));
    if (p.optional && index == kRZ) return {};
    if (index != kRZ) touch(p, Bank::Register, index, count_of(p));
    std::string s = index == kRZ ? "RZ" : fmt::format("R{}", index);
    if (reuse_slot < 4 && w_.field(122 + reuse_slot, 1)) reuse_ = true;
    return s;
  }
  std::string uniform(const Pattern& p, u32 at, u32 count) {
    const auto index = static_cast<u32>(get(at, 6));
    if (p.optional && index == kURZ) return {};
    if (index != kURZ) touch(p, Bank::Uniform, index, count);
    return index == kURZ ? "URZ" : fmt::format("UR{}", index);
  }
  std::string predicate(const Pattern& p, bool is_uniform) {
    const auto index = static_cast<u32>(get(p.at, 3));
    const bool negated = p.negate && get(p.at + 3, 1);
    if (p.optional && index == kPT && !negated) return {};
    if (index != kPT) touch(p, is_uniform ? Bank::UniformPredicate : Bank::Predicate, index, 1);
    return fmt::format("{}{}{}", negated ? "!" : "", is_uniform ? "UP" : "P",
                       index == kPT ? "T" : std::to_string(index));
  }

  // ---- sources
  std::string decorated(const Pattern& p, std::string s, u32 negate_at, u32 absolute_at) {
    if (p.absolute && get(absolute_at, 1)) s = "|" + s + "|";
    if (reuse_) s += ".reuse", reuse_ = false;
    for (const Modifier& m : p.suffixes) s += value_of(m);
    if (p.negate && get(negate_at, 1)) s = "-" + s;
    if (p.complement && get(negate_at, 1)) s = (has(".X") || !p.negate ? "~" : "-") + (s[0] == '-' ? s.substr(1) : s);
    return s;
  }

  std::string immediate(const Pattern&) {
    const auto v = static_cast<u32>(get(32, 32));
    switch (out_.opcode->immediate) {
      case 'f':
        return has(".RCP64H") || has(".RSQ64H") ? double_text(v) : float_text(v);
      case 'd':
        return double_text(v);
      case 'h':
      case 'H': {
        const bool bf16 = out_.name.find("BF16") != std::string::npos;
        return half_text(v >> 16, bf16) + ", " + half_text(v & 0xffff, bf16);
      }
      case 's':
        return hex(static_cast<i32>(v));
      default:
        return fmt::format("0x{:x}", v);
    }
  }

  std::string constant(const Pattern& p, bool indexed) {
    const u64 bank = get(54, 5);
    const i64 offset = static_cast<i16>(get(38, 16));
    out_.memory.space = Memory::Space::Constant;
    if (!indexed && get(91, 1)) {
      const Pattern pair{.kind = 'U'};
      return fmt::format("cx[{}][{}]", uniform(pair, 32, 2), hex(offset));
    }
    if (!indexed) return fmt::format("c[0x{:x}][{}]", bank, hex(offset));
    const bool by_uniform = p.kind == 'K';
    const std::string base = by_uniform ? uniform({.kind = 'U'}, 24, 1) : reg({.kind = 'R'}, 24, 9);
    if (offset && (base == "RZ" || base == "URZ")) return fmt::format("c[0x{:x}][{}]", bank, hex(offset));
    return offset ? fmt::format("c[0x{:x}][{}+{}]", bank, base, hex(offset)) : fmt::format("c[0x{:x}][{}]", bank, base);
  }

  bool third_in_middle() const { return form_ == 2 || form_ == 3 || form_ == 7; }

  // Where the halves of a multiplied and added pair are named, each slot has a field for them.
  static Pattern with_halves(Pattern p, u8 at) {
    p.suffixes = {Modifier{.field = {at, 2}, .values = {"", "?", ".H0_H0", ".H1_H1"}}};
    return p;
  }

  std::string middle(const Pattern& row, u32 reuse_slot) {
    const Pattern p = out_.opcode->immediate == 'H' ? with_halves(row, 60) : row;
    switch (kSlots[form_]) {
      case Slot::Register:
        return decorated(p, reg(p, 32, reuse_slot), 63, 62);
      case Slot::Immediate:
        return immediate(p);
      case Slot::Constant:
        return decorated(p, constant(p, false), 63, 62);
      case Slot::Uniform:
        get(91, 1);
        return decorated(p, uniform(p, 32, count_of(p)), 63, 62);
    }
    return {};
  }
  std::string last(const Pattern& p, u32 reuse_slot) {
    const bool half = out_.opcode->immediate == 'H';
    if (!half) return decorated(p, reg(p, 64, reuse_slot), 75, 74);
    return decorated(with_halves(p, 81), reg(p, 64, reuse_slot), 84, 83);
  }

  // ---- addresses
  static std::string plus(std::string s, const std::string& more) {
    if (more.empty()) return s;
    return s.empty() ? more : s + "+" + more;
  }
  std::string offset_text(u32 at, u32 width, bool alone) {
    used_.mark(at, width);
    const i64 v = w_.signed_field(at, width);
    if (v == 0 && !alone) return {};
    return v < 0 && !alone ? fmt::format("-0x{:x}", -v) : hex(v);
  }

  // Generic and global addresses: 64 bits in registers, and a uniform register that is added or names a descriptor.
  std::string global(const Pattern& p, Memory::Space space) {
    out_.memory.space = space;
    const u32 uniform_at = p.at, flag_at = p.width;
    const bool with_uniform = form_ != 1 && get(91, 1);
    const u32 offset_at = p.neutral ? p.neutral : 40, offset_bits = p.neutral ? 12 : 24;
    const bool copied = p.neutral != 0;  // LDGSTS has a predicate there
    const u32 wide_at = p.size == 'a' ? 70 : 90;
    if (!copied && form_ != 1) get(wide_at, 1);
    const bool wide = with_uniform ? copied || w_.bit(wide_at) : has(".E");
    Pattern base{.kind = 'R'};
    base.size = wide ? '2' : '1';
    const std::string address = reg(base, 24, 0);
    const bool reuse = reuse_;
    reuse_ = false;
    std::string inner = address + (reuse ? ".reuse" : "");
    if (!with_uniform)
      return "[" +
             plus(address == "RZ" && w_.signed_field(offset_at, offset_bits) ? "" : inner,
                  offset_text(offset_at, offset_bits, address == "RZ" && w_.signed_field(offset_at, offset_bits))) +
             "]";
    inner += wide ? ".64" : ".U32";
    const bool descriptor = flag_at && get(flag_at, 1);
    const std::string u = uniform({.kind = 'U'}, uniform_at, descriptor || wide || true ? 2 : 1);
    if (descriptor) return fmt::format("desc[{}][{}]", u, plus(inner, offset_text(offset_at, offset_bits, false)));
    return "[" + plus(plus(inner, u), offset_text(offset_at, offset_bits, false)) + "]";
  }

  // Shared and local addresses: 32 bits, scaled, plus a uniform register.
  std::string window(const Pattern& p, Memory::Space space) {
    out_.memory.space = space;
    const u32 uniform_at = p.at, offset_at = p.neutral ? p.neutral : 40;
    const u32 offset_bits = p.neutral == 44 ? 20 : 24;
    const bool with_uniform = uniform_at && (form_ != 1 || uniform_at == 99) && get(91, 1);
    std::string base = reg({.kind = 'R'}, p.width ? p.width : 24, 0);
    if (reuse_) base += ".reuse", reuse_ = false;
    for (const Modifier& m : p.suffixes) base += value_of(m);
    const bool none = base.starts_with("RZ");
    const bool far = w_.signed_field(offset_at, offset_bits) != 0;
    std::string s = none && (with_uniform || far) ? "" : base;
    if (with_uniform) s = plus(s, uniform({.kind = 'U'}, uniform_at, 1));
    return "[" + plus(s, offset_text(offset_at, offset_bits, s.empty())) + "]";
  }

  std::string branch_target(u32 low_bits) {
    i64 v;
    if (low_bits) {
      used_.mark(16, 8);
      used_.mark(34, 48);
      v = static_cast<i64>((w_.signed_field(34, 48) << 8) | static_cast<i64>(w_.field(16, 8))) * 4;
    } else {
      used_.mark(34, 30);
      v = w_.signed_field(34, 30) * 4;
    }
    const i64 to = static_cast<i64>(out_.offset) + 16 + v;
    out_.target = static_cast<u64>(to);
    return hex(to);
  }

  std::string operand(const Pattern& p) {
    switch (p.kind) {
      case '\'':
        return p.literal;
      case 'd':
        return reg(p, 16, 9);
      case 'a':
        return decorated(p, reg(p, 24, 0), 72, 73);
      case 'b':
        return third_in_middle() ? last(p, 1) : middle(p, 1);
      case 'c':
        return third_in_middle() ? middle(p, 2) : last(p, 2);
      case 'X':
        return middle(p, form_ == 1 || form_ == 2 || form_ == 3 || form_ == 7 ? 2 : 1);
      case 'Y':
        return form_ == 1 ? decorated(p, uniform(p, 32, count_of(p)), 63, 62) : immediate(p);
      case 'q': {
        const auto index = 7 - static_cast<u32>(get(p.at, 3));
        const bool negated = get(p.at + 3, 1);
        if (index == kPT && !negated) return {};
        if (index != kPT) touch(p, Bank::UniformPredicate, index, 1);
        return fmt::format("{}UP{}", negated ? "!" : "", index == kPT ? "T" : std::to_string(index));
      }
      case 'w': {
        out_.memory.space = Memory::Space::Shared;
        const std::string base = uniform({.kind = 'U'}, p.at, 1);
        const std::string more = offset_text(40, 24, false);
        return "[" + (base == "URZ" && !more.empty() ? more : plus(base, more)) + "]";
      }
      case 'r':
        return "[" + reg(p, p.at, 0) + "]";
      case 'Z': {
        out_.memory.space = Memory::Space::Shared;
        const bool wide = get(p.width, 1);
        std::string s = reg({.kind = 'R', .size = wide ? '2' : '1'}, 24, 0) + (wide ? ".64" : ".U32");
        const std::string u = uniform({.kind = 'U'}, p.at, 1);
        if (!wide || u != "URZ") s = plus(s, u);
        return "[" + plus(s, offset_text(40, 24, false)) + "]";
      }
      case 'j':
        used_.mark(16, 8);
        used_.mark(34, 48);
        return reg({.kind = 'R', .size = p.size}, 24, 9) + " 0x0";
      case 'R':
        return decorated(p, reg(p, p.at, p.at == 32 ? 1 : p.at == 64 ? 2 : p.at == 24 ? 0 : 9), 63, 62);
      case 'U':
        return decorated(p, uniform(p, p.at, count_of(p)), p.at == 24 ? 72 : p.at == 64 ? 75 : 63, 62);
      case 'P':
        return predicate(p, false);
      case 'Q':
        return predicate(p, true);
      case 'V':
        return predicate(p, get(p.at == 68 ? 67 : 91, 1) != 0);
      case 'p': {
        const auto index = kPT - static_cast<u32>(get(p.at, 3));
        const bool negated = get(p.at + 3, 1);
        if (index == kPT && !negated) return {};
        if (index != kPT) touch(p, Bank::Predicate, index, 1);
        return fmt::format("{}P{}", negated ? "!" : "", index == kPT ? "T" : std::to_string(index));
      }
      case 'I':
        used_.mark(16, 8);
        used_.mark(34, 48);
        return reg({.kind = 'R', .size = p.size}, 24, 9) + " " +
               hex(static_cast<i64>((w_.signed_field(34, 48) << 8) | static_cast<i64>(w_.field(16, 8))) * 4);
      case 'e': {
        used_.mark(24, 58);
        return hex(static_cast<i64>(out_.offset) + 16 + w_.signed_field(24, 58));
      }
      case 'O': {
        const std::string base = reg({.kind = 'R', .size = has(".E") ? '2' : '1'}, 24, 0);
        return "[" + plus(base, offset_text(32, 32, false)) + "]";
      }
      case 'B': {
        const auto index = static_cast<u32>(get(p.at, 4));
        touch(p, Bank::Barrier, index, 1);
        return decorated(p, fmt::format("B{}", index), 0, 0);
      }
      case 'i': {
        const u64 v = get(p.at, p.width);
        if (p.optional && v == p.neutral) return {};
        return fmt::format("0x{:x}", v);
      }
      case 's':
        used_.mark(p.at, p.width);
        return hex(w_.signed_field(p.at, p.width));
      case 'l':
        return lut();
      case 'S':
        return special_register(static_cast<u32>(get(p.at, 8)), &out_.unknown_value);
      case 'T':
        return branch_target(1);
      case 't':
        return branch_target(0);
      case 'J': {
        std::string s = reg({.kind = 'R', .size = p.size}, 24, 9) + " " + branch_target(1);
        out_.target.reset();
        return s;
      }
      case 'G':
        return global(p, Memory::Space::Global);
      case 'E':
        return global(p, Memory::Space::Generic);
      case 'W':
        return window(p, Memory::Space::Shared);
      case 'L':
        return window(p, Memory::Space::Local);
      case 'C':
      case 'K':
        return constant(p, true);
      case 'k':
        return constant(p, false);
      case 'D':
        return fmt::format("gdesc[{}]", uniform({.kind = 'U'}, p.at, 4)) + suffixes(p);
      case 'A':
        return fmt::format("[{}]", uniform({.kind = 'U'}, p.at, count_of(p)));
      case 'F':
        return get(76, 1) ? fmt::format("desc[{}]", uniform({.kind = 'U'}, p.at, 2)) : std::string();
      case 'y':
        return set_text(p);
      case 'g':
        return fmt::format("{}{}", p.literal, get(p.at, p.width));
      case 'n':
        return value_text(p);
      default:
        US_UNREACHABLE();
    }
  }

  std::string suffixes(const Pattern& p) {
    std::string s;
    for (const Modifier& m : p.suffixes) s += value_of(m);
    return s;
  }
  // A word of a list, without its dot.
  std::string value_text(const Pattern& p) {
    const std::string s = suffixes(p);
    return s.starts_with('.') ? s.substr(1) : s;
  }
  std::string set_text(const Pattern& p) {
    const u64 v = get(p.at, p.width);
    if (!v && p.optional) return {};
    std::string s;
    for (u32 i = p.width; i-- > 0;)
      if (v >> i & 1) s += fmt::format("{}{}", s.empty() ? "" : ",", i);
    return "{" + s + "}";
  }
  std::string lut() { return fmt::format("0x{:x}", get(72, 5) << 3 | get(64, 3)); }

  Word w_, used_;
  Instruction& out_;
  u32 form_ = 0;
  int bytes_ = 4;
  bool reuse_ = false;
};

}  // namespace

std::string guard_text(const Guard& g) {
  if (g.always()) return {};
  return fmt::format("@{}{}P{}", g.negated ? "!" : "", g.uniform ? "U" : "",
                     g.predicate == kPT ? "T" : std::to_string(g.predicate));
}

std::string Instruction::text() const {
  std::string s = guard_text(guard);
  if (!s.empty()) s += ' ';
  s += name;
  return operands.empty() ? s : s + ' ' + operands;
}

Instruction decode(Word word, u32 offset) {
  Instruction out;
  out.offset = offset;
  out.word = word;
  out.control = Control::of(word);
  Decoder(word, out).run();
  return out;
}

}  // namespace us::sass
