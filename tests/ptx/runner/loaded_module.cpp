// SPDX-License-Identifier: Apache-2.0
#include "runner/loaded_module.h"

#include <bit>
#include <cstring>
#include <future>

#include "ptx/ptx.h"

namespace ptx_test {

using namespace us;

Result<std::unique_ptr<LoadedModule>> LoadedModule::load(const std::string& text, const std::string& name) {
  auto parsed = ptx::parse(text, name);
  if (!parsed) return parsed.diags();
  auto m = std::make_unique<LoadedModule>();
  m->module_ = std::move(*parsed);
  m->const_bank_.resize(64 * 1024);
  m->symbols_.resize(m->module_->symbols.size());
  for (u32 k = 0; k < m->symbols_.size(); ++k) {
    const ir::Symbol& s = m->module_->symbols[k];
    if (s.kind == ir::Symbol::Kind::Function) {
      m->memory_.push_back(std::make_unique<u8[]>(16));
      m->symbols_[k] = std::bit_cast<u64>(m->memory_.back().get());
    } else if (s.space == isa::Space::Const) {
      m->symbols_[k] = std::bit_cast<u64>(m->const_bank_.data()) + s.offset;
    } else if (s.space == isa::Space::Global) {
      m->memory_.push_back(std::make_unique<u8[]>(s.size + 256));
      m->symbols_[k] = (std::bit_cast<u64>(m->memory_.back().get()) + 255) & ~u64(255);
    }
  }
  m->initialise();
  return m;
}

u64 LoadedModule::address_of(ir::SymId id) const {
  while (module_->symbols[id.v].alias.valid()) id = module_->symbols[id.v].alias;
  return symbols_[id.v] ? symbols_[id.v] : module_->symbols[id.v].offset;
}
void LoadedModule::initialise() {
  for (u32 k = 0; k < symbols_.size(); ++k) {
    const ir::Symbol& s = module_->symbols[k];
    if (s.kind == ir::Symbol::Kind::Function || !symbols_[k]) continue;
    u8* at = std::bit_cast<u8*>(symbols_[k]);
    std::memset(at, 0, s.size);
    if (!s.init.empty()) std::memcpy(at, s.init.data(), s.init.size());
    for (const auto& r : s.relocs) {
      const u64 v = (address_of(r.sym) + static_cast<u64>(r.addend)) >> (8 * r.shift);
      std::memcpy(at + r.offset, &v, r.bytes);
    }
  }
}

device::Fault LoadedModule::run(device::Gpu& gpu, std::shared_ptr<const device::KernelCode> code, device::Dim3 grid,
                                device::Dim3 block, device::Dim3 cluster, unsigned dynamic_shared,
                                const std::vector<u64>& pointers, std::shared_ptr<probe::Listener> listener) {
  auto launch = std::make_unique<device::Launch>();
  const ir::Function* f = module_->find(code->name);
  auto params = std::make_shared<std::vector<u64>>(pointers);
  params->resize(device::kParamBytes / sizeof(u64));
  launch->code = code;
  launch->listener = std::move(listener);
  launch->keep_alive = params;
  launch->ctx.params = reinterpret_cast<const u8*>(params->data());
  launch->ctx.symbols = symbols_.data();
  launch->ctx.const_bank = const_bank_.data();
  launch->ctx.grid = grid, launch->ctx.block = block, launch->ctx.cluster = cluster;
  launch->ctx.shared_static = f ? f->shared_bytes : 0;
  launch->ctx.shared_dynamic = dynamic_shared;
  launch->ctx.local_bytes = code->local_bytes;
  launch->max_resident_ctas = 132;
  std::promise<device::Fault> done;
  auto result = done.get_future();
  launch->done = [&done](const device::Fault& fault) { done.set_value(fault); };
  gpu.submit(std::move(launch));
  return result.get();
}

}  // namespace ptx_test
