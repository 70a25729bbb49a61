// SPDX-License-Identifier: Apache-2.0
// The builder that computes: a V is an array of 32 words. Values live until reset(), which the interpreter calls before
// every instruction.
#pragma once
#include <array>
#include <deque>

#include "codegen/eval/lane_state.h"

namespace us::codegen::eval {

struct Value {
  u32 bits = 0;
  std::array<u64, 32> lo{}, hi{};  // bits above the width are zero; hi only for 128
};

class EvalBuilder final : public Builder {
 public:
  EvalBuilder(const ir::Module& module, device::WarpCtx& warp, std::array<Lane, 32>& lanes)
      : module_(module), warp_(warp), lanes_(lanes) {}
  void reset(u32 exec) { used_ = 0, exec_ = exec; }
  const Value& value(V v) const { return values_[v.id - 1]; }

  u32 width(V) override;
  V imm(u32 bits, u64 value) override;
  V bin(Bin, V a, V b) override;
  V un(Un, V a) override;
  V icmp(ICmp, V a, V b) override;
  V select(V cond, V a, V b) override;
  V resize(V a, u32 bits, bool sign) override;
  V fbin(FBin, FT, V a, V b) override;
  V fma(FT, V a, V b, V c) override;
  V fun(FUn, FT, V a) override;
  V fcmp(FCmp, FT, V a, V b) override;
  V fcvt(FT to, FT from, V a) override;
  V i2f(FT to, V a, bool sign) override;
  V f2i(u32 bits, bool sign, FT from, V a) override;
  V lanewise(device::NumFn fn, std::initializer_list<V> args, u32 result_bits) override;
  V table(std::span<const u32> entries, V index) override;

  V lane_id() override;
  V active_mask() override;
  V ballot(V pred) override;
  V members(V membermask) override;
  V shuffle(V src, V lane) override;
  V thread_index(u32 k) override;
  V context(device::ContextWord, u32 k) override;

  void load(const MemRef&, std::span<V> out) override;
  void store(const MemRef&, std::span<const V> in) override;
  V atomic(AtomOp, isa::Type, const MemRef&, V b, V c, bool result_used) override;
  void fence(Order, Scope) override;
  V symbol_address(ir::SymId, i64 offset) override;
  V to_generic(isa::Space, V addr64) override;
  V from_generic(isa::Space, V addr64) override;
  V in_space(isa::Space, V addr64) override;
  void call_runtime(device::RtFn fn, std::span<const V> args, std::span<const u32> result_bits, V* results,
                    bool uniform_if_args) override;

  void count(u32 site, probe::Counter, u32 each) override;
  void record(u32 site, probe::RecordCode, V at) override;
  void record_lanes(u32 site, probe::Detour, V lanes) override;
  void note_site(u32 site) override { warp_.probe_site = site; }

  V read(const ir::Operand&, isa::Type as) override;
  void write(const ir::Operand&, V) override;
  u32 register_bits(ir::ValueId) const override;
  const ir::Module& module() const override { return module_; }

 private:
  Value& make(u32 bits, V& out);
  template <class F>
  V per_lane(u32 bits, F&& f) {  // f(lane) -> low 64 bits
    V r;
    Value& v = make(bits, r);
    const u64 mask = bits >= 64 ? ~0ull : (1ull << bits) - 1;
    for (u32 l = 0; l < 32; ++l) v.lo[l] = f(l) & mask;
    return r;
  }
  template <class F>
  void each_active(F&& f) {
    for (u32 l = 0; l < 32; ++l)
      if (exec_ >> l & 1) f(l);
  }
  u64 get(V v, u32 lane) const { return values_[v.id - 1].lo[lane]; }
  u8* host_address(const MemRef&, u32 lane, u64 bytes_before);
  u8* parameter(ir::SymId, u32 lane);
  void require_access(const MemRef&);
  u32 first_active() const;
  const ir::Function& function() const;

  const ir::Module& module_;
  device::WarpCtx& warp_;
  std::array<Lane, 32>& lanes_;
  std::deque<Value> values_;
  u32 used_ = 0, exec_ = 0;
};

}  // namespace us::codegen::eval
