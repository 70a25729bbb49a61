// SPDX-License-Identifier: Apache-2.0
// flags: -lcuda
// Driver calls of a thread that has no current context: code, images, contexts and devices.
#include "no_context.h"

using namespace no_context;

namespace {

CUcontext context, out;
CUstream stream;
CUmodule module, loaded, of_library;
CUfunction function, found;
CUlibrary library, second;
CUkernel kernel, of_second;
CUarray array;
CUtexObject texture;
CUdeviceptr address;
size_t bytes;

void make() {
  context = begin();
  NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  NEED(cuModuleLoadData(&module, kText));
  NEED(cuModuleGetFunction(&function, module, "nothing"));
  NEED(cuLibraryLoadData(&library, kText, nullptr, nullptr, 0, nullptr, nullptr, 0));
  NEED(cuLibraryGetKernel(&kernel, library, "nothing"));
  CUDA_ARRAY_DESCRIPTOR d{16, 16, CU_AD_FORMAT_FLOAT, 1};
  NEED(cuArrayCreate(&array, &d));
  NEED(cuCtxSetCurrent(nullptr));
}

void modules() {
  title("modules");
  int n = 0;
  const char* name = nullptr;
  size_t offset = 0, size = 0;
  CUfunctionLoadingState state{};
  CU(cuModuleLoadData(&loaded, kText));
  CU(cuModuleGetFunction(&found, module, "nothing"));
  CU(cuModuleGetFunction(&found, module, "missing"));
  CU(cuModuleGetGlobal(&address, &bytes, module, "base"));
  CU(cuModuleGetGlobal(&address, &bytes, module, "missing"));
  unsigned count = 0;
  CU(cuModuleGetFunctionCount(&count, module));
  CU(cuFuncGetAttribute(&n, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
  CU(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000));
  CU(cuFuncSetCacheConfig(function, CU_FUNC_CACHE_PREFER_L1));
  CU(cuFuncGetModule(&loaded, function));
  CU(cuFuncGetName(&name, function));
  CU(cuFuncGetParamInfo(function, 0, &offset, &size));
  CU(cuFuncIsLoaded(&state, function));
  CU(cuFuncLoad(function));
  CU(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, function, 64, 0));
  CU(cuOccupancyAvailableDynamicSMemPerBlock(&size, function, 1, 64));
  int least = 0, block = 0;
  CU(cuOccupancyMaxPotentialBlockSize(&least, &block, function, nullptr, 0, 0));
}

void libraries() {
  title("libraries");
  int n = 0;
  const char* name = nullptr;
  size_t offset = 0, size = 0;
  unsigned count = 0;
  CUlibrary asked = nullptr;
  CU(cuLibraryLoadData(&second, kText, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CU(cuLibraryGetKernel(&of_second, second, "nothing"));
  CU(cuLibraryGetKernel(&of_second, second, "missing"));
  CU(cuLibraryGetKernelCount(&count, second));
  CU(cuLibraryEnumerateKernels(&of_second, 1, second));
  CU(cuLibraryGetModule(&of_library, second));
  CU(cuLibraryGetGlobal(&address, &bytes, second, "base"));
  CU(cuLibraryGetGlobal(&address, &bytes, second, "missing"));
  CU(cuLibraryGetManaged(&address, &bytes, second, "both"));
  VALUE(address != 0);
  VALUE(bytes);
  CU(cuLibraryGetManaged(&address, &bytes, second, "base"));
  CU(cuLibraryGetManaged(&address, &bytes, second, "missing"));
  CU(cuKernelGetFunction(&found, of_second));
  CU(cuKernelGetAttribute(&n, CU_FUNC_ATTRIBUTE_NUM_REGS, of_second, 0));
  CU(cuKernelGetAttribute(&n, CU_FUNC_ATTRIBUTE_NUM_REGS, of_second, 99));
  CU(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000, of_second, 0));
  CU(cuKernelSetCacheConfig(of_second, CU_FUNC_CACHE_PREFER_L1, 0));
  CU(cuKernelGetName(&name, of_second));
  CU(cuKernelGetLibrary(&asked, of_second));
  CU(cuKernelGetParamInfo(of_second, 0, &offset, &size));
  const CUfunction as_function = reinterpret_cast<CUfunction>(of_second);
  CU(cuFuncGetAttribute(&n, CU_FUNC_ATTRIBUTE_NUM_REGS, as_function));
  CU(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, as_function, 64, 0));
  CU(cuLaunchKernel(as_function, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr));
  CU(cuLaunchKernel(as_function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  CU(cuStreamSynchronize(stream));
  CU(cuLibraryUnload(second));

  title("managed variables of a library never used with a context");
  CU(cuLibraryGetManaged(&address, &bytes, library, "both"));
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  NEED(cuGraphCreate(&graph, 0));
  CUDA_KERNEL_NODE_PARAMS p{};
  p.kern = kernel;
  p.gridDimX = p.gridDimY = p.gridDimZ = p.blockDimX = p.blockDimY = p.blockDimZ = 1;
  CU(cuGraphAddKernelNode(&node, graph, nullptr, 0, &p));
  p.ctx = context;
  CU(cuGraphAddKernelNode(&node, graph, nullptr, 0, &p));
  CU(cuGraphDestroy(graph));
}

void linking() {
  title("linking");
  CUlinkState link = nullptr;
  void* code = nullptr;
  size_t size = 0;
  CU(cuLinkCreate(0, nullptr, nullptr, &link));
  if (!link) return;
  CU(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(kText), sizeof kText, "text", 0, nullptr, nullptr));
  CU(cuLinkComplete(link, &code, &size));
  CU(cuLinkDestroy(link));
}

void images() {
  title("images");
  CUarray made = nullptr;
  CUmipmappedArray levels = nullptr;
  CUDA_ARRAY_DESCRIPTOR d{16, 16, CU_AD_FORMAT_FLOAT, 1}, told{};
  CUDA_ARRAY3D_DESCRIPTOR d3{16, 16, 0, CU_AD_FORMAT_FLOAT, 1, 0}, told3{};
  CU(cuArrayCreate(&made, &d));
  CU(cuArray3DCreate(&made, &d3));
  CU(cuArrayGetDescriptor(&told, array));
  CU(cuArray3DGetDescriptor(&told3, array));
  CU(cuMipmappedArrayCreate(&levels, &d3, 2));
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  CUDA_TEXTURE_DESC how{};
  CU(cuTexObjectCreate(&texture, &resource, &how, nullptr));
  float row[16] = {};
  CU(cuMemcpyHtoA(array, 0, row, sizeof row));
  CU(cuArrayDestroy(array));
}

void contexts() {
  title("contexts");
  CUdevice device = 7;
  unsigned flags = 0, version = 0;
  unsigned long long id = 0;
  int least = 0, most = 0, active = 0;
  size_t limit = 0;
  CUfunc_cache cache{};
  CU(cuCtxGetCurrent(&out));
  CU(cuCtxGetDevice(&device));
  CU(cuCtxGetFlags(&flags));
  CU(cuCtxSynchronize());
  CU(cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE));
  CU(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048));
  CU(cuCtxGetCacheConfig(&cache));
  CU(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_NONE));
  CU(cuCtxGetStreamPriorityRange(&least, &most));
  CU(cuCtxGetApiVersion(nullptr, &version));
  CU(cuCtxGetApiVersion(context, &version));
  CU(cuCtxGetId(nullptr, &id));
  CU(cuCtxGetId(context, &id));
  CU(cuCtxResetPersistingL2Cache());
  CU(cuCtxPopCurrent(&out));
  CU(cuCtxEnablePeerAccess(context, 0));
  CU(cuDevicePrimaryCtxGetState(0, &flags, &active));
  VALUE(active);
  CUipcMemHandle share{};
  CU(cuIpcGetMemHandle(&share, address));
  CU(cuProfilerStart());
  CU(cuProfilerStop());
  CU(cuCtxPushCurrent(context));
  CU(cuCtxPopCurrent(&out));
  VALUE(out == context);
  CU(cuModuleUnload(module));
  CU(cuLibraryUnload(library));
}

}  // namespace

int main() {
  make();
  modules();
  libraries();
  linking();
  images();
  contexts();
  return 0;
}
