// SPDX-License-Identifier: BSD-3-Clause
// The memory of Lanczos methods for eigenvalues: what it takes, told beforehand.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/basis_kernels.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/solvers/krylov_space.hpp>
#include <tansolve/solvers/lanczos.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace tansolve {
namespace {

void require(bool fits, const std::string& what) {
  if (!fits) throw Error(ErrorCode::invalid_argument, "lanczos: " + what);
}

constexpr std::int64_t most_vectors = Basis<double, Host>::most_rotated;

/// With the numbers that stand for defaults replaced.
LanczosSpace resolved(std::int64_t n, std::int64_t nev, LanczosSpace space) {
  require(nev >= 1 && nev <= n, fmt::format("nev is {}, it must be from 1 to n = {}", nev, n));
  require(space.block >= 1 && space.block <= n,
          fmt::format("block is {}, it must be from 1 to n = {}", space.block, n));
  require(space.ncv >= 0 && space.ncv <= n,
          fmt::format("ncv is {}, it must be from nev + 2 block to n = {}, or 0", space.ncv, n));
  require(space.degree >= 1, fmt::format("degree is {}, it must be positive", space.degree));
  if (space.storage != BasisStorage::working) space.degree = 1;
  const std::int64_t least = nev + 2 * space.block;
  if (space.ncv == 0) space.ncv = nev + std::max({nev, std::int64_t{30}, 2 * space.block});
  if (space.ncv + space.block >= n)  // all of R^n: dense, without a basis or polynomials
    return {.ncv = n, .block = 1, .storage = space.storage, .degree = 1};
  require(space.ncv >= least,
          fmt::format("ncv is {}, it must be at least nev + 2 block = {}", space.ncv, least));
  require(space.ncv + space.block <= most_vectors,
          fmt::format("ncv is {} and block {}, together they must not exceed {}", space.ncv,
                      space.block, most_vectors));
  return space;
}

bool is_dense(std::int64_t n, const LanczosSpace& resolved) {
  return resolved.ncv >= n;
}

std::int64_t basis_count(std::int64_t n, const LanczosSpace& space) {
  return is_dense(n, space) ? 0 : space.ncv + space.block;
}

WorkspaceShape shape(std::int64_t n, const LanczosSpace& space) {
  return {.size = n * space.block, .vectors = space.degree > 1 ? 4 : 2, .scalars = 2};
}

template <class B>
std::int64_t columns_size(std::int64_t n, const LanczosSpace& space) {
  return is_dense(n, space)
             ? 0
             : detail::krylov_look<B>(space.block) * detail::krylov_column(space.ncv, space.block);
}

std::int64_t rotation_size(std::int64_t n, const LanczosSpace& space) {
  return is_dense(n, space) ? 0 : (space.ncv + space.block) * space.ncv;
}

std::int64_t matrix_size(const LanczosSpace& space) {
  return (space.ncv + space.block) * space.ncv;
}

template <class T, class B>
Basis<T, B> make_basis(Context<B>& context, std::int64_t n, const LanczosSpace& space) try {
  const double host = static_cast<double>(space.ncv) * static_cast<double>(space.ncv) * 48;
  const std::int64_t available = detail::available_memory(Context<Host>(1));
  if (host > static_cast<double>(available))
    throw Error(ErrorCode::out_of_memory,
                fmt::format("dense matrices of {} rows: {:.0f} bytes requested, the host has {}",
                            space.ncv, host, available));
  return Basis<T, B>(context, n, basis_count(n, space), space.storage);
} catch (const Error& error) {
  if (error.code() != ErrorCode::out_of_memory) throw;
  throw Error(error.code(), fmt::format("lanczos: ncv is {}, lower it or narrow the storage: {}",
                                        space.ncv, error.what()));
}

}  // namespace

template <class T>
double least_tolerance(BasisStorage storage) {
  const double roundoff = storage_roundoff<T>(storage);
  return roundoff > storage_roundoff<T>(BasisStorage::working) ? 16 * roundoff : 0;
}

template <class T, class B>
LanczosWorkspace<T, B>::LanczosWorkspace(Context<B>& context, std::int64_t n, std::int64_t nev,
                                         const LanczosSpace& space)
    : space_(resolved(n, nev, space)),
      dense_(is_dense(n, space_)),
      n_(n),
      nev_(nev),
      V_(make_basis<T>(context, n, space_)),
      blocks_(context, shape(n, space_)),
      spare_(context, n),
      columns_(context, columns_size<B>(n, space_)),
      Q_(context, rotation_size(n, space_)),
      seen_(std::max(columns_.size(), Q_.size())),
      matrix_(matrix_size(space_)),
      kept_(dense_ ? 0 : matrix_size(space_)),
      eigen_(space_.ncv) {}

template <class T, class B>
std::int64_t LanczosWorkspace<T, B>::bytes(const Context<B>& context, std::int64_t n,
                                           std::int64_t nev, const LanczosSpace& given) {
  const LanczosSpace space = resolved(n, nev, given);
  return Basis<T, B>::bytes(context, n, basis_count(n, space), space.storage) +
         shape(n, space).template bytes<T>() +
         (n + columns_size<B>(n, space) + rotation_size(n, space)) * std::int64_t{sizeof(T)};
}

template <class T, class B>
std::int64_t LanczosWorkspace<T, B>::host_bytes(std::int64_t n, std::int64_t nev,
                                                const LanczosSpace& given) {
  const LanczosSpace space = resolved(n, nev, given);
  return (is_dense(n, space) ? 1 : 2) * matrix_size(space) * std::int64_t{sizeof(double)} +
         std::max(columns_size<B>(n, space), rotation_size(n, space)) * std::int64_t{sizeof(T)} +
         detail::SymmetricEigen::bytes(space.ncv);
}

template <class T, class B>
std::int64_t LanczosWorkspace<T, B>::bytes() const {
  return bytes(columns_.context(), n_, nev_, space_);
}

template <class T, class B>
void LanczosWorkspace<T, B>::require(const Context<B>& context, std::int64_t n,
                                     std::int64_t nev) const {
  blocks_.require("lanczos", context, shape(n, space_));
  if (nev != nev_)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("lanczos: the workspace is for {} pairs, not {}", nev_, nev));
}

#define TANSOLVE_INSTANTIATE(T, B) template class LanczosWorkspace<T, B>;
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE
template double least_tolerance<double>(BasisStorage);
template double least_tolerance<float>(BasisStorage);

}  // namespace tansolve
