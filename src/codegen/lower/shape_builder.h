// SPDX-License-Identifier: Apache-2.0
// The builder that computes only shapes. Used by the divergence analysis; the LLVM builder uses the same transfer
// functions.
#pragma once
#include <functional>

#include "codegen/lower/shape.h"

namespace us::codegen {

// Shape of a literal, register-free operand; Top-free.
Shape shape_immediate(const ir::Operand&, isa::Type as);
// Result shape of a load from this address shape.
Shape shape_load(const MemRef&, const Shape* addr, bool its);

class ShapeBuilder : public Builder {
 public:
  ShapeBuilder(const ir::Module& m, const CodeFacts& facts, std::vector<Shape>& values, const ir::Function& f, bool its)
      : module_(m), facts_(facts), values_(values), f_(f), its_(its) {}
  bool changed = false;
  std::function<bool(ir::ValueId)> through_shadow;  // the current use reads this value per lane (see Analysis::shadow)
  void begin(const ir::Inst& i);                    // before the semantics of an instruction
  void define(ir::ValueId, Shape);
  Shape operand_shape(const ir::Operand&) const;  // predicate or register as is

  u32 width(V v) override { return at(v).bits; }
  V imm(u32 bits, u64 value) override { return make(constant_shape(bits, value)); }
  V bin(Bin op, V a, V b) override;
  V un(Un op, V a) override { return make(shape_un(op, at(a))); }
  V icmp(ICmp op, V a, V b) override { return make(shape_icmp(op, at(a), at(b))); }
  V select(V c, V a, V b) override { return make(shape_select(at(c), at(a), at(b))); }
  V resize(V a, u32 bits, bool sign) override { return make(shape_resize(at(a), bits, sign, nullptr)); }
  V fbin(FBin op, FT t, V a, V b) override;
  V fma(FT t, V a, V b, V c) override { return make(shape_float(t, bits_of(t), {&at(a), &at(b), &at(c)})); }
  V fun(FUn, FT t, V a) override { return make(shape_float(t, bits_of(t), {&at(a)})); }
  V fcmp(FCmp, FT, V a, V b) override { return make(shape_lanewise(1, {&at(a), &at(b)})); }
  V fcvt(FT to, FT from, V a) override {
    Shape s = shape_lanewise(bits_of(to), {&at(a)});
    s.nan = nan_of_conversion(to, from);
    return make(s);
  }
  V i2f(FT to, V a, bool) override;
  V f2i(u32 bits, bool, FT, V a) override { return make(shape_lanewise(bits, {&at(a)})); }
  bool fast_math() const override { return facts_.fast_math; }
  V lanewise(device::NumFn, std::initializer_list<V> args, u32 bits) override { return make(all_of(args, bits)); }
  V table(std::span<const u32>, V index) override { return make(all_of({index}, 32)); }
  V lane_id() override { return make(shape_lane_id(facts_)); }
  V active_mask() override { return make(its_ ? varying_shape(32) : uniform_shape(32)); }
  V ballot(V) override { return make(its_ ? varying_shape(32) : uniform_shape(32)); }
  V members(V m) override;
  V shuffle(V src, V lane) override;
  V thread_index(u32 k) override { return make(shape_thread_index(k, facts_)); }
  V context(device::ContextWord w, u32 k) override { return make(shape_context(w, k, facts_)); }
  void load(const MemRef&, std::span<V> out) override;
  void store(const MemRef&, std::span<const V>) override {}
  V atomic(AtomOp, isa::Type t, const MemRef&, V, V, bool) override { return make(varying_shape(isa::bits_of(t))); }
  void fence(Order, Scope) override {}
  V symbol_address(ir::SymId, i64 offset) override;
  V to_generic(isa::Space s, V a) override { return offset_unknown(s, a); }
  V from_generic(isa::Space s, V a) override { return offset_unknown(s, a); }
  void call_runtime(device::RtFn, std::span<const V> args, std::span<const u32> bits, V* results,
                    bool uniform_if_args) override;
  V in_space(isa::Space s, V a) override { return make(s == isa::Space::Local ? varying_shape(1) : all_of({a}, 1)); }
  V read(const ir::Operand&, isa::Type as) override;
  void write(const ir::Operand&, V) override;
  u32 register_bits(ir::ValueId v) const override { return ir::bits_of(f_.regs[v.v]); }
  const ir::Module& module() const override { return module_; }

 private:
  V make(Shape s) {
    pool_.push_back(facts_.one_thread ? of_first_lane(s) : std::move(s));
    return V{static_cast<u32>(pool_.size())};
  }
  const Shape& at(V v) const { return pool_[v.id - 1]; }
  Shape all_of(std::span<const V> args, u32 bits) const;
  Shape all_of(std::initializer_list<V> args, u32 bits) const {
    return all_of(std::span<const V>(args.begin(), args.size()), bits);
  }
  V offset_unknown(isa::Space s, V a) {  // adding the start of a window
    if (s == isa::Space::Local) return make(varying_shape(64));
    const Shape wide = shape_resize(at(a), 64, false, nullptr);
    const bool window = s == isa::Space::Shared || s == isa::Space::SharedCluster;
    return make(window ? shape_bin(Bin::Add, wide, uniform_shape(64)) : wide);
  }

  const ir::Module& module_;
  const CodeFacts& facts_;
  std::vector<Shape>& values_;
  const ir::Function& f_;
  const bool its_;
  const ir::Inst* inst_ = nullptr;
  std::vector<Shape> pool_;
};

}  // namespace us::codegen
