// SPDX-License-Identifier: Apache-2.0
// Stands before any builder and tells what the accesses of an instruction do before they are done. Everything else it
// hands on. A builder's own calls of itself do not come by here, so that nothing is told twice.
#pragma once
#include "codegen/builder.h"
#include "probe/listener.h"

namespace us::codegen {

class ProbeBuilder final : public Builder {
 public:
  ProbeBuilder(Builder& to, probe::Strategy strategy)
      : to_(to),
        counts_(strategy != probe::Strategy::Events),
        records_(strategy == probe::Strategy::Records),
        events_(strategy == probe::Strategy::Events) {}
  // Of the instruction that follows; does its loop wait for what it reads?
  void begin(u32 site, bool looks = false) { site_ = site, looks_ = looks; }

  void load(const MemRef& m, std::span<V> out) override {
    count_bytes(probe::Counter::Read, m);
    touch(probe::RecordCode::Kind::Read, m);
    if (events_) tell(probe::Access::Kind::Read, m, {});
    to_.load(m, out);
  }
  void store(const MemRef& m, std::span<const V> in) override {
    count_bytes(probe::Counter::Written, m);
    touch(probe::RecordCode::Kind::Write, m);
    if (events_) tell(probe::Access::Kind::Write, m, in);
    to_.store(m, in);
  }
  V atomic(AtomOp op, isa::Type t, const MemRef& m, V b, V c, bool used) override {
    count_bytes(probe::Counter::Read, m);
    count_bytes(probe::Counter::Written, m);
    touch(probe::RecordCode::Kind::Atomic, m);
    if (events_) to_.note_site(site_);  // it is told behind it, unless it ends with a fault
    const V old = to_.atomic(op, t, m, b, c, used || events_);
    if (events_)
      tell_atomic(m, old, op == AtomOp::Cas ? equal(old, b) : to_.imm(1, 1), op == AtomOp::FAdd ? b : V{}, t);
    return old;
  }
  void touch(probe::RecordCode::Kind, const MemRef&) override;
  bool records() const override { return records_ && site_ != ir::kNoSite; }
  void detour(probe::Detour d, V lanes) override {
    if (records()) to_.record_lanes(site_, d, lanes);
  }
  bool listens() const override { return events_; }
  void unless_whole(V members, const Tell& tell) override { to_.unless_whole(members, tell); }
  using Builder::note;
  void note(device::NoteCode code, V value) override {
    if (!events_) return;
    to_.note_site(site_);
    to_.call_rt(device::RtFn::ProbeNote, {to_.imm(64, code.pack()), value ? value : to_.imm(64, 0)}, {}, nullptr);
  }

  u32 width(V v) override { return to_.width(v); }
  V imm(u32 bits, u64 value) override { return to_.imm(bits, value); }
  V undef(u32 bits) override { return to_.undef(bits); }
  V bin(Bin op, V a, V b) override { return to_.bin(op, a, b); }
  V un(Un op, V a) override { return to_.un(op, a); }
  V icmp(ICmp op, V a, V b) override { return to_.icmp(op, a, b); }
  V select(V c, V a, V b) override { return to_.select(c, a, b); }
  V resize(V a, u32 bits, bool sign) override { return to_.resize(a, bits, sign); }
  V fbin(FBin op, FT t, V a, V b) override { return to_.fbin(op, t, a, b); }
  V fma(FT t, V a, V b, V c) override { return to_.fma(t, a, b, c); }
  V fun(FUn op, FT t, V a) override { return to_.fun(op, t, a); }
  V fcmp(FCmp op, FT t, V a, V b) override { return to_.fcmp(op, t, a, b); }
  V fcvt(FT to, FT from, V a) override { return to_.fcvt(to, from, a); }
  V i2f(FT to, V a, bool sign) override { return to_.i2f(to, a, sign); }
  V f2i(u32 bits, bool sign, FT from, V a) override { return to_.f2i(bits, sign, from, a); }
  V lanewise(device::NumFn fn, std::initializer_list<V> args, u32 bits) override {
    return to_.lanewise(fn, args, bits);
  }
  V table(std::span<const u32> entries, V index) override { return to_.table(entries, index); }
  bool interpolate(numerics::Approx a, V x, Interpolated& out) override { return to_.interpolate(a, x, out); }
  V quick(V x, Operation ordinary, Operation short_way, Operation general) override {
    return to_.quick(x, ordinary, short_way, general);
  }
  bool fast_math() const override { return to_.fast_math(); }

  V lane_id() override { return to_.lane_id(); }
  V active_mask() override { return to_.active_mask(); }
  V ballot(V pred) override { return to_.ballot(pred); }
  V members(V membermask) override { return to_.members(membermask); }
  V shuffle(V src, V lane) override { return to_.shuffle(src, lane); }
  V thread_index(u32 k) override { return to_.thread_index(k); }
  V context(device::ContextWord w, u32 k) override { return to_.context(w, k); }

  void fence(Order order, Scope scope) override { to_.fence(order, scope); }
  V symbol_address(ir::SymId s, i64 offset) override { return to_.symbol_address(s, offset); }
  V to_generic(isa::Space s, V addr) override { return to_.to_generic(s, addr); }
  V from_generic(isa::Space s, V addr) override { return to_.from_generic(s, addr); }
  V in_space(isa::Space s, V addr) override { return to_.in_space(s, addr); }
  void call_runtime(device::RtFn fn, std::span<const V> args, std::span<const u32> bits, V* results,
                    bool uniform) override {
    if (events_ || records_) to_.note_site(site_);
    to_.call_runtime(fn, args, bits, results, uniform);
  }
  bool multiply_registers(const device::MmaCode& code, std::span<const V> args, V* out) override {
    return to_.multiply_registers(code, args, out);
  }
  void count(u32 site, probe::Counter c, u32 each) override { to_.count(site, c, each); }

  V read(const ir::Operand& o, isa::Type as) override { return to_.read(o, as); }
  void write(const ir::Operand& o, V v) override { to_.write(o, v); }
  u32 register_bits(ir::ValueId v) const override { return to_.register_bits(v); }
  const ir::Module& module() const override { return to_.module(); }

 private:
  void count_bytes(probe::Counter c, const MemRef& m) {
    if (counts_ && site_ != ir::kNoSite) to_.count(site_, c, m.bits / 8 * m.count);
  }
  V equal(V a, V b);
  V address_of(const MemRef&);
  void tell(probe::Access::Kind, const MemRef&, std::span<const V> values);
  void tell_atomic(const MemRef&, V old, V wrote, V addend, isa::Type);  // addend: of a sum of floating-point numbers
  void tell(device::AccessCode, const MemRef&, std::span<const V> rows);

  Builder& to_;
  const bool counts_, records_, events_;
  u32 site_ = ir::kNoSite;
  bool looks_ = false;
};

}  // namespace us::codegen
