// SPDX-License-Identifier: Apache-2.0
//   sm PTX's-sm constant-bytes kernels
//   NAME registers frame stack shared max-threads      one line each
#include "driver/code/facts_cache.h"

#include <sstream>

#include <fmt/format.h>

namespace us::driver {
namespace {

std::string to_text(const sass::Cubin& c) {
  std::string out = fmt::format("{} {} {} {}\n", c.sm, c.ptx_sm, c.constant_bytes, c.kernels.size());
  for (const sass::KernelFacts& k : c.kernels)
    out += fmt::format("{} {} {} {} {} {}\n", k.name, k.registers, k.frame_bytes, k.stack_bytes, k.shared_bytes,
                       k.max_threads);
  return out;
}

}  // namespace

std::optional<sass::Cubin> FactsCache::load(const std::string& key) const {
  const auto text = files_.load(key);
  if (!text) return {};
  std::istringstream in(*text);
  sass::Cubin c;
  std::size_t kernels = 0;
  in >> c.sm >> c.ptx_sm >> c.constant_bytes >> kernels;
  for (sass::KernelFacts k;
       kernels && in >> k.name >> k.registers >> k.frame_bytes >> k.stack_bytes >> k.shared_bytes >> k.max_threads;
       --kernels)
    c.kernels.push_back(k);
  if (!in || kernels) return {};
  return c;
}

void FactsCache::store(const std::string& key, const sass::Cubin& c) const { files_.store(key, to_text(c)); }

}  // namespace us::driver
