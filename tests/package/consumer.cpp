// SPDX-License-Identifier: BSD-3-Clause
// An outsider's program: solves on the host, and on a GPU where there is one, else says why not.
#include <tansolve/codec/compress.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/files.hpp>
#include <tansolve/codec/generators.hpp>
#include <tansolve/kernels/compressed_operator.hpp>
#include <tansolve/preconditioners/jacobi.hpp>
#include <tansolve/solvers/cg.hpp>

#include <iostream>
#include <vector>

using namespace tansolve;

namespace {

template <class B>
bool solves(const char* where) {
  const auto matrix = compress(generate("poisson5:16"));
  Context<B> context;
  const CompressedOperator<double, B> A(context, matrix);
  const Jacobi<double, B> M(context, A);
  Vector<double, B> b(context, A.rows()), x(context, A.cols());
  copy_from_host(context, std::vector<double>(A.rows(), 1.0), b.span());
  copy_from_host(context, std::vector<double>(A.cols(), 0.0), x.span());
  const Report report = cg(A, b, x, {.preconditioner = &M});
  std::cout << where << ": " << report;
  return report.converged();
}

/// Whether `call` throws an Error of this code, which is then printed.
template <class F>
bool fails(ErrorCode code, F call) {
  try {
    call();
  } catch (const Error& error) {
    std::cout << error.what() << '\n';
    return error.code() == code;
  }
  return false;
}

}  // namespace

int main() {
  bool good = solves<Host>("host") && fails(ErrorCode::io, [] { read_matrix("absent.mtx"); });
#if TANSOLVE_HAS_CUDA
  good =
      good && (cuda_device_count() > 0 ? solves<Cuda>("GPU")
                                       : fails(ErrorCode::device, [] { Context<Cuda> context; }));
#endif
  return good ? 0 : 1;
}
