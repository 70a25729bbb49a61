// SPDX-License-Identifier: Apache-2.0
#include "timing/kernel_code.h"

#include <set>

namespace us::timing {

KernelCode::KernelCode(std::shared_ptr<const sass::Image> i, const sass::Function& f, const Parameters& p, u32 number)
    : image(std::move(i)), function(f), execution(*image->program, f) {
  timed.rows = rows_of(f, p);
  // cp.async.mbarrier.arrive without .noinc is two instructions: the arrival that it adds, and ARRIVES.
  std::set<u32> arrives;
  for (u32 k = 0; k < f.instructions.size(); ++k)
    if (f.instructions[k].name.starts_with("ARRIVES")) arrives.insert(execution.map().statements[k]);
  for (u32 k = 0; k < f.instructions.size(); ++k) {
    const u32 s = execution.map().statements[k];
    const bool told_later = f.instructions[k].name.starts_with("SYNCS") && arrives.contains(s);
    timed.sites.push_back(s == sass::Program::kNone || told_later ? probe::kNoSite
                                                                  : image->program->statements()[s].site);
    timed.bytes.push_back(f.instructions[k].memory.bytes);
  }
  listing = std::make_shared<const Listing>(Listing::of(*image, f, execution.map().statements, number));
  calls.resize(image->program->blocks().size());
  for (const sass::Program::Statement& s : image->program->statements())
    if (s.inst && !s.inst->call.empty()) calls[s.block] = true;
  const sass::Graph& graph = execution.graph();
  for (u32 b = 0; b < graph.blocks.size(); ++b)
    timed.blocks.push_back({graph.blocks[b].first, graph.blocks[b].end, execution.map().blocks[b].for_each_lane});
}

std::shared_ptr<KernelCode> KernelCodes::of(const probe::LaunchInfo& l, const Parameters& p, std::string& why) {
  const auto image = l.machine_code ? l.machine_code(why) : nullptr;
  if (!image) return nullptr;
  const std::lock_guard held(m_);
  auto& known = known_[{image.get(), l.name}];
  if (!known) {
    const sass::Function* const f = image->code.find(l.name);
    if (!f) return why = "the machine code has no such kernel", nullptr;
    known = std::make_shared<KernelCode>(image, *f, p, static_cast<u32>(known_.size()));
  }
  return known;
}

}  // namespace us::timing
