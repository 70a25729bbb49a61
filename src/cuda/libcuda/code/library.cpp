// SPDX-License-Identifier: Apache-2.0
// Library Management: code and kernels without a context.
#include <algorithm>
#include <fstream>
#include <iterator>

#include "cuda/libcuda/driver_api.h"
#include "driver/code/library.h"
#include "driver/code/module.h"
#include "ptx/fatbin.h"

using namespace us::cuda;
using us::driver::Kernel;
using us::driver::Library;

namespace {

CUresult load(CUlibrary* out, const void* image) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!out || !image) return CUDA_ERROR_INVALID_VALUE;
  if (us::ptx::is_damaged(image)) return CUDA_ERROR_INVALID_IMAGE;  // all else shows when somebody looks inside
  Library* library = nullptr;
  if (const Error e = load_library(image, library); us::driver::failed(e)) return result(e);
  *out = handle_to<CUlibrary>(library);
  return CUDA_SUCCESS;
}

// f(Library&) → Error
template <class F>
CUresult with_library(CUlibrary handle, F&& f) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  Library* l = runtime().find_library(handle);
  return l ? result(f(*l)) : CUDA_ERROR_INVALID_HANDLE;
}

// f(Kernel&) → Error
template <class F>
CUresult with_kernel(CUkernel handle, F&& f) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  Kernel* k = runtime().find_kernel(handle);
  return k ? result(f(*k)) : CUDA_ERROR_INVALID_HANDLE;
}

Error variable(Library& l, const char* name, bool managed, CUdeviceptr* address, size_t* bytes) {
  Context* c = nullptr;
  us::driver::Module* m = nullptr;
  us::driver::Variable v;
  if (const Error e = driver_context(c); us::driver::failed(e)) {
    if (!managed) return e;
    c = &device(0).primary();  // managed variables need no current context
  }
  US_TRY(c->modules().module_of(l, m));
  US_TRY(m->variable(name, v));
  if (managed && !v.managed) return Error::NotFound;
  if (address) *address = v.address;
  if (bytes) *bytes = v.size;
  return Error::Success;
}

}  // namespace

US_API CUresult cuLibraryLoadData(CUlibrary* out, const void* image, CUjit_option*, void**, unsigned, CUlibraryOption*,
                                  void**, unsigned) {
  return load(out, image);
}

US_API CUresult cuLibraryLoadFromFile(CUlibrary* out, const char* path, CUjit_option*, void**, unsigned,
                                      CUlibraryOption*, void**, unsigned) {
  if (!path) return CUDA_ERROR_INVALID_VALUE;
  std::ifstream file(path, std::ios::binary);
  if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
  std::string image((std::istreambuf_iterator<char>(file)), {});
  if (image.empty()) return CUDA_ERROR_INVALID_IMAGE;
  image.resize(image.size() + 16);
  return load(out, image.data());
}

US_API CUresult cuLibraryUnload(CUlibrary handle) {
  return with_library(handle, [&](Library& l) { return runtime().remove_library(&l); });
}

US_API CUresult cuLibraryGetKernel(CUkernel* out, CUlibrary handle, const char* name) {
  if (!out || !name) return CUDA_ERROR_INVALID_VALUE;
  return with_library(handle, [&](Library& l) {
    Kernel* k = nullptr;
    US_TRY(l.find_kernel(name, k));
    *out = handle_to<CUkernel>(k);
    return Error::Success;
  });
}

US_API CUresult cuLibraryGetKernelCount(unsigned* out, CUlibrary handle) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return with_library(handle, [&](Library& l) {
    std::vector<Kernel*> all;
    US_TRY(l.list_kernels(all));
    *out = static_cast<unsigned>(all.size());
    return Error::Success;
  });
}

US_API CUresult cuLibraryEnumerateKernels(CUkernel* out, unsigned count, CUlibrary handle) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return with_library(handle, [&](Library& l) {
    std::vector<Kernel*> all;
    US_TRY(l.list_kernels(all));
    for (unsigned i = 0; i < count && i < all.size(); ++i) out[i] = handle_to<CUkernel>(all[i]);
    return Error::Success;
  });
}

