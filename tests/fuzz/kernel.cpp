// SPDX-License-Identifier: Apache-2.0
#include "kernel.h"

#include <algorithm>
#include <cstring>

#include "table.h"

namespace fuzz {
namespace {

using namespace us;
using isa::OperandSpec;
using isa::Type;

// --- from the table --------------------------------------------------------------------------------------------------

// A mnemonic out of a pattern: every choice at random.
class Speller {
 public:
  Speller(std::string_view pattern, Random& r) : p_(pattern), r_(r) {}
  std::string choices(char end = 0) {  // alternatives up to `end`: one of them
    std::vector<std::string> all(1);
    while (at_ < p_.size() && p_[at_] != end) {
      const char c = p_[at_++];
      if (c == '|') {
        all.emplace_back();
      } else if (c == '(') {
        all.back() += choices(')');
        ++at_;
      } else if (c == '{') {
        const std::string x = choices('}');
        ++at_;
        if (r_.chance(40)) all.back() += x;
      } else if (c == '<') {
        const std::size_t close = p_.find('>', at_);
        all.back() += Speller(set_named(p_.substr(at_, close - at_)), r_).choices();
        at_ = close + 1;
      } else {
        all.back() += c;
      }
    }
    return r_.pick(all);
  }

 private:
  std::string_view p_;
  Random& r_;
  std::size_t at_ = 0;
};

// --- statements ------------------------------------------------------------------------------------------------------

std::string num(u64 v) { return std::to_string(v); }

class Maker {
 public:
  explicit Maker(u64 seed) : r_(seed) {}

  Kernel kernel() {
    Kernel k;
    in_function_ = true;
    for (u32 n = 1 + r_.below(3); n-- > 0;) k.function.push_back(operation());
    in_function_ = false;
    if (r_.chance(15)) {
      flow(2 + r_.below(5), 0, "", [&](Lines l) { k.statements.push_back({std::move(l), {}, {}}); });
      return k;
    }
    const u32 kind = r_.below(400);
    most_ = kind < 370 ? 1 : kind < 398 ? 2 : 4;
    k.statements = list(kind < 370 ? 1 + r_.below(2) : kind < 398 ? 3 + r_.below(4) : 8 + r_.below(14), 0, true);
    return k;
  }

 private:
  static constexpr u32 kR = 12, kQ = 8, kH = 8, kP = 6;

  std::string reg(u32 bits) {
    switch (bits) {
      case 1:
        return "%p" + num(r_.below(kP));
      case 64:
        return "%q" + num(r_.below(kQ));
      case 32:
        return "%r" + num(r_.below(kR));
      default:
        return "%h" + num(r_.below(kH));
    }
  }
  std::string r32() { return reg(32); }

  u64 interesting(u32 bits) {
    static constexpr u64 some[] = {0,          1,
                                   2,          3,
                                   4,          7,
                                   8,          31,
                                   32,         33,
                                   63,         64,
                                   127,        128,
                                   255,        0x7fff,
                                   0x8000,     0xffff,
                                   0x7fffffff, 0x80000000,
                                   0xffffffff, 0x3f800000,
                                   0xbf800000, 0x7f800000,
                                   0x7fc00000, 0x00000001,
                                   0x33800000, 0x4b000000,
                                   0x3c00,     0x7c00,
                                   0x0400,     ~0ull,
                                   1ull << 63, 0x7ff0ull << 48};
    u64 v = r_.chance(70) ? some[r_.below(sizeof some / sizeof some[0])] : r_.next();
    if (r_.chance(10)) v = ~v;
    return bits >= 64 ? v : v & ((1ull << bits) - 1);
  }
  static u64 no_nan(u64 v, u64 exponent) { return (v & exponent) == exponent ? v & ~(exponent & -exponent) : v; }
  std::string literal(Type t) {
    char s[32];
    if (t == Type::f32)
      std::snprintf(s, sizeof s, "0f%08X", static_cast<u32>(no_nan(interesting(32), 0x7f800000)));
    else if (t == Type::f64)
      std::snprintf(s, sizeof s, "0d%016llX", static_cast<unsigned long long>(no_nan(interesting(64), 0x7ffull << 52)));
    else
      std::snprintf(s, sizeof s, "%lld",
                    static_cast<long long>(isa::is_signed(t) && isa::bits_of(t) == 32
                                               ? static_cast<i32>(interesting(32))
                                               : static_cast<i64>(interesting(isa::bits_of(t)))));
    return s;
  }

