// SPDX-License-Identifier: BSD-3-Clause
// Ground state and gap of the periodic spin-1/2 Heisenberg chain with zero magnetisation,
// compressed and what it would take as CSR: example_heisenberg [L...], lengths from 4 on, even.
#include <tansolve/codec/compress.hpp>
#include <tansolve/codec/generators.hpp>
#include <tansolve/kernels/compressed_operator.hpp>
#include <tansolve/solvers/lanczos.hpp>

#include <fmt/format.h>

#include <string>
#include <vector>

namespace {

/// Prints a line; whether the two smallest eigenvalues were found.
template <class B>
bool solve(tansolve::Context<B>& context, const std::string& sites) {
  using namespace tansolve;
  const Csr<double> csr = generate("heisenberg:" + sites);
  const auto matrix = compress(csr);
  const CompressedOperator<double, B> H(context, matrix);
  const EigenOptions<double> options{.nev = 2};
  const std::int64_t work_bytes =
      LanczosWorkspace<double, B>::bytes(context, H.rows(), options.nev, {});
  const EigenReport report = lanczos(H, {}, options);
  fmt::print("{:>3} {:>10} {:>13} {:>13} {:>13} {:12.8f} {:11.8f} {:8.1e} {:9.3f} s  {}\n", sites,
             H.rows(), standard_bytes(csr).csr, matrix.storage().total(), work_bytes,
             report.pairs[0].value / std::stod(sites),
             report.pairs[1].value - report.pairs[0].value, report.pairs[0].residual,
             report.solve_seconds, name(report.status));
  return report.converged();
}

}  // namespace

int main(int argc, char** argv) try {
  std::vector<std::string> chains(argv + 1, argv + argc);
  if (chains.empty()) chains = {"8", "12", "16"};
#if TANSOLVE_HAS_CUDA
  const bool gpu = tansolve::cuda_device_count() > 0;
#endif
  fmt::print(
      "  L       rows     CSR bytes    compressed     workspace  energy/site         gap"
      " residual    seconds\n");
  bool all = true;
  for (const std::string& sites : chains) {
#if TANSOLVE_HAS_CUDA
    if (gpu) {
      tansolve::Context<tansolve::Cuda> context(0);
      all = solve(context, sites) && all;
      continue;
    }
#endif
    tansolve::Context<tansolve::Host> context;
    all = solve(context, sites) && all;
  }
  return all ? 0 : 1;
} catch (const std::exception& error) {
  fmt::print(stderr, "example_heisenberg: {}\n", error.what());
  return 2;
}
