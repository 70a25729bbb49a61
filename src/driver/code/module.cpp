// SPDX-License-Identifier: Apache-2.0
#include "driver/code/module.h"

#include <algorithm>
#include <cstring>

#include "device/device_runtime.h"
#include "driver/context.h"
#include "driver/device.h"
#include "driver/memory/workspaces.h"
#include "driver/runtime.h"

namespace us::driver {
namespace {

constexpr u64 kDescriptor = 16;  // bytes a function's address stands for

u64 round_up(u64 v, u64 to) { return (v + to - 1) / to * to; }
bool is_variable(const ir::Symbol& s, isa::Space space) {
  return s.kind == ir::Symbol::Kind::Variable && s.space == space && !s.alias.valid();
}
bool unresolved(const ir::Symbol& s) { return s.linkage == ir::Symbol::Linkage::Extern; }

// Gives every global variable its place, in order; returns the bytes they take together.
u64 lay_out_globals(const ir::Module& m, std::vector<u64>& offsets) {
  u64 end = 0;
  for (std::size_t i = 0; i < m.symbols.size(); ++i) {
    const ir::Symbol& s = m.symbols[i];
    if (!is_variable(s, isa::Space::Global) || s.managed || unresolved(s)) continue;
    offsets[i] = end = round_up(end, std::max<u64>(s.align, 16));
    end += std::max<u64>(s.size, 1);
  }
  return end;
}

// Constant variables have their place in the bank already.
u64 const_bank_bytes(const ir::Module& m) {
  u64 end = 0;
  for (const ir::Symbol& s : m.symbols)
    if (is_variable(s, isa::Space::Const) && !unresolved(s)) end = std::max(end, s.offset + std::max<u64>(s.size, 1));
  return end;
}

}  // namespace

struct ManagedVariables {
  Runtime& runtime;
  Device& device;
  std::vector<u64> symbols;
  ~ManagedVariables() {
    for (const u64 a : symbols) {
      if (!a) continue;
      runtime.registry().remove(a);
      device.heap().free(a);
    }
  }
};

Module::Module(Context& c, Library& l, const ir::Module& m)
    : context_(c), library_(l), ir_(m), symbols_(m.symbols.size(), 0) {}

Module::~Module() {
  for (const u64 a : allocations_) {
    context_.runtime().registry().remove(a);
    context_.device().heap().free(a);
  }
}

Error Module::load(Context& c, Library& l, std::unique_ptr<Module>& out) {
  const ir::Module* ir = nullptr;
  if (const Error e = l.module(ir); failed(e)) {
    c.runtime().report(l.log());
    return e;
  }
  std::unique_ptr<Module> m(new Module(c, l, *ir));
  US_TRY(m->place_variables());
  US_TRY(m->initialise());
  out = std::move(m);
  return Error::Success;
}

Error Module::allocate(u64 bytes, memory::Kind kind, u64& out) {
  Device& d = context_.device();
  // Whole pages, apart from the pools of small allocations: a pool that the program has emptied is fresh when it comes
  // back.
  constexpr u64 kPage = 4096;
  out = d.heap().allocate((bytes + kPage - 1) / kPage * kPage);
  if (!out) return Error::OutOfMemory;
  if (!d.heap().fresh(out)) std::memset(reinterpret_cast<void*>(out), 0, bytes);
  allocations_.push_back(out);
  context_.runtime().registry().add({.address = out,
                                     .bytes = bytes,
                                     .kind = kind,
                                     .flags = 1,
                                     .device = d.ordinal(),
                                     .owner = kind == memory::Kind::Managed ? nullptr : &context_});
  return Error::Success;
}

Error Module::place_managed() {
  const auto managed = [](const ir::Symbol& s) { return is_variable(s, isa::Space::Global) && s.managed; };
  if (std::ranges::none_of(ir_.symbols, managed)) return Error::Success;
  std::lock_guard l(library_.managed_m);
  managed_ = library_.managed.lock();
  managed_made_ = !managed_;
  if (managed_made_) {
    auto made = std::make_shared<ManagedVariables>(context_.runtime(), context_.device());
    made->symbols.resize(ir_.symbols.size());
    for (std::size_t i = 0; i < ir_.symbols.size(); ++i) {
      if (!managed(ir_.symbols[i])) continue;
      US_TRY(allocate(std::max<u64>(ir_.symbols[i].size, 1), memory::Kind::Managed, made->symbols[i]));
      allocations_.pop_back();  // not this module's
    }
    library_.managed = managed_ = std::move(made);
  }
  for (std::size_t i = 0; i < symbols_.size(); ++i)
    if (managed_->symbols[i]) symbols_[i] = managed_->symbols[i];
  return Error::Success;
}

Error Module::place_variables() {
  std::vector<u64> offsets(ir_.symbols.size(), 0);
  const u64 global_bytes = lay_out_globals(ir_, offsets);
  const_bytes_ = const_bank_bytes(ir_);
  u64 globals = 0, constants = 0;
  if (const_bytes_ > context_.device().spec().constant_memory) return Error::OutOfMemory;
  if (global_bytes) US_TRY(allocate(global_bytes, memory::Kind::Variable, globals));
  if (const_bytes_) US_TRY(allocate(const_bytes_, memory::Kind::Variable, constants));
  if (!ir_.symbols.empty()) US_TRY(allocate(kDescriptor * ir_.symbols.size(), memory::Kind::Variable, descriptors_));
  const_bank_ = reinterpret_cast<u8*>(constants);
  for (std::size_t i = 0; i < ir_.symbols.size(); ++i) {
    const ir::Symbol& s = ir_.symbols[i];
    launches_ |= device::is_device_api(s.name);
    launches_graphs_ |= s.name == "cudaGraphLaunch";
    if (s.kind == ir::Symbol::Kind::Function)
      symbols_[i] = descriptors_ + i * kDescriptor;
    else if (is_variable(s, isa::Space::Global) && !s.managed && !unresolved(s))
      symbols_[i] = globals + offsets[i];
    else if (is_variable(s, isa::Space::Const) && !unresolved(s))
      symbols_[i] = constants + s.offset;
    else if (unresolved(s) && (s.space == isa::Space::Global || s.space == isa::Space::Const)) {
      context_.runtime().report("module " + library_.name() + ": variable " + s.name +
                                " is declared extern and defined nowhere");
      return Error::SharedObjectSymbolNotFound;
    }
  }
  US_TRY(place_managed());
  for (std::size_t i = 0; i < ir_.symbols.size(); ++i)
    if (const ir::SymId target = ir_.symbols[i].alias; target.valid()) symbols_[i] = symbols_[target.v];
  return Error::Success;
}

Error Module::initialise() {
  for (std::size_t i = 0; i < ir_.symbols.size(); ++i) {
    const ir::Symbol& s = ir_.symbols[i];
    if (!symbols_[i] || s.kind != ir::Symbol::Kind::Variable || s.alias.valid()) continue;
    if (s.managed && !managed_made_) continue;  // another context's kernels may have changed it
    u8* at = reinterpret_cast<u8*>(symbols_[i]);
    if (!s.init.empty()) std::memcpy(at, s.init.data(), std::min<u64>(s.init.size(), s.size));
    for (const ir::Symbol::Reloc& r : s.relocs) US_TRY(relocate(at, r));
  }
  return Error::Success;
}

Error Module::relocate(u8* at, const ir::Symbol::Reloc& r) {
  if (r.sym.v >= symbols_.size()) return Error::InvalidPtx;
  const u64 value = (symbols_[r.sym.v] + static_cast<u64>(r.addend)) >> (8 * r.shift);
  std::memcpy(at + r.offset, &value, std::min<u32>(r.bytes, 8));
  return Error::Success;
}

Error Module::function(const std::string& name, Function*& out) {
  std::lock_guard l(m_);
  if (const auto it = functions_.find(name); it != functions_.end()) {
    out = it->second.get();
    return Error::Success;
  }
  for (const ir::Function& f : ir_.functions) {
    if (f.name != name || !f.entry || !f.defined) continue;
    out = functions_.emplace(name, std::make_unique<Function>(*this, f)).first->second.get();
    return Error::Success;
  }
  return Error::NotFound;
}

Error Module::function_at(u64 address, Function*& out) {
  const u64 i = (address - descriptors_) / kDescriptor;
  if (!descriptors_ || address < descriptors_ || i >= ir_.symbols.size() || symbols_[i] != address)
    return Error::NotFound;
  return function(ir_.symbols[i].name, out);
}

Error Module::variable(const std::string& name, Variable& out) {
  for (std::size_t i = 0; i < ir_.symbols.size(); ++i) {
    const ir::Symbol& s = ir_.symbols[i];
    if (s.name != name || s.kind != ir::Symbol::Kind::Variable || !symbols_[i]) continue;
    out = {symbols_[i], s.size, s.space == isa::Space::Const, s.managed};
    return Error::Success;
  }
  return Error::NotFound;
}

bool Module::waits_for_grids() {
  std::call_once(looked_for_waits_, [this] {
    for (const ir::Function& f : ir_.functions)
      for (const ir::Block& b : f.blocks)
        for (const ir::Inst& i : b.insts)
          waits_for_grids_ |= i.form == isa::Form::griddepcontrol && i.has(isa::Tok::wait);
  });
  return waits_for_grids_;
}

}  // namespace us::driver