  // The stock assembler computes what is known with the host's arithmetic; only exact operations give the same then.
  static bool approximate(const std::string& m) {
    return m.find(".approx") != std::string::npos || m.find(".full") != std::string::npos;
  }
  // The stock assembler wants field positions below 256, and cuts literal shift amounts to the width of the operand.
  static bool small_literal(const std::string& m) { return m[0] == 'b' || m.substr(0, 2) == "sh"; }
  // The stock assembler's expansions of these write their destination where the guard is false too (DEVIATIONS.md).
  static bool loses_guard(const std::string& m) {
    return m.substr(0, 4) == "set." || m.substr(0, 5) == "testp" ||
           (m[0] == 'v' && m.find(".add") != std::string::npos);
  }
  static bool scalar_video(const std::string& m) {  // saturation and min/max differ from an H200 (form_sweep)
    const std::size_t dot = m.find('.');
    return m[0] == 'v' && dot > 3 && m[dot - 1] != '2' && m[dot - 1] != '4';
  }
  static bool slow_to_compile(const std::string& m) {  // ten times the others
    return m.find("f16") != std::string::npos && m.find("bf16") == std::string::npos;
  }

  // One instruction of the table, with a guard now and then. An f64 NaN is made the usual one: which of several NaN
  // operands survives may differ (DEVIATIONS.md).
  Statement operation() {
    for (;;) {
      const isa::Form form = r_.pick(forms());
      const std::string mnemonic = Speller(isa::info(form).pattern, r_).choices();
      const isa::Match m = isa::match(mnemonic);
      if (m.form != form || (slow_to_compile(mnemonic) && !r_.chance(15)) || scalar_video(mnemonic)) continue;
      std::string line = mnemonic, d64;
      bool first = true, good = true;
      for (const OperandSpec& s : isa::operands_of(form).specs) {
        const Type t = type_of(s, m);
        if (s.optional && !s.pipe && r_.chance(60)) break;
        if (s.pipe && form != isa::Form::lop3_bool && r_.chance(60)) continue;
        const u32 bits = register_bits(s, t);
        good = good && (bits == 1 || bits == 16 || bits == 32 || bits == 64);
        if (!good) break;
        std::string o;
        if (s.want == OperandSpec::Want::Literal)
          o = num(r_.below(256));
        else if (!s.dest && !s.register_only && !approximate(mnemonic) && bits != 1 && r_.chance(15) &&
                 isa::class_of(t) != isa::TypeClass::Packed && plain(t))
          o = small_literal(mnemonic) ? num(r_.below(256)) : literal(t);
        else
          do o = reg(bits);
          while (s.pipe && line.ends_with(o));  // two results in one register: which of them stays is not said
        if (s.dest && t == Type::f64) d64 = o;
        line += (first ? " " : s.pipe ? "|" : ", ") + o;
        first = false;
      }
      if (!good) continue;
      Statement s;
      std::string guard = r_.chance(12) && !loses_guard(mnemonic) ? (r_.chance(50) ? "@" : "@!") + reg(1) + " " : "";
      s.head.push_back(guard + line + ";");
      if (!d64.empty()) {
        s.head.push_back("setp.nan.f64 %pn, " + d64 + ", " + d64 + ";");
        s.head.push_back("@%pn mov.b64 " + d64 + ", 0x7ff8000000000000;");
      }
      return s;
    }
  }
  static bool plain(Type t) {
    const u32 bits = isa::bits_of(t);
    return (isa::is_float(t) && bits >= 32 && t != Type::tf32) || (!isa::is_float(t) && bits >= 16);
  }

