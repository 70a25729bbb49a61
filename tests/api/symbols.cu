// SPDX-License-Identifier: Apache-2.0
// Variables of the program by name: sizes, addresses, copies, initial values, pointers in initialisers.
#include "api.h"

__constant__ float table[8] = {1, 2, 3, 4};
__device__ int counters[4] = {10, 20, 30, 40};
__device__ double single = 2.5;
__device__ int* into_counters = &counters[2];
__constant__ const char* text = "hello";
__device__ int plain_function(int x) { return 3 * x; }
__device__ int (*pointer)(int) = plain_function;
static __device__ short hidden = 7;

__global__ void read(double* out) {
  out[0] = table[3];
  out[1] = counters[1];
  out[2] = single;
  out[3] = *into_counters;
  out[4] = text[4];
  out[5] = pointer(5);
  out[6] = hidden;
  counters[0] += 1;
}

void run(double* d) {
  double h[7] = {};
  read<<<1, 1>>>(d);
  SHOW(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
  for (const double v : h) std::printf(" %g", v);
  std::printf("\n");
}

int main() {
  double* d = nullptr;
  MUST(cudaMalloc(&d, 64));
  run(d);
  size_t bytes = 0;
  SHOW(cudaGetSymbolSize(&bytes, table));
  VALUE(bytes);
  SHOW(cudaGetSymbolSize(&bytes, counters));
  VALUE(bytes);
  SHOW(cudaGetSymbolSize(&bytes, hidden));
  VALUE(bytes);
  int value = 0;
  SHOW(cudaMemcpyFromSymbol(&value, counters, 4));
  VALUE(value);
  const float row[2] = {7, 8};
  SHOW(cudaMemcpyToSymbol(table, row, sizeof row, 8));
  SHOW(cudaMemcpyToSymbol(table, row, sizeof row, 28));
  SHOW(cudaMemcpyToSymbol(table, row, 33));
  SHOW(cudaMemcpyToSymbol(table, row, 0, 32));
  SHOW(cudaMemcpyToSymbol(table, row, 4, 0, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpyFromSymbol(&value, counters, 4, 0, cudaMemcpyHostToDevice));
  SHOW(cudaGetLastError());
  run(d);
  int* address = nullptr;
  SHOW(cudaGetSymbolAddress(reinterpret_cast<void**>(&address), counters));
  const int four[4] = {1, 2, 3, 4};
  SHOW(cudaMemcpy(address, four, sizeof four, cudaMemcpyHostToDevice));
  run(d);
  float* constant = nullptr;
  SHOW(cudaGetSymbolAddress(reinterpret_cast<void**>(&constant), table));
  SHOW(cudaMemset(constant, 0, 32));
  run(d);
  int not_a_symbol = 0;
  SHOW(cudaGetSymbolAddress(reinterpret_cast<void**>(&address), &not_a_symbol));
  SHOW(cudaGetSymbolSize(&bytes, &not_a_symbol));
  SHOW(cudaMemcpyToSymbol(&not_a_symbol, &value, 4));
  SHOW(cudaGetLastError());
  return 0;
}
