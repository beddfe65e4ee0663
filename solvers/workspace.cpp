// SPDX-License-Identifier: BSD-3-Clause
// Builds and checks workspaces.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/solvers/workspace.hpp>

#include <fmt/format.h>

namespace tansolve {

template <class T, class B>
Workspace<T, B>::Workspace(Context<B>& context, const WorkspaceShape& shape)
    : shape_(shape), scalar_storage_(context, shape.scalars) {
  for (std::int64_t i = 0; i < shape.vectors; ++i) vectors_.emplace_back(context, shape.size);
  for (std::int64_t i = 0; i < shape.scalars; ++i)
    scalars_.emplace_back(scalar_storage_.span().subspan(i, 1));
}

template <class T, class B>
void Workspace<T, B>::require(std::string_view solver, const Context<B>& context,
                              const WorkspaceShape& needed) const {
  if (&scalar_storage_.context() != &context)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: the workspace is of another context than the operator", solver));
  if (shape_.size != needed.size || shape_.vectors < needed.vectors ||
      shape_.scalars < needed.scalars)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: a workspace of {} vectors of {} elements and {} scalars, it needs "
                            "{} of {} and {}",
                            solver, shape_.vectors, shape_.size, shape_.scalars, needed.vectors,
                            needed.size, needed.scalars));
}

#define TANSOLVE_INSTANTIATE(T, B) template class Workspace<T, B>;
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