  std::vector<Statement> list(u32 n, u32 depth, bool together) {
    std::vector<Statement> v;
    while (n-- > 0) v.push_back(statement(depth, together));
    return v;
  }

  Statement statement(u32 depth, bool together) {
    const u32 what = r_.below(100);
    if (what < 62) return operation();
    if (what < 70 && depth < 3) return branch(depth);
    if (what < 76 && depth < 2) return loop(depth, together);
    if (what < 80) return call();
    if (what < 85) return atomic();
    if (what < 90) return scratch();
    if (what < 93) return mix();
    if (together) return r_.chance(50) ? collective() : exchange();
    return operation();
  }

  Statement branch(u32 depth) {
    Statement s;
    const std::string id = num(labels_++), p = reg(1);
    s.head = {(r_.chance(50) ? "@" : "@!") + p + " bra E" + id + ";"};
    s.body = list(1 + r_.below(most_), depth + 1, false);
    if (r_.chance(50)) {  // an else part that shrinks with its if
      Statement other;
      other.head = {"bra.uni J" + id + ";", "E" + id + ":"};
      other.body = list(1 + r_.below(most_), depth + 1, false);
      other.tail = {"J" + id + ":"};
      s.tail.clear();
      Statement both;
      both.head = {"{"};
      s.tail = other.head;
      for (const Statement& x : other.body) flatten(x, s.tail);
      s.tail.push_back("J" + id + ":");
    } else {
      s.tail = {"E" + id + ":"};
    }
    return s;
  }
  static void flatten(const Statement& s, std::vector<std::string>& out) {
    out.insert(out.end(), s.head.begin(), s.head.end());
    for (const Statement& b : s.body) flatten(b, out);
    out.insert(out.end(), s.tail.begin(), s.tail.end());
  }

