// SPDX-License-Identifier: Apache-2.0
// The CUDA toolkit's programs that make machine code, as clients start them: these hand PTX on in its place, which our
// driver takes wherever it takes a cubin. One executable; src/loader starts it when a program of a run starts one of
// them, and names the one that was meant in kStockTool.
#pragma once
#include <string>
#include <vector>

namespace us::tools {

using Arguments = std::vector<std::string>;  // without the name of the program

inline constexpr char kStockTool[] = "UNDERSTUDY_STOCK_TOOL";

// The toolkit's own, that the client meant.
class StockTool {
 public:
  explicit StockTool(std::string path) : path_(std::move(path)) {}
  explicit operator bool() const { return !path_.empty(); }
  // Its exit code; what it says goes where ours goes. 127: it could not be started.
  int run(const Arguments&) const;
  int run_silent(const Arguments&) const;

 private:
  int start(const Arguments&, bool silent) const;
  std::string path_;
};

int ptxas(const StockTool&, const Arguments&);
int nvlink(const StockTool&, const Arguments&);
int fatbinary(const StockTool&, const Arguments&);
int nvcc(const StockTool&, const Arguments&);

// --version of the stock tool, and whose word it is: clients keep what they compiled by it, and must not mix it with
// what a real device needs.
int print_version(const StockTool&, const char* name);

// The value of an option that stands at arguments[i]: behind '=', or the next argument, then `i` is moved to it. False:
// it is none of these options.
bool value_of(const Arguments&, std::size_t& i, std::initializer_list<const char*> names, std::string& value);

bool read_whole(const std::string& path, std::string& out);
bool write_whole(const std::string& path, const std::string& text);
bool is_handed_on(const std::string& file);  // PTX, alone, with machine code or linked, where a cubin is expected

}  // namespace us::tools
