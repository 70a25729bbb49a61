// SPDX-License-Identifier: Apache-2.0
#include "driver/function.h"

#include <algorithm>
#include <set>

#include "device/device_runtime.h"
#include "driver/device.h"
#include "driver/occupancy.h"
#include "driver/registers.h"
#include "driver/runtime.h"
#include "probe/recorder.h"

namespace us::driver {
namespace {

bool same(const device::Dim3& a, const device::Dim3& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
bool same(const codegen::Variant& a, const codegen::Variant& b) {
  return same(a.block, b.block) && same(a.cluster, b.cluster) && a.dependent == b.dependent;
}

u32 registers_of(const ir::Function& f, const DeviceSpec& d, u32 threads) {
  // A kernel whose launch bound a real compiler could meet must be launchable here too, whatever the estimate says.
  const u32 regs = std::min(estimate_registers(f), registers_that_fit(d, threads));
  return f.maxnreg ? std::min(regs, f.maxnreg) : regs;
}

FunctionInfo info_of(const ir::Function& f, const ir::Module& m, const DeviceSpec& d, u64 const_bytes) {
  FunctionInfo i;
  i.reqntid = f.reqntid[0] != 0;
  u32 threads = d.max_threads_per_block;
  for (int k = 0; k < 3; ++k) i.block_limit[k] = i.reqntid ? std::max(1u, f.reqntid[k]) : f.maxntid[k];
  if (i.block_limit[0]) {
    threads = i.block_limit[0];
    for (int k = 1; k < 3; ++k) threads *= std::max(1u, i.block_limit[k]);
  }
  i.max_threads_per_block = std::min(threads, d.max_threads_per_block);
  i.registers = registers_of(f, d, i.max_threads_per_block);
  i.shared_static = f.shared_bytes;
  i.local_bytes = f.local_bytes;
  i.const_bytes = const_bytes;
  i.ptx_version = m.sm;
  i.binary_version = d.cc_major * 10 + d.cc_minor;
  for (int k = 0; k < 3; ++k) i.cluster[k] = f.reqnctapercluster[0] ? std::max(1u, f.reqnctapercluster[k]) : 0;
  i.max_cluster_rank = f.maxclusterrank;
  i.explicit_cluster = f.explicitcluster;
  return i;
}

}  // namespace

Function::Function(Module& m, const ir::Function& f)
    : module_(m), ir_(f), info_(info_of(f, m.ir(), m.context().device().spec(), m.const_bytes())) {
  const u32 limit = m.context().device().spec().shared_per_block;
  max_dynamic_shared = static_cast<int>(limit > info_.shared_static ? limit - info_.shared_static : 0);
}

bool Function::launches_grids() const {
  const ir::Module& m = module_.ir();
  std::set<const ir::Function*> seen{&ir_};
  for (std::vector<const ir::Function*> work{&ir_}; !work.empty();) {
    const ir::Function& f = *work.back();
    work.pop_back();
    for (const ir::Block& b : f.blocks)
      for (const ir::Inst& i : b.insts)
        for (const ir::Inst::Call& c : i.call) {
          if (!c.callee.valid()) continue;
          const ir::Symbol& s = m.symbols[c.callee.v];
          if (device::launches_grids(s.name)) return true;
          if (s.func.valid() && seen.insert(&m.functions[s.func.v]).second) work.push_back(&m.functions[s.func.v]);
        }
  }
  return false;
}

Error Function::set_max_dynamic_shared(int bytes, const DeviceSpec& d) {
  if (bytes < 0 || static_cast<u64>(bytes) + info_.shared_static > d.shared_per_block_optin) return Error::InvalidValue;
  max_dynamic_shared = bytes;
  return Error::Success;
}

Error Function::set_required_cluster(int axis, int blocks) {
  if (info_.cluster[0]) return Error::NotPermitted;
  if (blocks < 0) return Error::InvalidValue;
  required_cluster[axis] = static_cast<u32>(blocks);
  return Error::Success;
}

bool Function::ready_code(const codegen::Variant& wanted, std::shared_ptr<const codegen::Compiled>& out) {
  std::unique_lock l(m_, std::try_to_lock);
  if (!l) return false;
  for (const Entry& e : variants_)
    if (same(e.variant, wanted)) out = e.code;
  return out != nullptr;
}

Result<std::shared_ptr<const codegen::Compiled>> Function::compile(const codegen::Variant& variant) {
  Runtime& runtime = module_.context().runtime();
  const CompileNotice notice(runtime.settings().compiling, ir_.name, told_compiling_);
  probe::Compile record;
  record.begin = probe::now_ns();
  auto compiled = runtime.jit().compile(module_.ir(), ir_.name, variant);
  if (probe::Recorder* const r = runtime.settings().recorder) {
    record.end = probe::now_ns();
    record.name = r->name(ir_.name);
    record.call = r->current_call();
    record.from_cache = compiled && (*compiled)->from_cache;
    r->write(record, probe::Kind::Compile);
  }
  return compiled;
}

Error Function::code(const codegen::Variant& wanted, std::shared_ptr<const codegen::Compiled>& out, std::string& log) {
  std::lock_guard l(m_);
  const auto find = [&](const codegen::Variant& v) {
    for (const Entry& e : variants_)
      if (same(e.variant, v)) return e.code;
    return std::shared_ptr<const codegen::Compiled>();
  };
  if ((out = find(wanted))) return Error::Success;
  Runtime& runtime = module_.context().runtime();
  codegen::Variant variant = wanted;
  if (variants_.size() >= runtime.settings().variants_per_kernel) {
    variant.block = {0, 0, 0};
    if ((out = find(variant))) return Error::Success;
  }
  auto compiled = compile(variant);
  if (!compiled) {
    log = "kernel " + ir_.name + " does not compile:";
    for (const Diag& d : compiled.diags()) log += "\n  " + d.message;
    return Error::InvalidPtx;
  }
  out = *compiled;
  if (runtime.settings().compiled) runtime.settings().compiled(*out);
  variants_.push_back({variant, out});
  return Error::Success;
}

}  // namespace us::driver