  // --- Kernels of little but control flow, as compilers leave it: conditions that are the same in a CTA or a warp, and
  // branches whose arms end where outer arms, or turns of a loop, end.
  using Lines = std::vector<std::string>;
  Lines condition() {
    const std::string test = r_.chance(50) ? "setp.eq.u32 %pn, %t2, " : "setp.ne.u32 %pn, %t2, ";
    switch (r_.below(4)) {
      case 0:
        return {"mov.u32 %t2, %ctaid.x;", test + num(r_.below(2)) + ";"};
      case 1:
        return {"mov.u32 %t2, %tid.x;", "shr.u32 %t2, %t2, 5;", test + num(r_.below(3)) + ";"};
      default:
        return {"and.b32 %t2, " + r32() + ", " + num(1u << r_.below(6)) + ";", test + "0;"};
    }
  }
  std::string simple() {
    static const std::vector<std::string> ops = {"add.u32",    "sub.u32", "xor.b32",
                                                 "mul.lo.u32", "min.s32", "shf.l.wrap.b32"};
    const std::string op = r_.pick(ops), to = r32();
    return op + " " + to + ", " + r32() + ", " + (r_.chance(40) ? num(1 + r_.below(9)) : r32()) +
           (op[1] == 'h' ? ", 7;" : ";");
  }
  template <class Take>
  void flow(u32 n, u32 depth, const std::string& outer, Take&& take) {
    while (n-- > 0) {
      const u32 what = depth < 4 ? r_.below(100) : 0;
      if (what < 50)
        take({simple()});
      else if (what < 88 || depth > 1)
        take(flow_branch(depth, n == 0 ? outer : ""));
      else
        take(flow_loop(depth));
    }
  }
  Lines flow_arm(u32 depth, const std::string& join) {
    Lines all;
    flow(1 + r_.below(3), depth + 1, join, [&](const Lines& l) { all.insert(all.end(), l.begin(), l.end()); });
    return all;
  }
  // `outer`: where it may go on if nothing of the arm that it is in comes behind it.
  Lines flow_branch(u32 depth, const std::string& outer) {
    const std::string id = num(labels_++);
    const bool own = outer.empty() || r_.chance(40), both = r_.chance(50);
    const std::string join = own ? "J" + id : outer;
    Lines l = condition();
    l.push_back((r_.chance(50) ? "@%pn bra " : "@!%pn bra ") + (both ? "E" + id : join) + ";");
    const auto add = [&](const Lines& more) { l.insert(l.end(), more.begin(), more.end()); };
    add(flow_arm(depth, join));
    if (both || !own) l.push_back("bra " + join + ";");
    if (both) {
      l.push_back("E" + id + ":");
      add(flow_arm(depth, join));
      if (!own) l.push_back("bra " + join + ";");
    }
    if (own) l.push_back(join + ":");
    return l;
  }
  Lines flow_loop(u32 depth) {
    const std::string id = num(labels_++), count = "%c" + num(depth), p = "%pl" + num(depth);
    Lines l;
    if (r_.chance(50))
      l = {"mov.u32 " + count + ", " + num(1 + r_.below(4)) + ";"};
    else
      l = {"and.b32 " + count + ", " + r32() + ", 3;", "add.u32 " + count + ", " + count + ", 1;"};
    l.push_back("L" + id + ":");
    const Lines body = flow_arm(depth, "C" + id);
    l.insert(l.end(), body.begin(), body.end());
    if (r_.chance(30)) {
      const Lines out = condition();
      l.insert(l.end(), out.begin(), out.end());
      l.push_back("@%pn bra D" + id + ";");
    }
    for (const std::string& x :
         {"C" + id + ":", "sub.u32 " + count + ", " + count + ", 1;", "setp.ne.u32 " + p + ", " + count + ", 0;",
          "@" + p + " bra L" + id + ";", "D" + id + ":"})
      l.push_back(x);
    return l;
  }

  Statement loop(u32 depth, bool together) {
    Statement s;
    const std::string id = num(labels_++), count = "%c" + num(depth), p = "%pl" + num(depth);
    const bool same = r_.chance(50);
    if (same)
      s.head = {"mov.u32 " + count + ", " + num(1 + r_.below(5)) + ";"};
    else
      s.head = {"and.b32 " + count + ", " + r32() + ", 7;"};
    s.head.push_back("L" + id + ":");
    s.head.push_back("setp.eq.u32 " + p + ", " + count + ", 0;");
    s.head.push_back("@" + p + " bra D" + id + ";");
    s.body = list(1 + r_.below(most_), depth + 1, together && same);
    if (r_.chance(25)) s.body.push_back({{"@" + reg(1) + " bra D" + id + ";"}, {}, {}}), together = false;
    s.tail = {"sub.u32 " + count + ", " + count + ", 1;", "bra L" + id + ";", "D" + id + ":"};
    if (s.body.back().head[0].find("bra D") != std::string::npos && s.body.back().body.empty() && same)
      s.body.erase(s.body.end() - 1);  // collectives in the body need all threads in every turn
    return s;
  }

  Statement call() {
    if (in_function_) return operation();
    return {{"call (" + r32() + "), F, (" + r32() + ", " + r32() + ", " + reg(64) + ");"}, {}, {}};
  }

  // Results of atomics on shared words depend on the order, so nobody reads them.
  Statement atomic() {
    static const std::vector<std::string> ops = {"add.u32", "min.s32", "max.u32", "and.b32",
                                                 "or.b32",  "xor.b32", "min.u32", "max.s32"};
    const u32 k = r_.below(static_cast<u32>(ops.size()));
    const std::string op = ops[k];
    // Words of one operation each: those 8 k .. 8 k + 7.
    return {{"and.b32 %t0, " + r32() + ", 7;", "mad.wide.u32 %w0, %t0, 4, %atomics;",
             std::string(r_.chance(50) ? "red" : "red.relaxed.gpu") + ".global." + op + " [%w0+" + num(32 * k) + "], " +
                 r32() + ";"},
            {},
            {}};
  }

