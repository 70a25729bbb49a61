// SPDX-License-Identifier: Apache-2.0
// The two forms of numerics/atomic.h, scalars and values of a builder, against each other, and against results by hand.
#include <gtest/gtest.h>

#include <random>

#include "codegen/eval/eval_builder.h"
#include "codegen/semantics/atomic.h"

namespace us::codegen {
namespace {

using isa::Type;

const ir::Module& empty_module() {
  static const ir::Module m;
  return m;
}

// What the builder's form makes of one lane's values.
class Lanes {
 public:
  using Row = std::array<u64, 32>;
  Row updated(AtomOp op, Type t, const Row& old, const Row& x, const Row& y, bool shared) {
    const u32 bits = isa::bits_of(t);
    builder_.reset(~0u);
    const V r = codegen::updated(builder_, op, t, row(bits, old), row(bits, x), row(bits, y), shared);
    return builder_.value(r).lo;
  }

 private:
  V row(u32 bits, const Row& words) {  // lane by lane, from what is the same in all
    V v = builder_.imm(bits, words[0]);
    for (u32 l = 1; l < 32; ++l) {
      const V here = builder_.icmp(ICmp::Eq, builder_.lane_id(), builder_.imm(32, l));
      v = builder_.select(here, builder_.imm(bits, words[l]), v);
    }
    return v;
  }
  device::WarpCtx warp_{};
  std::array<eval::Lane, 32> lanes_{};
  eval::EvalBuilder builder_{empty_module(), warp_, lanes_};
};

template <class T>
u64 scalar(AtomOp op, Type t, u64 old, u64 x, u64 y, bool shared) {
  const numerics::ScalarArithmetic<T> a{atomic_type(t, shared)};
  return numerics::updated(a, op, static_cast<T>(old), static_cast<T>(x), static_cast<T>(y));
}
u64 scalar(AtomOp op, Type t, u64 old, u64 x, u64 y, bool shared) {
  switch (isa::bits_of(t)) {
    case 16:
      return scalar<u16>(op, t, old, x, y, shared);
    case 32:
      return scalar<u32>(op, t, old, x, y, shared);
    default:
      return scalar<u64>(op, t, old, x, y, shared);
  }
}

bool is_nan64(u64 v) { return v << 1 > 0xffe0000000000000ull; }

void hold_against_each_other(AtomOp op, Type t, std::span<const u64> edges) {
  Lanes lanes;
  std::mt19937_64 random(7);
  const u32 bits = isa::bits_of(t);
  const u64 all = bits == 64 ? ~u64{0} : (u64{1} << bits) - 1;
  const auto word = [&] { return (random() % 2 ? edges[random() % edges.size()] : random()) & all; };
  for (int turn = 0; turn < 60; ++turn)
    for (const bool shared : {false, true}) {
      Lanes::Row old, x, y;
      for (u32 l = 0; l < 32; ++l) old[l] = word(), x[l] = random() % 4 ? word() : old[l], y[l] = word();
      const Lanes::Row got = lanes.updated(op, t, old, x, y, shared);
      for (u32 l = 0; l < 32; ++l) {
        const u64 want = scalar(op, t, old[l], x[l], y[l], shared);
        // Which of two NaN of f64 survives a sum is the builder's choice (DEVIATIONS.md).
        if (t == Type::f64 && is_nan64(old[l]) && is_nan64(x[l]) && is_nan64(want) && is_nan64(got[l])) continue;
        ASSERT_EQ(got[l], want) << "operation " << int(op) << " bits " << bits << std::hex << " of " << old[l] << ", "
                                << x[l] << ", " << y[l] << " shared " << shared;
      }
    }
}

TEST(Atomic, BuilderAndScalarAgreeOnIntegers) {
  const u64 edges[] = {0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff, 0x8000000000000000, ~u64{0}};
  for (const Type t : {Type::u32, Type::s32, Type::u64, Type::s64})
    for (const AtomOp op : {AtomOp::Add, AtomOp::And, AtomOp::Or, AtomOp::Xor, AtomOp::Min, AtomOp::Max, AtomOp::Inc,
                            AtomOp::Dec, AtomOp::Exch, AtomOp::Cas})
      hold_against_each_other(op, t, edges);
  for (const AtomOp op : {AtomOp::Exch, AtomOp::Cas}) hold_against_each_other(op, Type::b16, edges);
}
TEST(Atomic, BuilderAndScalarAgreeOnFloats) {
  const u64 f32[] = {0,          0x80000000, 1,          0x807fffff, 0x00800000, 0x3f800000,
                     0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00001, 0xff800001, 0x80800001};
  const u64 f64[] = {0,
                     0x8000000000000000,
                     1,
                     0x000fffffffffffff,
                     0x3ff0000000000000,
                     0x7fefffffffffffff,
                     0x7ff0000000000000,
                     0xfff0000000000000,
                     0x7ff8000000000001,
                     0xfff0000000000001};
  const u64 halves[] = {0,          0x80008000, 0x00010001, 0x3c003c00, 0x7bff7bff, 0x7c00fc00, 0x7e01fc01, 0x7f807f81,
                        0x80000000, 0x00008000, 0x3f80bf80, 0x7fff7fff, 0xffff0000, 0x0400fbff, 0x7f7f7f7f, 0x00808080};
  hold_against_each_other(AtomOp::FAdd, Type::f32, f32);
  hold_against_each_other(AtomOp::FAdd, Type::f64, f64);
  for (const Type t : {Type::f16, Type::bf16, Type::f16x2, Type::bf16x2})
    for (const AtomOp op : {AtomOp::FAdd, AtomOp::FMin, AtomOp::FMax}) hold_against_each_other(op, t, halves);
}

// PTX ISA, "atom": inc is d >= b ? 0 : d + 1, dec is d == 0 || d > b ? b : d - 1.
TEST(Atomic, ByHand) {
  EXPECT_EQ(scalar(AtomOp::Inc, Type::u32, 4, 5, 0, false), 5u);
  EXPECT_EQ(scalar(AtomOp::Inc, Type::u32, 5, 5, 0, false), 0u);
  EXPECT_EQ(scalar(AtomOp::Inc, Type::u32, 6, 5, 0, false), 0u);
  EXPECT_EQ(scalar(AtomOp::Dec, Type::u32, 0, 5, 0, false), 5u);
  EXPECT_EQ(scalar(AtomOp::Dec, Type::u32, 6, 5, 0, false), 5u);
  EXPECT_EQ(scalar(AtomOp::Dec, Type::u32, 5, 5, 0, false), 4u);
  EXPECT_EQ(scalar(AtomOp::Min, Type::s32, 0xffffffff, 1, 0, false), 0xffffffffu);
  EXPECT_EQ(scalar(AtomOp::Min, Type::u32, 0xffffffff, 1, 0, false), 1u);
  EXPECT_EQ(scalar(AtomOp::Cas, Type::b32, 3, 3, 9, false), 9u);
  EXPECT_EQ(scalar(AtomOp::Cas, Type::b32, 4, 3, 9, false), 4u);
  // The smallest subnormal twice: global memory flushes, shared memory does not.
  EXPECT_EQ(scalar(AtomOp::FAdd, Type::f32, 1, 1, 0, false), 0u);
  EXPECT_EQ(scalar(AtomOp::FAdd, Type::f32, 1, 1, 0, true), 2u);
  EXPECT_EQ(scalar(AtomOp::FAdd, Type::f16x2, 0x3c000001, 0x3c000001, 0, false), 0x40000002u);  // .noftz
  EXPECT_EQ(scalar(AtomOp::FAdd, Type::bf16, 0x3f80, 0x3f80, 0, false), 0x4000u);
  EXPECT_EQ(scalar(AtomOp::FMin, Type::f16, 0x0000, 0x8000, 0, false), 0x8000u);
  EXPECT_EQ(scalar(AtomOp::FMax, Type::f16, 0x7e00, 0xbc00, 0, false), 0xbc00u);
}

}  // namespace
}  // namespace us::codegen
