// SPDX-License-Identifier: Apache-2.0
// The asynchronous part of the imagined machine: mbarriers, copies, wgmma. Copies are delivered when they are issued.
#include "sanitizer_engine/sim.h"

namespace us::sanitizer::test {

using probe::Copies;
using probe::Mbarrier;
using probe::Transfer;

namespace {

u64 window(u64 address, u32 rank) { return address < probe::kCtaStride ? address + rank * probe::kCtaStride : address; }

}  // namespace

Lanes& Lanes::init(u64 m, u32 count) {
  const u64 at = window(m, who().rank);
  sim_.objects_[{cta_ / sim_.shape.cluster, at}] = {.expected = count, .pending = count};
  Mbarrier e;
  e.kind = Mbarrier::Kind::Init, e.address = at, e.count = count;
  return sim_.listener->mbarrier(who(), e), *this;
}

Lanes& Lanes::inval(u64 m) {
  Mbarrier e;
  e.kind = Mbarrier::Kind::Inval, e.address = window(m, who().rank);
  return sim_.listener->mbarrier(who(), e), *this;
}

bool Sim::step(u32 cluster, u64 at, i64 arrivals, i64 tx) {
  Object& o = objects_[{cluster, at}];
  o.pending -= arrivals, o.tx += tx;
  if (o.pending || o.tx) return false;
  o.pending = o.expected;
  return true;
}

Lanes& Lanes::mb_arrive(u64 m, u32 count, i64 tx, Order order, Scope scope) {
  each([&](const probe::Who& w, u32) {
    Mbarrier e;
    e.kind = Mbarrier::Kind::Arrive, e.address = window(m, w.rank), e.count = count, e.tx = tx, e.expects = tx != 0;
    e.order = order, e.scope = scope;
    e.completed = sim_.step(static_cast<u32>(w.cluster), e.address, count, tx);
    sim_.listener->mbarrier(w, e);
  });
  return *this;
}

Lanes& Lanes::expect(u64 m, i64 tx) {
  Mbarrier e;
  e.kind = Mbarrier::Kind::ExpectTx, e.address = window(m, who().rank), e.tx = tx;
  sim_.step(cta_ / sim_.shape.cluster, e.address, 0, tx);
  return sim_.listener->mbarrier(who(), e), *this;
}

Lanes& Lanes::mb_wait(u64 m, bool parity, bool done, Order order, Scope scope) {
  Mbarrier e;
  e.kind = Mbarrier::Kind::Test, e.address = window(m, who().rank), e.by_parity = true, e.state = parity, e.done = done;
  e.may_block = true, e.order = order, e.scope = scope;
  return sim_.listener->mbarrier(who(), e), *this;
}

Lanes& Lanes::copies_arrive(u64 m, bool noinc) {
  each([&](const probe::Who& w, u32) {
    Mbarrier e;
    e.kind = Mbarrier::Kind::CopiesArrive, e.address = window(m, w.rank), e.noinc = noinc;
    e.completed = sim_.step(static_cast<u32>(w.cluster), e.address, noinc ? 1 : 0, 0);
    sim_.listener->mbarrier(w, e);
  });
  return *this;
}

Lanes& Lanes::cp_async(u64 to, u64 from, u32 bytes) {
  each([&](const probe::Who& w, u32 lane) {
    const probe::Range source{Space::Global, from + lane * bytes, bytes},
        target{Space::Shared, window(to, w.rank) + lane * bytes, bytes};
    Transfer t;
    t.id = ++sim_.copies_, t.from = {&source, 1}, t.to = {&target, 1};
    sim_.listener->transfer(w, t);
    sim_.listener->copies(w, {.kind = Copies::Kind::Delivered, .id = t.id});
  });
  return *this;
}

Lanes& Lanes::cp_async_row(u64 to, u64 from, u32 bytes) {
  const probe::Range source{Space::Global, from, 32 * bytes}, target{Space::Shared, window(to, who().rank), 32 * bytes};
  Transfer t;
  t.kind = Transfer::Kind::CpAsync, t.id = sim_.copies_ + 1;
  sim_.copies_ += 32;
  t.from = {&source, 1}, t.to = {&target, 1};
  return sim_.listener->transfer(who(), t), *this;
}

Lanes& Lanes::commit(bool bulk) {
  return sim_.listener->copies(who(), {.kind = Copies::Kind::Committed, .bulk = bulk}), *this;
}

Lanes& Lanes::wait_group(u64 left, bool bulk, bool read_only) {
  return sim_.listener->copies(who(), {.kind = Copies::Kind::Waited, .bulk = bulk, .read_only = read_only, .id = left}),
         *this;
}

Lanes& Lanes::bulk_load(u64 to, u64 from, u32 bytes, u64 m, bool deliver) {
  const probe::Range source{Space::Global, from, bytes}, target{Space::Shared, window(to, who().rank), bytes};
  Transfer t;
  t.kind = Transfer::Kind::Bulk, t.completion = Transfer::Completion::Mbarrier;
  t.id = ++sim_.copies_, t.from = {&source, 1}, t.to = {&target, 1}, t.mbarrier = window(m, who().rank),
  t.tx_bytes = bytes;
  sim_.listener->transfer(who(), t);
  return deliver ? complete(t.mbarrier, bytes) : *this;
}

Lanes& Lanes::complete(u64 at, i64 bytes) {
  Mbarrier e;
  e.kind = Mbarrier::Kind::CompleteTx, e.address = at, e.tx = bytes;
  e.completed = sim_.step(cta_ / sim_.shape.cluster, at, 0, -bytes);
  return sim_.listener->mbarrier(who(), e), *this;
}

Lanes& Lanes::bulk_store(u64 to, u64 from, u32 bytes) {
  const probe::Range source{Space::Shared, window(from, who().rank), bytes}, target{Space::Global, to, bytes};
  Transfer t;
  t.kind = Transfer::Kind::Bulk, t.completion = Transfer::Completion::BulkGroup;
  t.id = ++sim_.copies_, t.from = {&source, 1}, t.to = {&target, 1};
  return sim_.listener->transfer(who(), t), *this;
}

Lanes& Lanes::store_async(u64 to, u32 bytes, u64 m) {
  const probe::Range target{Space::Shared, to, bytes};
  Transfer t;
  t.kind = Transfer::Kind::StoreAsync, t.completion = Transfer::Completion::Mbarrier;
  t.id = ++sim_.copies_, t.to = {&target, 1}, t.mbarrier = m, t.tx_bytes = bytes;
  sim_.listener->transfer(who(), t);
  return complete(m, bytes);
}

Lanes& Lanes::wgmma(u64 shared, u32 bytes) {
  const probe::Range operand{Space::Shared, window(shared, who().rank), bytes};
  return sim_.listener->matrix(who(), {.kind = probe::Matrix::Kind::Issue, .operands = {&operand, 1}}), *this;
}
Lanes& Lanes::wgmma_commit() {
  return sim_.listener->matrix(who(), {.kind = probe::Matrix::Kind::Commit, .operands = {}}), *this;
}
Lanes& Lanes::wgmma_wait(u32 left) {
  return sim_.listener->matrix(who(), {.kind = probe::Matrix::Kind::Wait, .operands = {}, .left = left}), *this;
}

}  // namespace us::sanitizer::test