  // A row of memory of this thread's own, by a computed index: loads, stores and atomics that return something.
  Statement scratch() {
    static const std::vector<std::string> atoms = {"add.u32", "exch.b32", "inc.u32", "dec.u32", "max.s32", "xor.b32"};
    Statement s;
    const bool local = r_.chance(30), shared = !local && r_.chance(40);
    const std::string space = local ? "local" : shared ? "shared" : "global";
    const u32 mask = local || shared ? 7 : 31;
    s.head = {"and.b32 %t0, " + r32() + ", " + num(mask) + ";"};
    std::string at;
    if (local)
      s.head.push_back("mad.wide.u32 %w0, %t0, 4, %mine;"), at = "[%w0]";
    else if (shared)
      s.head.push_back("mad.lo.u32 %t0, %t0, 4, %row;"), at = "[%t0]";
    else
      s.head.push_back("mad.wide.u32 %w0, %t0, 4, %scratch;"), at = "[%w0]";
    const u32 what = r_.below(local ? 2 : 4);
    if (what == 0) s.head.push_back("ld." + space + ".u32 " + r32() + ", " + at + ";");
    if (what == 1) s.head.push_back("st." + space + ".u32 " + at + ", " + r32() + ";");
    if (what == 2)
      s.head.push_back("atom." + space + "." + r_.pick(atoms) + " " + r32() + ", " + at + ", " + r32() + ";");
    if (what == 3)
      s.head.push_back("atom." + space + ".cas.b32 " + r32() + ", " + at + ", " + r32() + ", " + r32() + ";");
    return s;
  }

  // New values: special registers, parts of others.
  Statement mix() {
    static const std::vector<std::string> lines = {
        "mov.u32 $r, %tid.x;",
        "mov.u32 $r, %laneid;",
        "mov.u32 $r, %ctaid.x;",
        "mov.b64 $q, {$r, $r};",
        "mov.b64 {$r, $r}, $q;",
        "mov.b32 $r, {$h, $h};",
        "mov.b32 {$h, $h}, $r;",
        "mov.u32 $r, $r;",
        "mov.u32 $r, 17;",
        "add.cc.u32 $r, $r, $r;\n  addc.u32 $r, $r, $r;",
        "sub.cc.u32 $r, $r, $r;\n  subc.u32 $r, $r, $r;",
        "mad.lo.cc.u32 $r, $r, $r, $r;\n  madc.hi.u32 $r, $r, $r, $r;",
        "cvt.u64.u32 $q, $r;",
        "add.cc.u64 $q, $q, $q;\n  addc.u64 $q, $q, $q;",
        "mov.u32 $r, %lanemask_lt;",
        "and.b32 %t0, $r, 4092;\n  cvt.u64.u32 %w0, %t0;\n  add.s64 %w0, %w0, %in;\n  ld.global.u32 $r, [%w0];",
        "and.b32 %t0, $r, 4080;\n  cvt.u64.u32 %w0, %t0;\n  add.s64 %w0, %w0, %in;\n  ld.global.v4.u32 {$r, $r, %t1, "
        "%t0}, [%w0];"};
    std::string line = r_.pick(lines), out;
    std::vector<std::string> used;
    for (std::size_t k = 0; k < line.size(); ++k) {
      if (line[k] != '$') {
        out += line[k];
        continue;
      }
      const char c = line[++k];
      std::string x;
      do x = reg(c == 'r' ? 32 : c == 'q' ? 64 : 16);
      while (std::find(used.begin(), used.end(), x) != used.end());  // vectors must not name one register twice
      used.push_back(x);
      out += x;
    }
    return {{out}, {}, {}};
  }

