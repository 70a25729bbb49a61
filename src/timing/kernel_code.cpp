// SPDX-License-Identifier: Apache-2.0
#include "timing/kernel_code.h"

#include <algorithm>
#include <set>

namespace us::timing {

// A function without a body: its machine code is the driver's.
static bool is_of_device(const ir::Module& m, const ir::Inst::Call& c) {
  if (c.target.kind != ir::Operand::Kind::None) return false;
  const auto callee = std::ranges::find(m.functions, c.callee, &ir::Function::sym);
  return callee == m.functions.end() || callee->blocks.empty();
}

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
    timed.rows[k].further = execution.map().further[k];
  }
  find_joined();
  listing = std::make_shared<const Listing>(Listing::of(*image, f, execution.map().statements, number));
  calls.resize(image->program->blocks().size());
  for (const sass::Program::Statement& s : image->program->statements())
    if (s.inst && !s.inst->call.empty() && is_of_device(image->program->module(), s.inst->call[0]))
      calls[s.block] = true;
  const sass::Graph& graph = execution.graph();
  for (u32 b = 0; b < graph.blocks.size(); ++b) {
    const sass::Map::Block& at = execution.map().blocks[b];
    timed.blocks.push_back({graph.blocks[b].first, graph.blocks[b].end, at.for_each_lane, at.retries});
  }
}

// Where all lanes come to one address, the compiler lets the first of them do it for those that a vote finds.
void KernelCode::find_joined() {
  const std::vector<u32>& statements = execution.map().statements;
  std::set<u32> voted;
  for (u32 k = 0; k < function.instructions.size(); ++k)
    if (function.instructions[k].name.starts_with("VOTE")) voted.insert(statements[k]);
  const sass::Graph& graph = execution.graph();
  for (u32 k = 0; k < function.instructions.size(); ++k) {
    const sass::Instruction& i = function.instructions[k];
    if (!i.opcode || i.opcode->family != sass::Family::Atomic || statements[k] == sass::Map::kNone) continue;
    const u32 before = graph.blocks[graph.block_of[k]].first - 1;  // where lanes that do nothing branch away
    const bool chosen = !i.guard.always() || (before < k && statements[before] == statements[k] &&
                                              !function.instructions[before].guard.always());
    timed.rows[k].joined = chosen && voted.contains(statements[k]);
  }
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
