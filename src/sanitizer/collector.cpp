// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/collector.h"

#include <algorithm>

namespace us::sanitizer {
namespace {

constexpr std::size_t kBlocks = 1 << 20;  // that are told apart

}  // namespace

bool Collector::count(const Key& k, u64 block) {
  auto [at, fresh] = rows_.try_emplace(k);
  Row& r = at->second;
  if (fresh) r.number = rows_.size();
  if (r.blocks.size() < kBlocks) r.blocks.insert(block);
  r.finding.blocks = r.blocks.size();
  if (!fresh) r.finding.times++;
  return fresh;
}

void Collector::keep(const Key& k, Finding f) {
  Row& r = rows_[k];
  f.times = r.finding.times, f.blocks = r.finding.blocks;
  r.finding = std::move(f);
}

std::vector<Finding> Collector::take() {
  std::vector<Row*> all;
  for (auto& [k, r] : rows_) all.push_back(&r);
  std::sort(all.begin(), all.end(), [](const Row* a, const Row* b) { return a->number < b->number; });
  std::vector<Finding> out;
  for (Row* r : all) {
    if (r->finding.check != Check::Count) out.push_back(std::move(r->finding));
  }
  rows_.clear();
  return out;
}

}  // namespace us::sanitizer
