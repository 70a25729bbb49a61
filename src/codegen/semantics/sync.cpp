// SPDX-License-Identifier: Apache-2.0
// Barriers of a CTA and of a cluster, fences, mbarrier objects, nanosleep, trap, dependent grids.
#include "codegen/semantics/memory.h"

namespace us::codegen {

using device::NoteCode, device::RtFn;

namespace {
bool aligned(const Sem& s) {  // bar.* is barrier.*.aligned
  return s.has(Tok::aligned) || isa::info(s.i.form).pattern.starts_with("bar{");
}
void note_proxy_fence(const Sem& s) {
  using Kind = device::FenceKind;
  const isa::Form f = s.i.form;
  const bool restricted = f == isa::Form::fence_sync_restrict_acquire || f == isa::Form::fence_sync_restrict_release;
  const bool acquires = f == isa::Form::fence_proxy_tensormap_acquire;
  const Kind kind = f == isa::Form::fence_mbarrier_init             ? Kind::MbarrierInit
                    : acquires                                      ? Kind::TensormapAcquire
                    : f == isa::Form::fence_proxy_tensormap_release ? Kind::TensormapRelease
                    : restricted                                    ? Kind::Memory
                    : s.has(Tok::alias)                             ? Kind::ProxyAlias
                                                                    : Kind::ProxyAsync;
  NoteCode code = fence_note(kind, order_of(s, Order::AcqRel), scope_of(s, Scope::Sys));
  const bool generic =
      f == isa::Form::fence_proxy_async_generic_acquire || f == isa::Form::fence_proxy_async_generic_release;
  if (restricted || generic || s.has(Tok::shared_cta) || s.has(Tok::shared_cluster)) code.space = device::kNoteShared;
  if (s.has(Tok::global)) code.space = device::kNoteGlobal;
  s.b.note(code, acquires ? address(s, 0) : V{});
}
V count_or_all(const Sem& s, u32 k) { return s.has_operand(k) ? s.in(k, Type::u32) : imm32(s.b, 0); }
}  // namespace

void sem_bar_sync(const Sem& s) {
  s.b.call_rt(RtFn::BarSync, {s.in(0, Type::u32), count_or_all(s, 1), imm32(s.b, aligned(s))}, {}, nullptr);
}
void sem_bar_arrive(const Sem& s) {
  s.b.call_rt(RtFn::BarArrive, {s.in(0, Type::u32), s.in(1, Type::u32), imm32(s.b, aligned(s))}, {}, nullptr);
}
// d, a, b (may be absent), c
void sem_bar_red(const Sem& s) {
  const u32 op = s.has(Tok::popc) ? 0 : s.has(Tok::and_) ? 1 : 2, bits = op ? 1 : 32;
  V r;
  s.b.call_rt(RtFn::BarRed,
              {s.in(1, Type::u32), count_or_all(s, 2), imm32(s.b, aligned(s)), imm32(s.b, op), s.in(3, Type::pred)},
              {bits}, &r);
  s.out(0, r, op ? Type::pred : Type::u32);
}
void sem_barrier_cluster_arrive(const Sem& s) {
  if (!s.has(Tok::relaxed)) s.b.fence(Order::AcqRel, Scope::Cluster);
  if (s.b.listens()) s.b.note({.what = NoteCode::What::Sync, .flag = s.has(Tok::relaxed)});
  s.b.call_rt(RtFn::ClusterArrive, {}, {}, nullptr);
}
void sem_barrier_cluster_wait(const Sem& s) {
  s.b.call_rt(RtFn::ClusterWait, {}, {}, nullptr);
  s.b.fence(Order::AcqRel, Scope::Cluster);
}
// The lanes have been gathered by whoever drives the builder, and a warp sees its own memory accesses in order.
void sem_bar_warp_sync(const Sem& s) {
  s.b.members(s.in(0, Type::u32));
  if (s.b.listens()) s.b.note({.what = NoteCode::What::WarpSync}, s.in(0, Type::u32));
}

namespace {
void memory_fence(const Sem& s, Order order) {
  const Scope scope = scope_of(s, Scope::Sys);
  if (s.b.listens()) s.b.note(fence_note(device::FenceKind::Memory, order, scope));
  s.b.fence(order, scope);
}
}  // namespace
void sem_membar(const Sem& s) { memory_fence(s, Order::SeqCst); }
void sem_fence(const Sem& s) { memory_fence(s, order_of(s, Order::AcqRel)); }

// Asynchronous copies are made by the thread that runs the CTA: ordering the generic proxy orders all of them.
void sem_fence_proxy(const Sem& s) {
  if (s.b.listens()) note_proxy_fence(s);
  s.b.fence(Order::AcqRel, scope_of(s, Scope::Sys));
}

// mbarrier
namespace {
bool generic(const Sem& s) { return space_of(s) == isa::Space::Generic; }
V barrier_address(const Sem& s, u32 k) { return shared_offset(s, k, generic(s)); }
void note_order(const Sem& s, Order otherwise) {
  if (!s.b.listens()) return;
  NoteCode code = fence_note({}, order_of(s, otherwise), scope_of(s, Scope::Cta));
  code.what = NoteCode::What::Sync;
  s.b.note(code);
}
}  // namespace
void sem_mbarrier_init(const Sem& s) {
  s.b.call_rt(RtFn::MbarInit, {barrier_address(s, 0), s.in(1, Type::u32)}, {}, nullptr);
}
void sem_mbarrier_inval(const Sem& s) { s.b.call_rt(RtFn::MbarInval, {barrier_address(s, 0)}, {}, nullptr); }
void sem_mbarrier_expect_tx(const Sem& s) {
  s.b.call_rt(RtFn::MbarExpectTx, {barrier_address(s, 0), s.in(1, Type::u32)}, {}, nullptr);
}
void sem_mbarrier_complete_tx(const Sem& s) {
  s.b.call_rt(RtFn::MbarCompleteTx, {barrier_address(s, 0), s.in(1, Type::u32)}, {}, nullptr);
}
// arrive and arrive_drop with every suffix: d, [a], count or transaction bytes (may be absent)
void sem_mbarrier_arrive(const Sem& s) {
  Builder& b = s.b;
  const bool expect = s.has(Tok::expect_tx), remote = s.i.ops[0].kind == ir::Operand::Kind::Sink;
  const u32 flags =
      (s.has(Tok::arrive_drop) ? 1 : 0) | (s.has(Tok::noComplete) ? 2 : 0) | (expect ? 4 : 0) | (remote ? 8 : 0);
  V number = s.has_operand(2) ? s.in(2, Type::u32) : imm32(b, 1);
  V count = expect ? imm32(b, 1) : number, bytes = expect ? number : imm32(b, 0), state;
  note_order(s, Order::Release);
  b.call_rt(RtFn::MbarArrive, {barrier_address(s, 1), count, bytes, imm32(b, flags)}, {64}, &state);
  if (!remote) s.out(0, state, Type::b64);
}
// test_wait and try_wait: p, [a], state or parity, time hint (may be absent)
void sem_mbarrier_wait(const Sem& s) {
  Builder& b = s.b;
  const bool parity = s.has(Tok::parity);
  const u32 flags = (parity ? 1 : 0) | (s.has(Tok::try_wait) ? 2 : 0);
  V state = s.in(2, parity ? Type::u32 : Type::b64), hint = s.has_operand(3) ? s.in(3, Type::u32) : imm32(b, 0), done;
  note_order(s, Order::Acquire);
  b.call_rt(RtFn::MbarTestWait, {barrier_address(s, 1), state, imm32(b, flags), hint}, {1}, &done, true);
  s.out(0, done, Type::pred);
}
void sem_mbarrier_pending_count(const Sem& s) {
  V n;
  s.b.call_rt(RtFn::MbarPending, {s.in(1, Type::b64)}, {32}, &n, true);
  s.out(0, n, Type::u32);
}

void sem_nanosleep(const Sem& s) { s.b.call_rt(RtFn::Nanosleep, {s.in(0, Type::u32)}, {}, nullptr); }
void sem_trap(const Sem& s) { s.b.call_rt(RtFn::Trap, {}, {}, nullptr); }
void sem_griddepcontrol(const Sem& s) {
  s.b.call_rt(s.has(Tok::wait) ? RtFn::GridWait : RtFn::GridTrigger, {}, {}, nullptr);
}

}  // namespace us::codegen