US_API CUresult cuLibraryGetModule(CUmodule* out, CUlibrary handle) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return with_library(handle, [&](Library& l) {
    Context* c = nullptr;
    us::driver::Module* m = nullptr;
    US_TRY(driver_context(c));
    US_TRY(c->modules().module_of(l, m));
    *out = handle_to<CUmodule>(m);
    return Error::Success;
  });
}

US_API CUresult cuLibraryGetGlobal(CUdeviceptr* address, size_t* bytes, CUlibrary handle, const char* name) {
  if (!name || (!address && !bytes)) return CUDA_ERROR_INVALID_VALUE;
  return with_library(handle, [&](Library& l) { return variable(l, name, false, address, bytes); });
}

US_API CUresult cuLibraryGetManaged(CUdeviceptr* address, size_t* bytes, CUlibrary handle, const char* name) {
  if (!name || (!address && !bytes)) return CUDA_ERROR_INVALID_VALUE;
  return with_library(handle, [&](Library& l) { return variable(l, name, true, address, bytes); });
}

US_API CUresult cuKernelGetFunction(CUfunction* out, CUkernel handle) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return with_kernel(handle, [&](Kernel& k) {
    Context* c = nullptr;
    Function* f = nullptr;
    US_TRY(driver_context(c));
    US_TRY(c->modules().function_of(k, f));
    *out = handle_to<CUfunction>(f);
    return Error::Success;
  });
}

US_API CUresult cuKernelGetLibrary(CUlibrary* out, CUkernel handle) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return with_kernel(handle, [&](Kernel& k) {
    *out = handle_to<CUlibrary>(k.library);
    return Error::Success;
  });
}

US_API CUresult cuKernelGetName(const char** out, CUkernel handle) {
  if (!out || !handle) return CUDA_ERROR_INVALID_VALUE;
  return with_kernel(handle, [&](Kernel& k) {
    *out = k.name.c_str();
    return Error::Success;
  });
}

namespace {
// Attributes of a kernel are those of its function in the device's primary context.
template <class F>
CUresult with_function_on(CUkernel handle, CUdevice d, F&& f) {
  if (const Error e = check_device(d); us::driver::failed(e)) return result(e);
  return with_kernel(handle, [&](Kernel& k) {
    Function* function = nullptr;
    Context& c = device(d).primary();
    US_TRY(c.modules().function_of(k, function));
    return f(c, *function);
  });
}
}  // namespace

US_API CUresult cuKernelGetAttribute(int* out, CUfunction_attribute attribute, CUkernel handle, CUdevice d) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return with_function_on(handle, d, [&](Context&, Function& f) { return get_attribute(f, attribute, *out); });
}

US_API CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel handle, CUdevice d) {
  return with_function_on(handle, d, [&](Context& c, Function& f) { return set_attribute(c, f, attribute, value); });
}

US_API CUresult cuKernelSetCacheConfig(CUkernel handle, CUfunc_cache config, CUdevice d) {
  if (config > CU_FUNC_CACHE_PREFER_EQUAL) return CUDA_ERROR_INVALID_VALUE;
  return with_function_on(handle, d, [&](Context&, Function& f) {
    f.cache_config = static_cast<int>(config);
    return Error::Success;
  });
}

US_API CUresult cuKernelGetParamInfo(CUkernel handle, size_t index, size_t* offset, size_t* size) {
  if (!offset) return CUDA_ERROR_INVALID_VALUE;
  return with_kernel(handle, [&](Kernel& k) {
    Context* c = nullptr;
    const us::ir::Module* m = nullptr;
    US_TRY(driver_context(c));
    US_TRY(k.library->module(m));
    for (const auto& f : m->functions) {
      if (!f.entry || !f.defined || f.name != k.name) continue;
      if (index >= f.params.size()) return Error::InvalidValue;
      *offset = f.params[index].offset;
      if (size) *size = f.params[index].size;
      return Error::Success;
    }
    return Error::NotFound;
  });
}
