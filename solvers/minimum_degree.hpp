// SPDX-License-Identifier: BSD-3-Clause
// An order of elimination that keeps the factor of a sparse symmetric matrix sparse.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tansolve::detail {

/// The rows of a symmetric pattern, whose diagonal does not matter, in the order in which they are
/// to be eliminated. None, once `go_on`, asked before each elimination, says no. Takes some 8 bytes
/// an entry and 100 a row.
///
/// Source: Amestoy, Davis and Duff, SIAM J. Matrix Anal. Appl. 17 (1996): the quotient graph, the
/// bound of the degree, absorption of elements and of rows that are alike.
std::vector<std::int32_t> minimum_degree(std::span<const std::int64_t> offsets,
                                         std::span<const std::int32_t> columns,
                                         const std::function<bool()>& go_on);

}  // namespace tansolve::detail
