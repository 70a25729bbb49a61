// SPDX-License-Identifier: Apache-2.0
// Library Management of the runtime API: the driver's libraries, with their variables in the current context.
#include <fstream>
#include <iterator>

#include "cuda/code/functions.h"
#include "cuda/devices.h"
#include "cuda/libcudart/runtime_api.h"
#include "driver/code/function.h"
#include "driver/code/library.h"
#include "driver/code/module.h"

using namespace us::cuda;
using us::driver::Kernel;
using us::driver::Library;

namespace {

cudaError_t load(cudaLibrary_t* out, const void* image) {
  if (!out || !image) return done(Error::InvalidValue);
  initialize_runtime();
  Library* library = nullptr;
  if (const Error e = load_library(image, library); us::driver::failed(e)) return done(e);
  *out = reinterpret_cast<cudaLibrary_t>(library);
  return cudaSuccess;
}

// f(Library&) → Error
template <class F>
cudaError_t with_library(cudaLibrary_t handle, F&& f) {
  Library* l = runtime().find_library(handle);
  return done(l ? f(*l) : Error::InvalidHandle);
}

Error variable(Library& l, const char* name, bool managed, void** address, size_t* bytes) {
  us::driver::Module* m = nullptr;
  us::driver::Variable v;
  US_TRY(runtime_context().modules().module_of(l, m));
  US_TRY(m->variable(name, v));
  if (managed && !v.managed) return Error::NotFound;
  if (address) *address = pointer(v.address);
  if (bytes) *bytes = v.size;
  return Error::Success;
}

}  // namespace

US_API cudaError_t cudaLibraryLoadData(cudaLibrary_t* out, const void* image, cudaJitOption*, void**, unsigned,
                                       cudaLibraryOption*, void**, unsigned) {
  return load(out, image);
}

US_API cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* out, const char* path, cudaJitOption*, void**, unsigned,
                                           cudaLibraryOption*, void**, unsigned) {
  if (!path) return done(Error::InvalidValue);
  std::ifstream file(path, std::ios::binary);
  if (!file) return done(Error::FileNotFound);
  std::string image((std::istreambuf_iterator<char>(file)), {});
  image.resize(image.size() + 16);  // containers are told apart by their first bytes
  return load(out, image.data());
}

US_API cudaError_t cudaLibraryUnload(cudaLibrary_t handle) {
  return with_library(handle, [](Library& l) { return runtime().remove_library(&l); });
}

US_API cudaError_t cudaLibraryGetKernel(cudaKernel_t* out, cudaLibrary_t handle, const char* name) {
  if (!out || !name) return done(Error::InvalidValue);
  return with_library(handle, [&](Library& l) {
    Kernel* k = nullptr;
    US_TRY(l.find_kernel(name, k));
    *out = reinterpret_cast<cudaKernel_t>(k);
    return Error::Success;
  });
}

US_API cudaError_t cudaLibraryGetKernelCount(unsigned* out, cudaLibrary_t handle) {
  if (!out) return done(Error::InvalidValue);
  return with_library(handle, [&](Library& l) {
    std::vector<Kernel*> all;
    US_TRY(l.list_kernels(all));
    *out = static_cast<unsigned>(all.size());
    return Error::Success;
  });
}

US_API cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* out, unsigned count, cudaLibrary_t handle) {
  if (!out) return done(Error::InvalidValue);
  return with_library(handle, [&](Library& l) {
    std::vector<Kernel*> all;
    US_TRY(l.list_kernels(all));
    for (unsigned i = 0; i < count && i < all.size(); ++i) out[i] = reinterpret_cast<cudaKernel_t>(all[i]);
    return Error::Success;
  });
}

US_API cudaError_t cudaLibraryGetGlobal(void** address, size_t* bytes, cudaLibrary_t handle, const char* name) {
  if (!name || (!address && !bytes)) return done(Error::InvalidValue);
  return with_library(handle, [&](Library& l) { return variable(l, name, false, address, bytes); });
}

US_API cudaError_t cudaLibraryGetManaged(void** address, size_t* bytes, cudaLibrary_t handle, const char* name) {
  if (!name || (!address && !bytes)) return done(Error::InvalidValue);
  return with_library(handle, [&](Library& l) { return variable(l, name, true, address, bytes); });
}

US_API cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute, int value,
                                                   int device) {
  if (!is_device(device)) return done(Error::InvalidDevice);
  Kernel* k = runtime().find_kernel(kernel);
  if (!k) return done(Error::InvalidHandle);
  Context& c = runtime().device(static_cast<us::u32>(device)).primary_for_runtime();
  us::driver::Function* f = nullptr;
  const Error e = c.modules().function_of(*k, f);
  return done(us::driver::failed(e) ? e : us::cuda::set_attribute(c, *f, attribute, value));
}
