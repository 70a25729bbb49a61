// SPDX-License-Identifier: Apache-2.0
#include "cuda/process/driver_settings.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cuda/device_queries.h"
#include "cuda/process/call_trace.h"
#include "cuda/process/check.h"
#include "cuda/process/fidelity.h"
#include "cuda/process/profile.h"
#include "cuda/state.h"
#include "driver/code/compile_times.h"
#include "driver/code/resources.h"
#include "driver/preset.h"

namespace us::cuda {

driver::Settings driver_settings(const Config& c) {
  driver::Settings s;
  s.devices.clear();
  for (const driver::Preset* p : c.devices) s.devices.push_back(spec_of(*p));
  s.workers = c.settings.threads;
  s.deterministic = c.settings.deterministic;
  s.seed = c.settings.seed;
  s.async = c.settings.async;
  s.jit.deferred_copies = s.async.delivery != AsyncDelivery::Eager;
  s.jit.cpu = c.settings.cpu;
  s.jit.fast_math = c.settings.fast_math;
  s.jit.cache_dir = c.settings.cache_dir;
  s.jit.time_passes = c.settings.time_passes;
  s.jit.dump_after = c.settings.dump_after;
  s.jit.disabled = c.settings.disable_pass;
  s.jit.verify_passes = c.settings.verify_passes;
  s.report = [](std::string_view text) { fmt::print(stderr, "understudy: {}\n", text); };
  s.jit.report = s.report;
  s.jit.show = [](std::string_view text) { fmt::print(stderr, "{}", text); };
  if (!c.settings.quiet) s.compiling.say = s.report;
  s.compiling.watched = isatty(STDERR_FILENO);
  s.unimplemented = [](std::string_view what) { fidelity().shortfall(Shortfall::Unimplemented, what); };
  s.refused = [](std::string_view what) { fidelity().shortfall(Shortfall::Refused, what); };
  s.newer_ptx = !c.settings.no_newer_ptx;
  s.ran_newer_ptx = [](std::string_view image, u32 arch) {
    if (fidelity().shortfall(Shortfall::NewerPtx, fmt::format("{}: compute_{}", image, arch)))
      fmt::print(stderr, "understudy: {} has PTX for newer devices only, which is run: compute_{}\n", image, arch);
  };
  s.recorder = recorder();
  s.observer = checking() ? checker() : profiler();
  s.apart = checking();
  if (c.settings.count) s.counts = &executed();
  s.device_query = answer_device_query;
  s.capture_mode = [] { return thread_state().capture_mode; };
  s.compiled = [](const codegen::Compiled& k, const std::string& kernel, std::chrono::nanoseconds took) {
    fidelity().count(k.from_cache ? "kernels from the cache" : "kernels compiled");
    if (!k.from_cache) compile_times().add(kernel, took);
  };
  s.ptxas = c.settings.ptxas;
  s.resources = [](const std::string& kernel, driver::FactSource from) {
    fidelity().resources(kernel, driver::name_of(from));
    if (from == driver::FactSource::Estimate) fidelity().shortfall(Shortfall::Estimated, kernel);
  };
  return s;
}

}  // namespace us::cuda
