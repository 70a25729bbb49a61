// SPDX-License-Identifier: Apache-2.0
// What start-up code of a program calls, and the first half of a <<<>>> launch.
#include "cuda/code/registration.h"
#include "cuda/libcudart/runtime_api.h"
#include "driver/code/library.h"

using namespace us::cuda;

namespace {
us::driver::Library* library_of(void** handle) { return reinterpret_cast<us::driver::Library*>(handle); }
}  // namespace

US_API void** __cudaRegisterFatBinary(void* wrapper) {
  return reinterpret_cast<void**>(&registration().add_image(wrapper));
}

US_API void __cudaRegisterFatBinaryEnd(void**) {}

US_API void __cudaUnregisterFatBinary(void** handle) { registration().remove_image(library_of(handle)); }

US_API void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int, uint3*, uint3*, dim3*,
                                   dim3*, int*) {
  registration().add_kernel(*library_of(handle), host, name);
}

US_API void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, size_t size, int, int) {
  registration().add_variable(*library_of(handle), host, name, size);
}

US_API void __cudaRegisterManagedVar(void** handle, void** host, char*, const char* name, int, size_t size, int, int) {
  registration().add_managed(*library_of(handle), host, name, size);
}

// Called before the first use of a managed variable in host code.
US_API char __cudaInitModule(void** handle) {
  const Error e = registration().load_managed(runtime_context(), *library_of(handle));
  done(e);
  return !us::driver::failed(e);
}

US_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  thread_state().calls.push_back({{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, stream});
  return 0;
}

US_API cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  auto& calls = thread_state().calls;
  if (calls.empty()) return done(Error::MissingConfiguration);
  const CallConfig c = calls.back();
  calls.pop_back();
  *grid = {c.grid.x, c.grid.y, c.grid.z};
  *block = {c.block.x, c.block.y, c.block.z};
  *shared = c.shared;
  *static_cast<void**>(stream) = c.stream;
  return cudaSuccess;
}