  Statement collective() {
    static const std::vector<std::string> lines = {"shfl.sync.idx.b32 $r|$p, $r, $r, 31, -1;",
                                                   "shfl.sync.bfly.b32 $r, $r, 5, 31, -1;",
                                                   "shfl.sync.up.b32 $r|$p, $r, 3, 0, -1;",
                                                   "shfl.sync.down.b32 $r, $r, $r, 0x1807, -1;",
                                                   "vote.sync.ballot.b32 $r, $p, -1;",
                                                   "vote.sync.any.pred $p, $p, -1;",
                                                   "vote.sync.all.pred $p, !$p, -1;",
                                                   "vote.sync.uni.pred $p, $p, -1;",
                                                   "match.any.sync.b32 $r, $r, -1;",
                                                   "match.all.sync.b32 $r|$p, $r, -1;",
                                                   "redux.sync.add.u32 $r, $r, -1;",
                                                   "redux.sync.min.s32 $r, $r, -1;",
                                                   "redux.sync.xor.b32 $r, $r, -1;",
                                                   "bar.red.popc.u32 $r, 0, $p;",
                                                   "bar.red.and.pred $p, 0, $p;",
                                                   "activemask.b32 $r;",
                                                   "match.any.sync.b64 $r, $q, -1;"};
    std::string line = r_.pick(lines), out;
    for (std::size_t k = 0; k < line.size(); ++k)
      if (line[k] == '$')
        ++k, out += reg(line[k] == 'r' ? 32 : line[k] == 'q' ? 64 : 1);
      else
        out += line[k];
    return {{out}, {}, {}};
  }

  // Words that another thread of the CTA wrote.
  Statement exchange() {
    return {{"bar.sync 0;", "st.shared.u32 [%slot], " + r32() + ";", "bar.sync 0;",
             "add.u32 %t0, " + r32() + ", " + num(r_.below(96)) + ";", "rem.u32 %t0, %t0, " + num(kThreads) + ";",
             "mov.u32 %t1, board;", "mad.lo.u32 %t0, %t0, 4, %t1;", "ld.shared.u32 " + r32() + ", [%t0];"},
            {},
            {}};
  }

