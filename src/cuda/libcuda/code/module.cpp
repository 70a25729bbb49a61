// SPDX-License-Identifier: Apache-2.0
// Module Management.
#include <algorithm>
#include <fstream>
#include <iterator>

#include "cuda/libcuda/code/jit_log.h"
#include "cuda/libcuda/driver_api.h"
#include "driver/code/library.h"
#include "driver/code/module.h"

using namespace us::cuda;
using us::driver::Library;
using us::driver::Module;

namespace {

CUresult load(CUmodule* out, const void* image, ErrorLog log) {
  if (!out || !image) return CUDA_ERROR_INVALID_VALUE;
  return in_current([&](Context& c) {
    auto library = std::make_shared<Library>(runtime(), image, "module");
    Module* m = nullptr;
    const Error e = c.modules().load(library, m);
    log.write(library->log());
    *out = handle_to<CUmodule>(m);
    return e;
  });
}

// f(Module&) → Error
template <class F>
CUresult with_module(CUmodule handle, F&& f) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  Context* const c = runtime().context_of_module(handle);
  return c ? result(f(*c, *c->modules().find(handle))) : CUDA_ERROR_INVALID_HANDLE;
}

}  // namespace

US_API CUresult cuModuleLoadDataEx(CUmodule* out, const void* image, unsigned count, CUjit_option* options,
                                   void** values) {
  return load(out, image, ErrorLog(count, options, values));
}
US_API CUresult cuModuleLoadData(CUmodule* out, const void* image) {
  return load(out, image, ErrorLog(0, nullptr, nullptr));
}
US_API CUresult cuModuleLoadFatBinary(CUmodule* out, const void* image) {
  return load(out, image, ErrorLog(0, nullptr, nullptr));
}

US_API CUresult cuModuleLoad(CUmodule* out, const char* path) {
  if (!path) return CUDA_ERROR_INVALID_VALUE;
  std::ifstream file(path, std::ios::binary);
  if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
  std::string image((std::istreambuf_iterator<char>(file)), {});
  image.resize(image.size() + 16);  // containers are told apart by their first bytes
  return load(out, image.data(), ErrorLog(0, nullptr, nullptr));
}

US_API CUresult cuModuleUnload(CUmodule handle) {
  return with_module(handle, [&](Context& c, Module&) { return c.modules().unload(handle); });
}

US_API CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* out) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = CU_MODULE_LAZY_LOADING;
  return CUDA_SUCCESS;
}

US_API CUresult cuModuleGetFunction(CUfunction* out, CUmodule handle, const char* name) {
  if (!out || !name) return CUDA_ERROR_INVALID_VALUE;
  return with_module(handle, [&](Context& c, Module& m) {
    Function* f = nullptr;
    US_TRY(m.function(name, f));
    c.modules().add(f);
    *out = handle_to<CUfunction>(f);
    return Error::Success;
  });
}

US_API CUresult cuModuleGetFunctionCount(unsigned* out, CUmodule handle) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return with_module(handle, [&](Context&, Module& m) {
    const auto& f = m.ir().functions;
    *out = static_cast<unsigned>(std::count_if(f.begin(), f.end(), [](const auto& x) { return x.entry && x.defined; }));
    return Error::Success;
  });
}

US_API CUresult cuModuleEnumerateFunctions(CUfunction* out, unsigned count, CUmodule handle) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return with_module(handle, [&](Context& c, Module& m) {
    for (const auto& x : m.ir().functions) {
      if (!x.entry || !x.defined || count == 0) continue;
      Function* f = nullptr;
      US_TRY(m.function(x.name, f));
      c.modules().add(f);
      *out++ = handle_to<CUfunction>(f);
      --count;
    }
    return Error::Success;
  });
}

US_API CUresult cuModuleGetGlobal(CUdeviceptr* address, size_t* bytes, CUmodule handle, const char* name) {
  if (!name || (!address && !bytes)) return CUDA_ERROR_INVALID_VALUE;
  return with_module(handle, [&](Context&, Module& m) {
    us::driver::Variable v;
    US_TRY(m.variable(name, v));
    if (address) *address = v.address;
    if (bytes) *bytes = v.size;
    return Error::Success;
  });
}
