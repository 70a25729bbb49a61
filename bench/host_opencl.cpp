// SPDX-License-Identifier: Apache-2.0
// Host side of the OpenCL versions: builds kernels/<name>/kernel.cl (its directory is BENCH_DIR) and runs the kernel
// named like the problem on the first CPU device of PoCL.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <fstream>
#include <sstream>

#include "common.h"
#include "problem.h"

static void ok(cl_int status, const char* what) {
  if (status == CL_SUCCESS) return;
  std::fprintf(stderr, "bench: OpenCL: %s failed with %d\n", what, status);
  std::exit(2);
}

static cl_device_id find_pocl() {
  cl_platform_id platforms[16];
  cl_uint count = 0;
  ok(clGetPlatformIDs(16, platforms, &count), "clGetPlatformIDs");
  for (cl_uint i = 0; i < std::min(count, 16u); ++i) {
    char name[256] = {};
    clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, nullptr);
    cl_device_id device;
    if (std::strstr(name, "Portable Computing Language") &&
        clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &device, nullptr) == CL_SUCCESS)
      return device;
  }
  std::fprintf(stderr, "bench: no PoCL CPU device\n");
  std::exit(2);
}

struct OpenClDevice {
  cl_device_id device = find_pocl();
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_kernel kernel = nullptr;
  std::vector<cl_mem> memory;
  std::vector<size_t> bytes;
  std::vector<bench::Scalar> scalars;

  // The buffers wrap memory of our own, so that they too stand in huge pages.
  void create(const std::vector<bench::Buffer>& buffers, const std::vector<bench::Scalar>& values) {
    cl_int status;
    context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
    ok(status, "clCreateContext");
    queue = clCreateCommandQueue(context, device, 0, &status);
    ok(status, "clCreateCommandQueue");
    for (const auto& buffer : buffers) {
      char* storage = bench::allocate(buffer.bytes);
      std::memset(storage, 0, buffer.bytes);
      memory.push_back(clCreateBuffer(context, CL_MEM_USE_HOST_PTR, buffer.bytes, storage, &status));
      ok(status, "clCreateBuffer");
      bytes.push_back(buffer.bytes);
    }
    scalars = values;
  }
  void build() {
    std::ifstream file(BENCH_DIR "/kernel.cl");
    std::stringstream stream;
    stream << file.rdbuf();
    const std::string source = stream.str();
    const char* text = source.c_str();
    cl_int status;
    cl_program program = clCreateProgramWithSource(context, 1, &text, nullptr, &status);
    ok(status, "clCreateProgramWithSource");
    status = clBuildProgram(program, 1, &device, "-cl-fast-relaxed-math -I" BENCH_DIR, nullptr, nullptr);
    if (status != CL_SUCCESS) {
      std::vector<char> log(1 << 16);
      clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, log.size() - 1, log.data(), nullptr);
      std::fprintf(stderr, "%s\n", log.data());
    }
    ok(status, "clBuildProgram");
    kernel = clCreateKernel(program, Problem::name(), &status);
    ok(status, "clCreateKernel");
    cl_uint index = 0;
    for (auto& m : memory) ok(clSetKernelArg(kernel, index++, sizeof m, &m), "clSetKernelArg");
    for (auto& s : scalars) ok(clSetKernelArg(kernel, index++, s.bytes, s.value), "clSetKernelArg");
  }
  void upload(size_t i, const void* from) {
    ok(clEnqueueWriteBuffer(queue, memory[i], CL_TRUE, 0, bytes[i], from, 0, nullptr, nullptr), "clEnqueueWriteBuffer");
  }
  void download(size_t i, void* to) {
    ok(clEnqueueReadBuffer(queue, memory[i], CL_TRUE, 0, bytes[i], to, 0, nullptr, nullptr), "clEnqueueReadBuffer");
  }
  void launch(const bench::Launch& l) {
    const size_t local[3] = {l.block[0], l.block[1], l.block[2]};
    const size_t global[3] = {size_t{l.grid[0]} * local[0], size_t{l.grid[1]} * local[1], size_t{l.grid[2]} * local[2]};
    ok(clEnqueueNDRangeKernel(queue, kernel, 3, nullptr, global, local, 0, nullptr, nullptr), "clEnqueueNDRangeKernel");
    ok(clFinish(queue), "clFinish");
  }
};

int main(int argc, char** argv) {
  OpenClDevice device;
  return bench::run_bench<Problem>("pocl", device, argc, argv);
}