  Random r_;
  u32 labels_ = 0, most_ = 4;  // statements in a branch or loop at most
  bool in_function_ = false;
};

void print(const Statement& s, std::string& out) {
  for (const auto& l : s.head) out += "  " + l + "\n";
  for (const Statement& b : s.body) print(b, out);
  for (const auto& l : s.tail) out += "  " + l + "\n";
}

// The registers of a kind that a text names.
std::vector<u32> named(const std::string& text, char kind, u32 count) {
  std::vector<u32> v;
  for (u32 i = 0; i < count; ++i) {
    const std::string name = std::string("%") + kind + num(i);
    for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += name.size())
      if (at + name.size() == text.size() || !std::isalnum(static_cast<unsigned char>(text[at + name.size()]))) {
        v.push_back(i);
        break;
      }
  }
  return v;
}
bool names(const std::string& text, const char* what) { return text.find(what) != std::string::npos; }

const char* kRegisters =
    "  .reg .pred %p<6>, %pn, %pl0, %pl1, %pl2;\n  .reg .b16 %h<8>;\n  .reg .b32 %r<12>, %t<4>, %c<3>;\n"
    "  .reg .b64 %q<8>, %w<2>, %in, %out, %atomics, %scratch, %mine;\n  .reg .b32 %slot, %row;\n";

std::string function_text(const Kernel& k, std::size_t n) {
  std::string body;
  for (const Statement& s : k.function) print(s, body);
  std::string t = ".func (.reg .b32 %back) F" + num(n) + "(.reg .b32 %a, .reg .b32 %b, .reg .b64 %c)\n{\n";
  t += kRegisters;
  for (u32 i : named(body, 'r', 12))
    t += i == 1 || i == 2 ? "  mov.u32 %r" + num(i) + ", %b;\n"
                          : "  xor.b32 %r" + num(i) + ", %a, " + num(i * 0x1234567) + ";\n";
  for (u32 i : named(body, 'q', 8)) t += "  add.s64 %q" + num(i) + ", %c, " + num(i) + ";\n";
  for (u32 i : named(body, 'h', 8)) t += "  cvt.u16.u32 %h" + num(i) + ", %a;\n";
  for (u32 i : named(body, 'p', 6)) t += "  setp.lt.s32 %p" + num(i) + ", %a, " + num(i * 1000) + ";\n";
  t += body + "  mov.u32 %back, 0;\n";
  for (u32 i : named(body, 'r', 12)) t += "  add.u32 %back, %back, %r" + num(i) + ";\n";
  for (u32 i : named(body, 'q', 8))
    t += "  mov.b64 {%t0, %t1}, %q" + num(i) + ";\n  add.u32 %back, %back, %t0;\n  xor.b32 %back, %back, %t1;\n";
  for (u32 i : named(body, 'h', 8)) t += "  cvt.u32.u16 %t0, %h" + num(i) + ";\n  add.u32 %back, %back, %t0;\n";
  return t + "  ret;\n}\n";
}

// What the body uses gets a place and a first value, nothing else: most of the time goes into compiling.
std::string places(const std::string& body) {
  std::string t;
  if (names(body, "%atomics")) t += "  ld.param.u64 %atomics, [p2];\n";
  if (names(body, "%scratch"))
    t += "  ld.param.u64 %scratch, [p3];\n  mul.wide.u32 %w1, %t1, 128;\n  add.s64 %scratch, %scratch, %w1;\n";
  if (names(body, "%slot"))
    t += "  mov.u32 %slot, board;\n  mad.lo.u32 %slot, %t0, 4, %slot;\n  st.shared.u32 [%slot], %t1;\n";
  if (names(body, "%row")) t += "  mov.u32 %row, rows;\n  mad.lo.u32 %row, %t0, 32, %row;\n";
  if (names(body, "%mine")) t += "  mov.u64 %mine, words;\n";
  for (u32 i = 0; i < 8; ++i) {
    if (names(body, "%mine")) t += "  st.local.u32 [%mine+" + num(4 * i) + "], %t0;\n";
    if (names(body, "%row")) t += "  st.shared.u32 [%row+" + num(4 * i) + "], %t1;\n";
  }
  return t;
}
std::string first_values(const std::string& body) {
  std::string t = "  mul.wide.u32 %w1, %t1, 4;\n  add.s64 %w1, %w1, %in;\n";
  static const std::vector<std::string> r = {
      "mov.u32 %r6, %t0",           "mov.u32 %r7, 1065353216",   "ld.global.u32 %r8, [%in+64]",
      "mad.lo.u32 %r9, %t0, 12, 5", "ld.global.u32 %r10, [%in]", "mov.u32 %r11, %ctaid.x"};
  static const std::vector<std::string> q = {"cvt.u64.u32 %q4, %t0", "cvt.rn.f64.s32 %q5, %t1",
                                             "mov.u64 %q6, 4607182418800017408", "ld.global.u64 %q7, [%in+128]"};
  auto word = [&](u32 i) { return ", [%w1+" + num(4 * kThreads * kBlocks * i) + "];\n"; };
  for (u32 i : named(body, 'r', 12)) t += i < 6 ? "  ld.global.u32 %r" + num(i) + word(i) : "  " + r[i - 6] + ";\n";
  for (u32 i : named(body, 'q', 8))
    t += i < 4 ? "  ld.global.u32 %t2" + word(i) + "  ld.global.u32 %t3" + word(i + 1) + "  mov.b64 %q" + num(i) +
                     ", {%t2, %t3};\n"
               : "  " + q[i - 4] + ";\n";
  for (u32 i : named(body, 'h', 8))
    t += i < 6 ? "  ld.global.u16 %h" + num(i) + word(i + 2) : "  cvt.u16.u32 %h" + num(i) + ", %t0;\n";
  for (u32 i : named(body, 'p', 6))
    t += "  ld.global.u32 %t2" + word(i) + "  setp.lt.s32 %p" + num(i) + ", %t2, %t" + num(i % 2) + ";\n";
  return t;
}
// Column k of all threads lies together; columns of registers that are not used stay as they were.
std::string results(const std::string& body) {
  std::string t;
  const u32 column = 4 * kThreads * kBlocks;
  auto store = [&](const char* type, const std::string& v, u32 k) {
    t += std::string("  st.global.") + type + " [%out+" + num(k * column) + "], " + v + ";\n";
  };
  for (u32 i : named(body, 'r', 12)) store("u32", "%r" + num(i), i);
  if (const auto all = named(body, 'p', 6); !all.empty()) {
    t += "  mov.b32 %t0, 0;\n";
    for (u32 i : all) t += "  selp.u32 %t1, " + num(1u << i) + ", 0, %p" + num(i) + ";\n  or.b32 %t0, %t0, %t1;\n";
    store("u32", "%t0", 12);
  }
  for (u32 i : named(body, 'h', 8)) t += "  cvt.u32.u16 %t0, %h" + num(i) + ";\n", store("u32", "%t0", 13 + i);
  const auto wide = named(body, 'q', 8);
  if (!wide.empty()) t += "  add.s64 %out, %out, %w0;\n";
  for (u32 i : wide) store("u64", "%q" + num(i), 21 + 2 * i);
  return t;
}

std::string entry_text(const Kernel& k, std::size_t n) {
  std::string body;
  for (const Statement& s : k.statements) print(s, body);
  for (std::size_t at = 0; (at = body.find(", F,", at)) != std::string::npos;)
    body.replace(at, 4, ", F" + num(n) + ",");
  std::string t =
      ".visible .entry k" + num(n) + "(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3)\n{\n";
  if (names(body, "board")) t += "  .shared .align 4 .b8 board[" + num(4 * kThreads) + "];\n";
  if (names(body, "%row")) t += "  .shared .align 4 .b8 rows[" + num(32 * kThreads) + "];\n";
  if (names(body, "%mine")) t += "  .local .align 4 .b8 words[32];\n";
  t += kRegisters;
  t += "  ld.param.u64 %in, [p0];\n  ld.param.u64 %out, [p1];\n  mov.u32 %t0, %tid.x;\n  mov.u32 %t1, %ctaid.x;\n"
       "  mov.u32 %t2, %ntid.x;\n  mad.lo.u32 %t1, %t1, %t2, %t0;\n";
  t += places(body) + first_values(body) + body;
  t += "  mov.u32 %t0, %tid.x;\n  mov.u32 %t1, %ctaid.x;\n  mov.u32 %t2, %ntid.x;\n"
       "  mad.lo.u32 %t1, %t1, %t2, %t0;\n  mul.wide.u32 %w0, %t1, 4;\n  add.s64 %out, %out, %w0;\n";
  return t + results(body) + "  ret;\n}\n";
}

}  // namespace

Kernel make_kernel(u64 seed) { return Maker(seed).kernel(); }

std::string text_of(const std::vector<Kernel>& kernels) {
  std::string t = ".version 8.6\n.target sm_90a\n.address_size 64\n";
  for (std::size_t n = 0; n < kernels.size(); ++n) {
    const std::string entry = entry_text(kernels[n], n);
    if (names(entry, (", F" + num(n) + ",").c_str())) t += function_text(kernels[n], n);
    t += entry;
  }
  return t;
}

}  // namespace fuzz
