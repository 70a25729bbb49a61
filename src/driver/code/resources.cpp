// SPDX-License-Identifier: Apache-2.0
#include "driver/code/resources.h"

#include <algorithm>

#include "driver/code/occupancy.h"
#include "driver/code/registers.h"

namespace us::driver {

const char* name_of(FactSource o) {
  constexpr const char* names[] = {"estimate", "ptxas", "cubin"};
  return names[static_cast<u32>(o)];
}

Resources estimate(const ir::Function& f, const ir::Module& m, const DeviceSpec& d, u32 bound, u64 const_bytes) {
  // A kernel whose launch bound a real compiler could meet must be launchable here too, whatever the estimate says.
  const u32 guess = estimate_registers(f), fit = registers_that_fit(d, bound);
  const bool bounded = f.reqntid[0] || f.maxntid[0];
  u32 registers = std::min(guess, fit), most = std::min(2 * guess, bounded ? fit : d.max_regs_per_thread);
  if (f.maxnreg) {
    registers = std::min(registers, f.maxnreg);
    most = std::min(most, f.maxnreg);
  }
  return {.registers = registers,
          .local_bytes = f.local_bytes,
          .shared_static = f.shared_bytes,
          .const_bytes = const_bytes,
          .max_threads_per_block = std::min(bound, threads_that_fit(d, registers)),
          .ptx_version = m.sm,
          .binary_version = d.cc_major * 10 + d.cc_minor,
          .registers_at_most = most};
}

bool exact(const Facts& facts, const std::string& kernel, const DeviceSpec& d, u32 bound, Resources& out) {
  if (!facts.cubin || facts.cubin->sm / 10 != d.cc_major) return false;
  const sass::KernelFacts* k = facts.cubin->find(kernel);
  if (!k || !k->registers) return false;
  out = {.registers = k->registers,
         .local_bytes = k->stack_bytes,
         .shared_static = k->shared_bytes,
         .const_bytes = facts.cubin->constant_bytes,
         .max_threads_per_block = std::min(bound, threads_that_fit(d, k->registers)),
         .ptx_version = facts.cubin->ptx_sm,
         .binary_version = facts.cubin->sm,
         .registers_at_most = k->registers,
         .origin = facts.origin};
  return true;
}

}  // namespace us::driver
