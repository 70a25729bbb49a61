// SPDX-License-Identifier: Apache-2.0
#include "driver/code/listen.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>

#include "base/demangle.h"
#include "codegen/semantics/made_from.h"
#include "device/abi/kernel_code.h"
#include "driver/code/all_come.h"
#include "driver/code/consequences.h"
#include "driver/code/decisions.h"
#include "driver/code/early_reads.h"
#include "driver/code/guesses.h"
#include "driver/code/module.h"
#include "driver/code/occupancy.h"
#include "driver/code/stored_to.h"
#include "driver/code/tokens.h"
#include "driver/context.h"
#include "driver/device.h"
#include "driver/memory/virtual_memory.h"
#include "driver/runtime.h"
#include "ir/sites.h"
#include "isa/mnemonic.h"
#include "memory/compression.h"
#include "memory/registry.h"
#include "ptx/ptx.h"

namespace us::driver {
namespace {

constexpr u32 kMostFrames = 64;

std::string file_of(const ir::Module& m, u32 file) { return file && file < m.files.size() ? m.files[file] : ""; }
std::string name_of(const ir::Function* f) { return f ? demangled(f->name) : std::string(); }

// Each call names the function that it brought here; who made the outermost one is the function itself.
std::vector<probe::Frame> frames_of(const ir::Module& m, const ir::Site& s) {
  std::vector<probe::Frame> frames;
  SrcLoc at = s.loc();
  for (u32 k = 0; k < kMostFrames; ++k) {
    const bool inlined = at.inlined && at.inlined < m.inlined.size();
    const std::string function = inlined ? demangled(m.inlined[at.inlined].function) : name_of(s.function);
    frames.push_back({file_of(m, at.file), at.file ? at.line : 0, at.file ? at.col : 0, function});
    if (!inlined) break;
    at = m.inlined[at.inlined].at;
  }
  return frames;
}

// "_Z1kv._ZZ1kvE1s" is a variable of the compiler's making for s in k().
std::string variable(const std::string& name) {
  const auto dot = name.rfind("._Z");
  return demangled(dot == name.npos ? name : name.substr(dot + 1));
}

void copy(u32 (&to)[3], const device::Dim3& from) { to[0] = from.x, to[1] = from.y, to[2] = from.z; }

void add_symbols(const std::vector<ir::Operand>& ops, std::set<u32>& to) {
  for (const ir::Operand& o : ops) {
    if (o.sym.valid()) to.insert(o.sym.v);
    add_symbols(o.elems, to);
  }
}

// What a function and those that it may call name.
std::set<u32> named_from(const ir::Module& m, const ir::Function& from) {
  std::set<u32> named;
  std::set<const ir::Function*> seen = {&from};
  std::vector<const ir::Function*> work = {&from};
  const auto visit = [&](const ir::Function& f) {
    if (seen.insert(&f).second) work.push_back(&f);
  };
  while (!work.empty()) {
    const ir::Function& f = *work.back();
    work.pop_back();
    for (const ir::Block& b : f.blocks) {
      for (const ir::Inst& i : b.insts) {
        add_symbols(i.ops, named);
        for (const auto& c : i.call) {
          add_symbols(c.args, named);
          ir::SymId s = c.callee;
          while (s.valid() && m.symbols[s.v].alias.valid()) s = m.symbols[s.v].alias;
          if (s.valid() && m.symbols[s.v].func.valid()) visit(m.functions[m.symbols[s.v].func.v]);
          if (s.valid()) continue;
          for (const ir::Function& g : m.functions)  // through a pointer
            if (!g.entry) visit(g);
        }
      }
    }
  }
  return named;
}

// Variables with memory of their own in this launch. Shared ones: those that the kernel can reach, as each kernel has
// its own layout (ptx/layout.cpp: "s@k" is a copy for kernel k of what other kernels use, too).
// `numbers`: by symbol of the module, which of them it is.
// Does it ask where the system's shared memory is? Cooperative groups keep theirs there.
bool asks_for_reserved(const ir::Module& m) {
  const auto reads = [](const ir::Inst& i) {
    return std::ranges::any_of(i.ops, [](const ir::Operand& o) {
      return o.kind == ir::Operand::Kind::SReg && o.sreg >= isa::SReg::reserved_smem_offset_begin &&
             o.sreg <= isa::SReg::reserved_smem_offset_1;
    });
  };
  for (const ir::Function& f : m.functions)
    for (const ir::Block& b : f.blocks)
      if (std::ranges::any_of(b.insts, reads)) return true;
  return false;
}

std::vector<probe::Symbol> symbols_of(const Function& f, std::unordered_map<u32, u32>& numbers) {
  const Module& module = f.module();
  const ir::Module& m = module.ir();
  std::vector<probe::Symbol> all;
  const std::set<u32> named = named_from(m, f.ir());
  for (u32 k = 0; k < m.symbols.size(); ++k) {
    const ir::Symbol& s = m.symbols[k];
    if (s.kind != ir::Symbol::Kind::Variable) continue;
    const std::size_t before = all.size();
    if (s.space == isa::Space::Shared) {
      const std::string name = s.alias.valid() ? s.name.substr(0, s.name.rfind('@')) : s.name;
      if (named.contains(k)) all.push_back({variable(name), probe::Space::Shared, s.offset, s.size});
    } else if (s.alias.valid()) {
      continue;
    } else if (const u64 at = module.symbols()[k]; at && s.space == isa::Space::Global) {
      all.push_back({variable(s.name), probe::Space::Global, at, s.size});
    } else if (at && s.space == isa::Space::Const) {
      all.push_back({variable(s.name), probe::Space::Const, at, s.size});
    }
    if (all.size() > before) numbers[k] = static_cast<u32>(before);
  }
  if (asks_for_reserved(m)) all.push_back({"%reserved_smem", probe::Space::Shared, 0, ptx::kSharedBase});
  return all;
}

// Frames of functions that are called lie behind those that are known statically.
bool calls_functions(const ir::Module& m) {
  const auto has_body = [&](const ir::Inst& i) {
    if (!i.call[0].callee.valid()) return true;  // indirect
    const ir::FuncId f = m.symbols[i.call[0].callee.v].func;
    return f.valid() && !m.functions[f.v].blocks.empty();
  };
  for (const ir::Function& f : m.functions) {
    for (const auto& b : f.blocks) {
      for (const ir::Inst& i : b.insts)
        if (!i.call.empty() && has_body(i)) return true;
    }
  }
  return false;
}

// Functions of the runtime that write where they are told to.
bool calls_runtime(const ir::Module& m) {
  constexpr const char* kHarmless[] = {"vprintf", "malloc", "free", "__assertfail", "__nv_printf"};
  const auto writes = [&](const ir::Inst& i) {
    if (i.form == isa::Form::Unknown) return true;
    if (i.call.empty() || !i.call[0].callee.valid()) return false;
    const ir::Symbol& s = m.symbols[i.call[0].callee.v];
    const bool body = s.func.valid() && !m.functions[s.func.v].blocks.empty();
    return !body && std::ranges::find(kHarmless, s.name) == std::end(kHarmless);
  };
  for (const ir::Function& f : m.functions)
    for (const ir::Block& b : f.blocks)
      if (std::ranges::any_of(b.insts, writes)) return true;
  return false;
}

bool orders_otherwise(const ir::Inst& i) {
  if (i.form == isa::Form::Unknown || !i.call.empty()) return true;
  const u32 effects = isa::info(i.form).effects;
  if (effects & isa::kBarrier) {
    const bool counted = i.ops.size() > 1 && i.ops[1].kind != ir::Operand::Kind::None;
    const bool whole = !counted && i.ops[0].kind == ir::Operand::Kind::Imm;
    return !whole || !(effects & isa::kYield);
  }
  for (const isa::Tok t : {isa::Tok::acquire, isa::Tok::release, isa::Tok::acq_rel, isa::Tok::sc})
    if (i.has(t)) return true;
  return effects & (isa::kOrders | isa::kClusterBarrier);
}
bool barriers_only(const ir::Function& f) {
  for (const auto& b : f.blocks) {
    if (std::ranges::any_of(b.insts, orders_otherwise)) return false;
  }
  return true;
}

// That a thread begins with, where that matters: the kernel moves registers between its warps. 0: not known.
u32 registers_at_start(const Function& f) {
  if (f.ir().maxnreg) return f.ir().maxnreg;
  const auto moves = [](const ir::Block& b) {
    return std::ranges::any_of(b.insts, [](const ir::Inst& i) { return i.form == isa::Form::setmaxnreg; });
  };
  if (std::ranges::none_of(f.ir().blocks, moves)) return 0;
  const Resources& r = f.resources();
  return r.origin == FactSource::Estimate ? 0 : r.registers;
}

// Outlives the module where a tool keeps it: what it needs of it is taken when it is first asked.
class Sites {
 public:
  explicit Sites(const ir::Module& m) : module_(m) {}
  probe::SiteInfo at(u32 site) {
    std::lock_guard l(m_);
    if (all_.empty()) all_ = ir::sites(module_);
    if (site >= all_.size()) return {};
    const ir::Site& s = all_[site];
    probe::SiteInfo info;
    info.frames = frames_of(module_, s);
    if (!s.loc().file) info.ptx_line = s.loc().line;
    info.text = s.inst ? name_of(*s.inst) : "branch";
    return info;
  }
  // The symbol that the address at a site is made from, or an invalid one.
  ir::SymId made_from(u32 site) {
    std::lock_guard l(m_);
    if (all_.empty()) all_ = ir::sites(module_);
    if (site >= all_.size() || !all_[site].inst || !all_[site].function) return {};
    auto& of = made_[all_[site].function];
    if (!of) of = std::make_unique<codegen::MadeFrom>(module_, *all_[site].function);
    return of->of(*all_[site].inst);
  }
  bool ignored(u32 site) {
    std::lock_guard l(m_);
    if (all_.empty()) all_ = ir::sites(module_);
    if (site >= all_.size() || !all_[site].inst || !all_[site].function) return false;
    auto& of = consequences_[all_[site].function];
    if (!of) of = std::make_unique<Consequences>(*all_[site].function);
    return of->ignored(*all_[site].inst);
  }
  probe::Consequence consequence(u32 site, u32 element) {
    const ir::Site* s = at_instruction(site);
    if (!s) return {};
    Consequence c = consequence_of(*s->function, *s->inst, element);
    return {c.decides, std::move(c.stored)};
  }
  probe::Carried carried(u32 site) {
    const ir::Site* s = at_instruction(site);
    if (!s) return {};
    Carried c = carried_by(*s->function, *s->inst);
    return {std::move(c.stored), std::move(c.shuffled)};
  }
  bool guesses(u32 site) {
    const ir::Site* s = at_instruction(site);
    return s && only_guesses(*s->function, *s->inst);
  }
  u32 members(u32 site) {
    const ir::Site* s = at_instruction(site);
    return s ? taken_for_members(*s->function, *s->inst) : probe::kNoSite;
  }
  u32 token_of(u32 site) {
    const ir::Site* s = at_instruction(site);
    return s ? driver::token_of(*s->function, *s->inst) : probe::kNoSite;
  }
  u32 read_early(u32 site) {
    const ir::Site* s = at_instruction(site);
    return s ? read_too_early(*s->function, *s->inst) : probe::kNoSite;
  }
  u32 left_by(u32 site) {
    std::lock_guard l(m_);
    if (all_.empty()) all_ = ir::sites(module_);
    const ir::Site* s = site < all_.size() && all_[site].term && all_[site].function ? &all_[site] : nullptr;
    return s ? driver::left_by(*s->function, *s->term) : site;
  }
  u32 all_come_to(u32 site) {
    const ir::Site* s = at_instruction(site);
    return s ? driver::all_come_to(module_, *s->function, *s->inst) : probe::kNoSite;
  }

