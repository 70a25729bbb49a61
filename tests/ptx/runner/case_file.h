// SPDX-License-Identifier: Apache-2.0
// A file test: PTX text whose comments say how to run its kernels. Plain C++17, shared by the runner (Understudy) and
// by record.cpp (a real GPU), so that both make the same inputs. Format: ../README.md.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ptx_test {

struct Array {
  enum class Role { In, Out, InOut };
  Role role = Role::In;
  std::string name, type;  // type: "f32"
  std::size_t count = 0;   // elements
  std::string spec;        // what stands after '='
  std::size_t element_bytes() const;
  std::size_t bytes() const { return count * element_bytes(); }
};
// IMAGE directive: a texture or surface object of u32 texels in an array; its handle is a parameter behind the
// pointers.
struct Image {
  bool surface = false;
  unsigned width = 1, height = 1;
  std::string array;
};
struct Case {
  std::string kernel;
  unsigned grid[3] = {1, 1, 1}, block[3] = {32, 1, 1}, cluster[3] = {1, 1, 1}, smem = 0;
  std::vector<Array> arrays;  // pointers to them are the kernel's parameters, in this order
  int line = 0;
  std::string fault;             // FAULT directive: part of the message with which the launch must end
  std::string counts = "equal";  // COUNTS directive
  bool events = true;            // EVENTS: any
  std::vector<Image> images;
  std::vector<std::string> tells;  // TELL directives: all events, in order
  bool tells_by_warp = false;      // TELLS: by warp
};
struct File {
  std::string path, name, text;  // name: path without directory and ".ptx"
  std::vector<Case> cases;
  std::vector<std::string> errors;    // ERROR directives: parts of the expected diagnostics
  std::string todo;                   // TODO directive: the file is known to fail, and why
  std::vector<std::string> problems;  // of the directives themselves
};

File load(const std::string& path);
// Contents before the launch; zeros for Out.
std::vector<std::uint8_t> initial(const Array&);
// Explicit expectation of an Out array ("= 1 2 3"), empty if it is of another kind.
std::vector<std::uint8_t> explicit_values(const Array&);

std::uint64_t hash(const void* data, std::size_t bytes, std::uint64_t seed = 0);

// A recording of one array: all of it up to 64 words, otherwise the first 32 words and one hash for every 1 KB.
std::string summarize(const std::vector<std::uint8_t>& bytes);
std::uint64_t inputs_hash(const Case&);

}  // namespace ptx_test
