// SPDX-License-Identifier: Apache-2.0
#include "codegen/jit.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <mutex>

#include "codegen/jit/loader.h"
#include "codegen/jit/object_cache.h"

namespace us::codegen {
namespace {

// The LLVM library, opened beside whatever library or program this code is part of.
struct Backend {
  CompileFn compile = nullptr;
  LineOfFn line_of = nullptr;
  std::string error;
};

std::string own_directory() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void*>(&own_directory), &info) || !info.dli_fname) return ".";
  const std::string path = info.dli_fname;
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

const Backend& backend() {
  static const Backend b = [] {
    Backend r;
    const std::string dir = own_directory();
    void* lib = nullptr;
    for (const std::string& path : {dir + "/libunderstudy_codegen.so", dir + "/../lib/libunderstudy_codegen.so",
                                    dir + "/../../lib/libunderstudy_codegen.so"}) {
      lib = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (lib) break;
      if (r.error.empty()) r.error = dlerror();
    }
    if (!lib) return r;
    r.compile = reinterpret_cast<CompileFn>(dlsym(lib, kCompileSymbol));
    r.line_of = reinterpret_cast<LineOfFn>(dlsym(lib, kLineOfSymbol));
    return r;
  }();
  return b;
}

// What "the host CPU" means in a cache key: the flags line, not only the model name.
std::string host_cpu_id() {
  std::ifstream f("/proc/cpuinfo");
  std::string line, id;
  while (std::getline(f, line)) {
    if (line.starts_with("model\t") || line.starts_with("cpu family") || line.starts_with("vendor_id") ||
        line.starts_with("flags"))
      id += line;
    if (line.empty()) break;
  }
  return id;
}

class CompiledObject final : public Compiled {
 public:
  std::unique_ptr<LoadedObject> object;
  std::vector<u8> elf;
};

}  // namespace

struct Jit::Impl {
  Options options;
  ObjectCache cache;
  std::string cpu;
  explicit Impl(Options o)
      : options(std::move(o)),
        cache(options.cache_dir, options.report),
        cpu(options.cpu.empty() ? host_cpu_id() : options.cpu) {}
};

Jit::Jit(Options o) : impl_(std::make_unique<Impl>(std::move(o))) {}
Jit::~Jit() = default;

Result<std::shared_ptr<const Compiled>> Jit::compile(const ir::Module& m, const std::string& kernel, const Variant& v) {
  const auto start = std::chrono::steady_clock::now();
  const auto fail = [](std::string why) { return Diag{Diag::Kind::Error, {}, std::move(why)}; };
  const bool cacheable = impl_->cache.enabled() && impl_->options.dump_after.empty() && !impl_->options.time_passes &&
                         (m.hash[0] | m.hash[1]);
  const std::string key = cacheable ? cache_key(m, kernel, v, impl_->options, impl_->cpu) : std::string();
  ObjectCode code;
  auto out = std::make_shared<CompiledObject>();
  out->from_cache = cacheable && impl_->cache.load(key, &code);
  if (!out->from_cache) {
    const Backend& b = backend();
    if (!b.compile) return fail(fmt::format("the code generator library is missing ({})", b.error));
    b.compile(&m, kernel.c_str(), &v, &impl_->options, &code);
    if (!code.error.empty()) return fail(code.error);
    if (cacheable) impl_->cache.store(key, code);
  }
  auto loaded = LoadedObject::load(code.elf, "kernel");
  if (!loaded) return fail(loaded.diags()[0].message);
  out->object = std::move(*loaded);
  out->elf = std::move(code.elf);
  out->name = kernel;
  if (code.whole_cta)
    out->run_cta = reinterpret_cast<device::KernelCode::RunCta>(out->object->entry());
  else
    out->run = reinterpret_cast<void (*)(device::WarpCtx*)>(out->object->entry());
  out->yields = code.yields;
  out->triggers = code.triggers;
  out->shares = code.shares;
  out->local_bytes = code.local_bytes;
  const CompiledObject* self = out.get();
  out->line_of = [self](const void* pc) {
    std::string line;
    if (self->object->contains(pc) && backend().line_of)
      backend().line_of(&self->elf, self->object->text_offset(pc), &line);
    return line;
  };
  out->compile_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  const auto& show = impl_->options.show;
  if (show && impl_->options.time_passes) {
    std::string text =
        fmt::format("understudy: compiled {} for block {}x{}x{} in {:.2f} ms{}\n", kernel, v.block.x, v.block.y,
                    v.block.z, out->compile_ms, code.its ? " (independent thread scheduling)" : "");
    for (const PassTime& t : code.times) text += fmt::format("  {:<14} {:8.2f} ms\n", t.name, t.ms);
    show(text);
  }
  if (show && !code.dump.empty()) show(code.dump);
  return std::shared_ptr<const Compiled>(out);
}

}  // namespace us::codegen
