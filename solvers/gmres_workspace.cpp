// SPDX-License-Identifier: BSD-3-Clause
// The memory of GMRES: what it takes, told beforehand.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/solvers/gmres_cycle.hpp>

#include <fmt/format.h>

namespace tansolve {
namespace {

constexpr std::int64_t vectors = 4;  // v, z, and the step and x between cycles

WorkspaceShape shape(std::int64_t n) {
  return {.size = n, .vectors = vectors, .scalars = 1};
}

std::int64_t columns_size(std::int64_t restart) {
  return detail::gmres_look * detail::gmres_column(restart);
}

template <class T, class B>
Basis<T, B> make_basis(Context<B>& context, std::int64_t n, std::int64_t count,
                       const KrylovBasis& basis) try {
  return Basis<T, B>(context, n, count, basis.storage);
} catch (const Error& error) {
  if (error.code() != ErrorCode::out_of_memory) throw;
  throw Error(error.code(), fmt::format("gmres: restart is {}, lower it or narrow the storage: {}",
                                        basis.restart, error.what()));
}

}  // namespace

template <class T, class B>
GmresWorkspace<T, B>::GmresWorkspace(Context<B>& context, std::int64_t n, const KrylovBasis& basis,
                                     bool flexible)
    : reorthogonalize_(basis.reorthogonalize),
      V_(make_basis<T>(context, n, detail::restart_for("gmres", n, basis) + 1, basis)),
      vectors_(context, shape(n)),
      columns_(context, columns_size(restart())),
      seen_(columns_.size()),
      qr_(restart(), detail::column_rounding<T>(restart(), basis.storage)),
      h_(restart()),
      y_(restart()) {
  if (flexible) Z_.emplace(make_basis<T>(context, n, restart(), basis));
}

template <class T, class B>
std::int64_t GmresWorkspace<T, B>::bytes(const Context<B>& context, std::int64_t n,
                                         const KrylovBasis& basis, bool flexible) {
  const std::int64_t m = detail::restart_for("gmres", n, basis);
  return Basis<T, B>::bytes(context, n, m + 1, basis.storage) +
         (flexible ? Basis<T, B>::bytes(context, n, m, basis.storage) : 0) +
         shape(n).template bytes<T>() + columns_size(m) * std::int64_t{sizeof(T)};
}

template <class T, class B>
std::int64_t GmresWorkspace<T, B>::bytes() const {
  return bytes(columns_.context(), V_.size(), {restart(), V_.storage()}, Z_.has_value());
}

template <class T, class B>
void GmresWorkspace<T, B>::require(std::string_view solver, const Context<B>& context,
                                   std::int64_t n, bool flexible) const {
  vectors_.require(solver, context, shape(n));
  if (flexible && !Z_)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: the workspace is for gmres, it has no second basis", solver));
}

#define TANSOLVE_INSTANTIATE(T, B) template class GmresWorkspace<T, B>;
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
