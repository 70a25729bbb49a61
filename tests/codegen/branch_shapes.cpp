// SPDX-License-Identifier: Apache-2.0
#include "branch_shapes.h"

#include <fmt/format.h>

#include <ctime>

#include "codegen/jit.h"
#include "ptx/ptx.h"

namespace us::codegen {
namespace {

std::string repeated(u32 n, const std::function<std::string(u32)>& piece) {
  std::string out;
  for (u32 k = 0; k < n; ++k) out += piece(k);
  return out;
}

std::string kernel(const std::string& body) {
  return ".version 8.0\n.target sm_90\n.address_size 64\n"
         ".visible .entry big(.param .u64 p0, .param .u32 p1) {\n"
         ".reg .b32 %r<8>;\n.reg .pred %p<4>;\n.reg .b64 %a<4>;\n"
         "ld.param.u64 %a1, [p0];\nld.param.u32 %r3, [p1];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %a2, %r1, 4;\n"
         "add.s64 %a3, %a1, %a2;\nld.global.u32 %r2, [%a3];\n" +
         body + "st.global.u32 [%a3], %r2;\nret;\n}\n";
}

std::string one_armed(u32 k) {
  return fmt::format(
      "setp.gt.s32 %p1, %r2, {};\n@%p1 bra L{};\nmad.lo.s32 %r2, %r2, 3, {};\nL{}: xor.b32 %r2, %r2, {};\n",
      k * 13 % 101, k, k, k, k * 31);
}
std::string divergent(u32 n) { return repeated(n, one_armed); }
std::string inside(u32 n) {
  return "setp.gt.s32 %p2, %r1, 40;\n@%p2 bra E;\n" + divergent(n) + "E: add.s32 %r2, %r2, 1;\n";
}
std::string two_armed(u32 n) {
  return repeated(n, [](u32 k) {
    return fmt::format(
        "setp.gt.s32 %p1, %r2, {0};\n@%p1 bra L{1};\nmad.lo.s32 %r2, %r2, 3, {1};\nbra M{1};\n"
        "L{1}: xor.b32 %r2, %r2, {1};\nM{1}: add.s32 %r2, %r2, 7;\n",
        k * 13 % 101, k);
  });
}
std::string uniform(u32 n) {
  return repeated(n, [](u32 k) {
    return fmt::format(
        "setp.gt.s32 %p1, %r3, {0};\n@%p1 bra L{1};\nmad.lo.s32 %r2, %r2, 3, {1};\nadd.s32 %r3, %r3, 7;\n"
        "L{1}: xor.b32 %r2, %r2, {1};\n",
        k * 13 % 101, k);
  });
}
std::string loops(u32 n) {
  return repeated(n, [](u32 k) {
    return fmt::format(
        "and.b32 %r5, %r2, 3;\nL{0}: mad.lo.s32 %r2, %r2, 3, {0};\nadd.s32 %r5, %r5, -1;\n"
        "setp.gt.s32 %p1, %r5, 0;\n@%p1 bra L{0};\n",
        k);
  });
}
std::string switches(u32 n) {
  return repeated(n / 8, [](u32 k) {
    std::string labels, arms;
    for (u32 a = 0; a < 8; ++a) {
      labels += fmt::format("{}L{}_{}", a ? ", " : "", k, a);
      arms += fmt::format("L{0}_{1}: xor.b32 %r2, %r2, {2};\nbra M{0};\n", k, a, k * 31 + a);
    }
    return fmt::format(
        "and.b32 %r5, %r2, 7;\nT{0}: .branchtargets {1};\nbrx.idx %r5, T{0};\n{2}M{0}: add.s32 %r2, %r2, 1;\n", k,
        labels, arms);
  });
}

std::string accesses(u32 n) {
  return repeated(n, [](u32 k) {
    return fmt::format(
        "setp.gt.s32 %p1, %r2, {0};\n@%p1 bra L{1};\nadd.u32 %r5, %r1, {1};\nmul.wide.s32 %a2, %r5, 4;\n"
        "add.s64 %a2, %a1, %a2;\nst.global.u32 [%a2], %r2;\nL{1}: xor.b32 %r2, %r2, {2};\n",
        k * 13 % 101, k, k * 31);
  });
}

// Each arm has a pointer of its own, so that each access is tested.
std::string own_tests(u32 n) {
  return repeated(n, [](u32 k) {
    return fmt::format(
        "setp.gt.s32 %p1, %r2, {0};\n@%p1 bra L{1};\nld.param.u64 %a2, [p0];\nst.global.u32 [%a2+{2}], %r2;\n"
        "L{1}: xor.b32 %r2, %r2, {1};\n",
        k * 13 % 101, k, 4 * k);
  });
}

// No branches, but choices: many numbers are alive all the time, each element of the list is changed now and then.
std::string selections(u32 n) {
  constexpr u32 kAlive = 100;
  std::string begin = fmt::format(".reg .b32 %v<{}>;\n", kAlive), end;
  for (u32 k = 0; k < kAlive; ++k) {
    begin += fmt::format("ld.global.u32 %v{0}, [%a3+{1}];\n", k, 128 * k);
    end += fmt::format("xor.b32 %r2, %r2, %v{};\n", k);
  }
  const std::string middle = repeated(3 * n, [](u32 k) {
    const u32 a = k * 37 % kAlive, b = k * 61 % 97, c = k * 29 % 89;
    return fmt::format(
        "setp.gt.s32 %p1, %v{1}, {3};\nmad.lo.s32 %r5, %v{1}, %v{2}, %v{0};\nsub.s32 %r6, %v{2}, %v{0};\n"
        "selp.b32 %v{0}, %r5, %r6, %p1;\n@%p1 xor.b32 %v{2}, %v{2}, %r6;\n",
        a, b, c, k);
  });
  return begin + middle + end;
}

constexpr Shape kShapes[] = {{"divergent", divergent}, {"inside", inside},       {"two_armed", two_armed},
                             {"uniform", uniform},     {"loops", loops},         {"switches", switches},
                             {"accesses", accesses},   {"own_tests", own_tests}, {"selections", selections}};

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double refused(const std::vector<Diag>& why) {
  fmt::print("{}\n", why[0].message);
  return -1;
}

}  // namespace

std::span<const Shape> branch_shapes() { return kShapes; }

double seconds_to_compile(const Shape& shape, u32 branches) {
  auto m = ptx::parse(kernel(shape.body(branches)), "big.ptx");
  if (!m) return refused(m.diags());
  Jit jit({});
  Variant v;
  v.block = {128, 1, 1};
  const double start = processor_seconds();
  const auto code = jit.compile(**m, "big", v);
  return code ? processor_seconds() - start : refused(code.diags());
}

}  // namespace us::codegen