 private:
  const ir::Site* at_instruction(u32 site) {
    std::lock_guard l(m_);
    if (all_.empty()) all_ = ir::sites(module_);
    return site < all_.size() && all_[site].inst && all_[site].function ? &all_[site] : nullptr;
  }
  static std::string name_of(const ir::Inst& i);
  const ir::Module& module_;
  std::mutex m_;  // guards all_
  std::vector<ir::Site> all_;
  std::unordered_map<const ir::Function*, std::unique_ptr<codegen::MadeFrom>> made_;
  std::unordered_map<const ir::Function*, std::unique_ptr<Consequences>> consequences_;
};

std::string Sites::name_of(const ir::Inst& i) {
  if (i.form == isa::Form::Unknown) return i.text;
  return isa::mnemonic(i.form, i.toks, {i.types.data(), i.type_count});
}

}  // namespace

probe::SiteInfo site_info(const ir::Module& m, u32 site) { return Sites(m).at(site); }

void listen(probe::Observer& observer, const Function& f, const LaunchConfig& config, u64 node,
            device::Launch& launch) {
  const device::GridCtx& g = launch.ctx;
  Context& context = f.module().context();
  probe::LaunchInfo info;
  info.id = g.grid_id;
  info.node = node;
  info.device = context.device().ordinal();
  info.kernel = demangled(f.ir().name);
  copy(info.grid, g.grid), copy(info.block, g.block), copy(info.cluster, g.cluster);
  info.shared_static = g.shared_static, info.shared_dynamic = g.shared_dynamic;
  // Kernels that kernels launch are compiled later: how much local memory they have is not known.
  if (const device::KernelCode* code = launch.code.get()) {
    const bool more = calls_functions(f.module().ir());
    info.local_bytes = g.local_bytes + (more ? std::max(code->local_dynamic, launch.stack_bytes) : 0);
    // Its own variables and no others: to the byte.
    if (const u32 own = f.ir().local_bytes; own && (own + 15) / 16 * 16 == info.local_bytes) info.local_bytes = own;
  }
  info.domain = launch.record.domain;
  info.locals_known = !calls_runtime(f.module().ir());
  info.barriers_only = barriers_only(f.ir());
  info.cooperative = launch.cooperative, info.dependent = config.programmatic_serialization;
  info.workers = context.device().gpu().workers();
  std::unordered_map<u32, u32> numbers;
  info.symbols = symbols_of(f, numbers);
  const auto sites = std::make_shared<Sites>(f.module().ir());
  info.site = [sites](u32 site) { return sites->at(site); };
  info.made_from = [sites, numbers = std::move(numbers)](u32 site) {
    const ir::SymId s = sites->made_from(site);
    const auto at = s.valid() ? numbers.find(s.v) : numbers.end();
    return at == numbers.end() ? ~0u : at->second;
  };
  info.ignored = [sites](u32 site) { return sites->ignored(site); };
  info.carried = [sites](u32 site) { return sites->carried(site); };
  info.consequence = [sites](u32 site, u32 element) { return sites->consequence(site, element); };
  info.guesses = [sites](u32 site) { return sites->guesses(site); };
  info.members = [sites](u32 site) { return sites->members(site); };
  info.read_early = [sites](u32 site) { return sites->read_early(site); };
  info.token_of = [sites](u32 site) { return sites->token_of(site); };
  info.stored_to = stored_to(f.ir(), g.params);
  info.left_by = [sites](u32 site) { return sites->left_by(site); };
  info.all_come_to = [sites](u32 site) { return sites->all_come_to(site); };
  info.registers = registers_at_start(f);
  info.sites = f.module().ir().sites;
  info.residency = [&] {
    const device::Dim3& b = config.block;
    const u32 cluster = info.cluster[0] * info.cluster[1] * info.cluster[2];
    return residency(context.device().spec(), f, b.x * b.y * b.z, config.dynamic_shared, cluster);
  };
  info.machine_code = [&](std::string& why) { return f.module().library().machine_code(why); };
  info.page = [&of = context.runtime()](u64 address) {
    const auto a = of.registry().find(address);
    const bool mapped = a && a->kind == memory::Kind::Mapped;
    return probe::Page{a && a->host(), mapped && of.virtual_memory().compressible(address)};
  };
  if (context.runtime().virtual_memory().any_mapping())
    info.compression = [](u64 address) {
      return memory::encode_line(reinterpret_cast<const u8*>(address / memory::kLine * memory::kLine)).factor();
    };
  info.name = f.ir().name;
  launch.listener = observer.launch(info);
  launch.faulted = [&observer, id = info.id](const device::Fault& fault) {
    observer.fault(id, fault.what, fault.message);
  };
}

}  // namespace us::driver
