// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/checker.h"

namespace us::sanitizer {
namespace {

constexpr std::size_t kRecent = 16;  // launches whose fault may still come

}  // namespace

Checker::Checker(Options o) {
  process_.options = o;
  process_.order = std::make_shared<OneAfterAnother>();
}

void Checker::set_memory(u64 begin, u64 bytes, Shadow::Memory m) {
  Planes p;
  if (p.reserve(begin, bytes)) process_.global.set_planes(std::move(p));
  if (!m) return;
  process_.global.set_memory([this, read = std::move(m)](u64 at, u32& word) {
    const Allocations::Block* const b = process_.allocations.live(at);
    return b && !b->mapped && read(at, word);
  });
}

void Checker::set_order(std::shared_ptr<const LaunchOrder> o) {
  const std::lock_guard held(process_.lock);
  process_.order = std::move(o);
}

std::shared_ptr<probe::Listener> Checker::launch(const probe::LaunchInfo& l) {
  const std::lock_guard held(process_.lock);
  auto info = std::make_shared<const probe::LaunchInfo>(l);
  process_.launches[l.id] = info;
  auto made = std::make_shared<LaunchChecker>(process_, std::move(info));
  recent_.push_back(made);
  if (recent_.size() > kRecent) {
    process_.launches.erase(recent_.front()->info().id);
    recent_.pop_front();
  }
  return made;
}

void Checker::memory(const probe::Memory& m) {
  const bool comes = m.kind == probe::Memory::Kind::Allocated || m.kind == probe::Memory::Kind::Mapped;
  HostStack::Addresses from;
  if (!comes && process_.stack.take) from = process_.stack.take();
  const std::lock_guard held(process_.lock);
  if (!comes && m.node) {  // when its turn comes: work before it may be using the memory
    freeing_[m.node] = {m, std::move(from)};
    return;
  }
  process_.reads.memory_changes(process_.global.planes(), m.begin, m.bytes);
  process_.allocations.told(m, std::move(from));
  process_.aliases.told(m);
  if (!comes) return;
  process_.global.drop(m.begin, m.bytes);
  process_.global.expect(m.begin, m.bytes);
  std::erase_if(freeing_, [&](const auto& f) {
    const probe::Memory& freed = f.second.first;
    return freed.begin < m.begin + m.bytes && m.begin < freed.begin + freed.bytes;
  });
}

void Checker::work(const probe::Work& w) {
  const std::lock_guard held(process_.lock);
  if (w.kind == probe::Work::Kind::Complete) {
    if (const auto written = process_.writing.extract(w.node)) {
      for (const probe::Range& r : written.mapped()) process_.allocations.host_wrote(r.begin, r.bytes);
    }
    const auto f = freeing_.extract(w.node);
    if (!f) return;
    const probe::Memory& m = f.mapped().first;
    process_.reads.memory_changes(process_.global.planes(), m.begin, m.bytes);
    process_.allocations.told(m, f.mapped().second);
    return;
  }
  if (w.kind == probe::Work::Kind::Tells)
    for (const probe::Work::Value& v : w.values) process_.words.insert(v.address);
  if (w.kind != probe::Work::Kind::Submitted) return;
  for (const auto* ranges : {&w.writes, &w.written_among}) {
    for (const probe::Range& r : *ranges)
      if (r.space == probe::Space::Global) process_.writing[w.node].push_back(r);
  }
}

void Checker::fault(u64 launch, const probe::Fault& f, const std::string& text) {
  const std::lock_guard held(process_.lock);
  for (const auto& l : recent_) {
    if (l->info().id == launch) return l->fault(f, text);
  }
}

void Checker::add(Finding f) {
  const std::lock_guard held(process_.lock);
  others_.push_back(std::move(f));
}

std::vector<Finding> Checker::take() {
  const std::lock_guard held(process_.lock);
  std::vector<Finding> all = process_.collector.take();
  for (Finding& f : others_) all.push_back(std::move(f));
  others_.clear();
  return all;
}

}  // namespace us::sanitizer
