// SPDX-License-Identifier: BSD-3-Clause
// The set-up of multigrid step by step: strength, aggregates, candidates, Galerkin products.
#include <tansolve/preconditioners/amg_coarse.hpp>
#include <tansolve/preconditioners/amg_setup.hpp>
#include <tansolve/preconditioners/mantissa.hpp>
#include <tansolve/preconditioners/sparse_rows.hpp>

#include "preconditioners/dense.hpp"
#include "support/matrices.hpp"

#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>

namespace tansolve::test {
namespace {

using detail::Aggregates;
using detail::Nodes;
using detail::Role;
using detail::StrongGraph;

/// Nodes of `unknowns` rows each.
Nodes nodes_of(const Csr<double>& A, int unknowns = 1) {
  std::vector<std::int32_t> begin;
  for (std::int64_t i = 0; i <= A.rows(); i += unknowns)
    begin.push_back(static_cast<std::int32_t>(i));
  return Nodes(begin);
}

StrongGraph graph_of(const Csr<double>& A, double theta = 0, int unknowns = 1,
                     Strength strength = Strength::symmetric) {
  return detail::strong_graph(A, nodes_of(A, unknowns),
                              detail::constant_vectors(A.rows(), unknowns), strength, theta, 2);
}

std::vector<std::int32_t> neighbours(const StrongGraph& graph, std::int64_t node) {
  const auto all = graph.of(node);
  return {all.begin(), all.end()};
}

/// From a dense matrix, by its nonzeros.
Csr<double> sparse(const Eigen::MatrixXd& a) {
  std::vector<Triplet<double>> triplets;
  for (Eigen::Index i = 0; i < a.rows(); ++i)
    for (Eigen::Index j = 0; j < a.cols(); ++j)
      if (a(i, j) != 0) triplets.push_back({i, j, a(i, j)});
  return Csr<double>::from_triplets(a.rows(), a.cols(), triplets);
}

TEST_CASE("strong connections are those above a share of the diagonal, or of the largest") {
  // Beside a diagonal of 4 and 1: 1, 0.3 and 0.1.
  const Csr<double> A =
      sparse(Eigen::MatrixXd{{4, -1, 0.3, 0}, {-1, 4, 0, -0.1}, {0.3, 0, 1, -1}, {0, -0.1, -1, 4}});
  // Scaled: 0.25, 0.15, 0.025, 0.5.
  const StrongGraph symmetric = graph_of(A, 0.2);
  CHECK(neighbours(symmetric, 0) == std::vector<std::int32_t>{1});
  CHECK(neighbours(symmetric, 1) == std::vector<std::int32_t>{0});
  CHECK(neighbours(symmetric, 2) == std::vector<std::int32_t>{3});
  CHECK(neighbours(symmetric, 3) == std::vector<std::int32_t>{2});
  CHECK(symmetric.drops);
  CHECK(symmetric.kept == std::vector<std::uint8_t>{1, 1, 0, 1, 1, 0, 0, 1, 1, 0, 1, 1});
  CHECK(neighbours(graph_of(A, 0.14), 0) == std::vector<std::int32_t>{1, 2});
  CHECK_FALSE(graph_of(A, 0).drops);
  // The largest of each row is 1.
  const StrongGraph absolute = graph_of(A, 0.2, 1, Strength::absolute);
  CHECK(neighbours(absolute, 0) == std::vector<std::int32_t>{1, 2});
  CHECK(neighbours(absolute, 1) == std::vector<std::int32_t>{0});
}

TEST_CASE("nodes of several unknowns are connected by the norms of their blocks") {
  // Blocks on the diagonal of norm 5 and 10; beside it of norm 1 and 0.3.
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(6, 6);
  a.block(0, 0, 2, 2) << 4, 0, 0, 3;
  a.block(2, 2, 2, 2) << 4, 0, 0, 3;
  a.block(4, 4, 2, 2) << 8, 0, 0, 6;
  a.block(0, 2, 2, 2) << 0.6, 0.8, 0, 0;
  a.block(2, 0, 2, 2) << 0.6, 0, 0.8, 0;
  a(0, 5) = a(5, 0) = 3;
  a(2, 4) = a(4, 2) = 0.3;
  const Csr<double> A = sparse(a);
  CHECK(neighbours(graph_of(A, 0.19, 2), 0) == std::vector<std::int32_t>{1, 2});
  CHECK(neighbours(graph_of(A, 0.21, 2), 0) == std::vector<std::int32_t>{2});  // 3 / sqrt(50)
  const StrongGraph graph = graph_of(A, 0.19, 2);
  // 0.3 / sqrt(50) is weak, and the blocks of a node are always kept.
  CHECK(std::accumulate(graph.kept.begin(), graph.kept.end(), 0) == A.nnz() - 2);
}

TEST_CASE("nodes between neighbours of far greater coefficients are not left out") {
  // Scaled to a diagonal of 1, node 1 is coupled by 0.0707 to 0 and 2, but constants pass through.
  const Csr<double> between = sparse(Eigen::MatrixXd{{100, -1, 0}, {-1, 2, -1}, {0, -1, 100}});
  CHECK(graph_of(between, 0.1).roles[1] == Role::follower);
  CHECK(graph_of(between, 0.05).roles[1] == Role::member);
  // Their own diagonals leave the constants of 0 and 2.
  CHECK(graph_of(between, 0.05).roles[0] == Role::left_out);
  // What holds is the candidate, not the constant.
  Dense candidates{3, 1, {1, 100, 1}};
  const auto roles =
      detail::strong_graph(between, nodes_of(between), candidates, Strength::symmetric, 0.05, 1)
          .roles;
  CHECK(roles == std::vector<Role>{Role::member, Role::left_out, Role::member});
}

TEST_CASE("connections of an even share are strong, however many there are") {
  // 26 neighbours of 1/26 each, below a theta of 0.1, but not below 0.6/26.
  const StrongGraph graph = graph_of(generate("poisson27:5"), 0.1);
  CHECK(neighbours(graph, 62).size() == 26);
  CHECK(graph_of(generate("poisson27:5"), 0.1, 1, Strength::absolute).of(62).size() == 26);
}

TEST_CASE("dominated nodes are left out, and those of weak connections follow the nearest") {
  // Node 0 is coupled weakly to 1 and 2, but by no means dominant; node 3 to nothing.
  const Csr<double> A = sparse(
      Eigen::MatrixXd{{1, -0.35, -0.3, 0}, {-0.35, 1, -0.9, 0}, {-0.3, -0.9, 1, 0}, {0, 0, 0, 5}});
  const StrongGraph graph = graph_of(A, 0.5);
  CHECK(graph.roles ==
        std::vector<Role>{Role::follower, Role::member, Role::member, Role::left_out});
  CHECK(neighbours(graph, 0) == std::vector<std::int32_t>{1});
  const Aggregates aggregates = detail::aggregate(graph, 2, 2);
  CHECK(aggregates.of_node == std::vector<std::int32_t>{0, 0, 0, -1});
  CHECK(aggregates.count == 1);
}

/// Edges from each node to the nearest one of `from`.
std::vector<int> distances(const StrongGraph& graph, std::int32_t from) {
  std::vector<int> distance(graph.roles.size(), 1000);
  std::vector<std::int32_t> queue = {from};
  distance[from] = 0;
  for (std::size_t k = 0; k < queue.size(); ++k)
    for (const std::int32_t j : graph.of(queue[k]))
      if (distance[j] == 1000) {
        distance[j] = distance[queue[k]] + 1;
        queue.push_back(j);
      }
  return distance;
}

TEST_CASE("aggregates are connected, near their roots, and cover all nodes") {
  for (const char* spec : {"poisson5:12", "poisson7:6", "poisson27:6", "varcoef7:6:100"})
    for (const int distance : {1, 2, 3}) {
      CAPTURE(spec);
      CAPTURE(distance);
      const StrongGraph graph = graph_of(generate(spec), 0.02);
      const Aggregates aggregates = detail::aggregate(graph, distance, 2);
      std::vector<std::set<std::int32_t>> members(aggregates.count);
      for (std::size_t i = 0; i < graph.roles.size(); ++i) {
        CHECK((aggregates.of_node[i] >= 0) == (graph.roles[i] != Role::left_out));
        if (aggregates.of_node[i] >= 0)
          members[aggregates.of_node[i]].insert(static_cast<std::int32_t>(i));
      }
      for (const auto& aggregate : members) {
        CHECK_FALSE(aggregate.empty());
        bool near = false;  // whether some member is within the distance of all
        for (const std::int32_t root : aggregate) {
          const auto from = distances(graph, root);
          near =
              near || std::ranges::all_of(aggregate, [&](auto i) { return from[i] <= distance; });
        }
        CHECK(near);
      }
    }
}

TEST_CASE("roots are three apart on the stencil of seven points, and two on the others") {
  CHECK(detail::natural_root_distance(graph_of(generate("poisson7:12"))) == 3);
  CHECK(detail::natural_root_distance(graph_of(generate("poisson7:16"))) == 3);
  CHECK(detail::natural_root_distance(graph_of(generate("poisson7:32"))) == 3);
  CHECK(detail::natural_root_distance(graph_of(generate("poisson5:20"))) == 2);
  CHECK(detail::natural_root_distance(graph_of(generate("poisson27:10"))) == 2);
  CHECK(detail::natural_root_distance(graph_of(path_laplacian<double>(50))) == 2);
  CHECK(detail::natural_root_distance(graph_of(diagonal_matrix<double>({1, 2}))) == 2);
}

/// The points of an nx x ny x nz grid, x fastest, stretched.
Dense grid_points(std::int64_t nx, std::int64_t ny, std::int64_t nz, std::int64_t dimensions) {
  Dense points{nx * ny * nz, dimensions, {}};
  for (std::int64_t d = 0; d < dimensions; ++d)
    for (std::int64_t i = 0; i < points.rows; ++i)
      points.values.push_back(d == 0   ? static_cast<double>(i % nx)
                              : d == 1 ? 2.0 * static_cast<double>(i / nx % ny)
                                       : 0.5 * static_cast<double>(i / nx / ny) + 7);
  return points;
}

Eigen::MatrixXd matrix_of(const Dense& dense) {
  return Eigen::Map<const Eigen::MatrixXd>(dense.values.data(), dense.rows, dense.cols);
}

TEST_CASE("rigid-body modes change no distance between points, and are independent") {
  for (const std::int64_t d : {2, 3}) {
    const Dense points = grid_points(3, 4, d == 2 ? 1 : 2, d);
    const Eigen::MatrixXd x = matrix_of(points), modes = matrix_of(rigid_body_modes(points));
    CHECK(modes.rows() == points.rows * d);
    CHECK(modes.cols() == (d == 2 ? 3 : 6));
    CHECK(eigenvalues(modes.transpose() * modes)[0] > 1e-3);  // independent
    for (Eigen::Index m = 0; m < modes.cols(); ++m)
      for (std::int64_t i = 0; i < points.rows; ++i)
        for (std::int64_t j = 0; j < i; ++j) {
          double growth = 0;  // of half the squared distance
          for (std::int64_t c = 0; c < d; ++c)
            growth += (x(i, c) - x(j, c)) * (modes(i * d + c, m) - modes(j * d + c, m));
          CHECK(std::abs(growth) < 1e-13);
        }
  }
  CHECK(refusal(ErrorCode::invalid_argument, [] {
          rigid_body_modes({4, 1, {1, 2, 3, 4}});
        }) == "rigid-body modes: coordinates of 1 dimensions, there must be 2 or 3");
}

void check_tentative(const Csr<double>& A, int unknowns, const Dense& candidates) {
  const Nodes nodes = nodes_of(A, unknowns);
  const StrongGraph graph = graph_of(A, 0, unknowns);
  const Aggregates aggregates = detail::aggregate(graph, 2, 2);
  const auto made = detail::tentative(aggregates, nodes, candidates, 2);
  const Eigen::MatrixXd T = dense(made.T);
  CHECK(made.coarse_nodes.count() == aggregates.count);
  CHECK(made.coarse_nodes.begin.back() == T.cols());
  CHECK(distance(T.transpose() * T, Eigen::MatrixXd::Identity(T.cols(), T.cols())) < 1e-14);
  CHECK(distance(T * matrix_of(made.coarse), matrix_of(candidates)) < 1e-14);
}

TEST_CASE("tentative prolongations reproduce the candidates from orthonormal columns") {
  check_tentative(generate("poisson7:7"), 1, detail::constant_vectors(343, 1));
  check_tentative(generate("fem3:4"), 3, detail::constant_vectors(192, 3));
  check_tentative(generate("fem3:5"), 3, rigid_body_modes(grid_points(5, 5, 5, 3)));
}

TEST_CASE("aggregates with fewer rows than candidates have as many columns as rank") {
  // Two nodes without neighbours, and one whose candidates vanish there, of three unknowns.
  Aggregates aggregates{{0, 1, 2}, 3};
  const Nodes nodes = nodes_of(diagonal_matrix(std::vector<double>(9, 1)), 3);
  Dense modes = rigid_body_modes({3, 3, {0, 1, 2, 0, 0, 5, 1, 3, 3}});
  for (std::int64_t c = 0; c < modes.cols; ++c)
    for (std::int64_t i = 6; i < 9; ++i) modes.values[i + c * 9] = 0;
  const auto made = detail::tentative(aggregates, nodes, modes, 1);
  CHECK(made.coarse_nodes.begin == std::vector<std::int32_t>{0, 3, 6, 6});
  CHECK(distance(dense(made.T) * matrix_of(made.coarse), matrix_of(modes)) < 1e-14);
}

TEST_CASE("products of three sparse matrices are those of dense ones, whatever the threads") {
  const auto normal = [](auto& random) { return std::normal_distribution<double>()(random); };
  const auto R = random_matrix<double>(700, 1300, 4, 3, normal);
  const auto A = random_matrix<double>(1300, 300, 5, 1, normal);
  const auto P = random_matrix<double>(300, 700, 3, 2, normal);
  const auto RAP = detail::triple_product(R, A, P, 3);
  CHECK(distance(dense(RAP), dense(R) * dense(A) * dense(P)) < 1e-14);
  CHECK(same_bits(RAP, detail::triple_product(R, A, P, 1)));
}

TEST_CASE("matrices are transposed on threads as they are on one") {
  const auto normal = [](auto& random) { return std::normal_distribution<double>()(random); };
  for (const auto& A : {random_matrix<double>(20000, 3000, 5, 1, normal),
                        random_matrix<double>(100, 30000, 40, 2, normal), Csr<double>()})
    for (const int threads : {1, 3}) CHECK(same_bits(detail::transposed(A, threads), transpose(A)));
}

TEST_CASE("values are rounded to the nearest of so many bits, to even between two") {
  CHECK(detail::rounded(1.5, 1) == 1.5);
  CHECK(detail::rounded(1.25, 1) == 1);
  CHECK(detail::rounded(1.75, 1) == 2);
  CHECK(detail::rounded(-1.26, 1) == -1.5);
  CHECK(detail::rounded(0x1.ffp100, 7) == 0x1p101);
  CHECK(detail::rounded(0x1.0101p-1070, 1) == 0x1p-1070);  // subnormal
  CHECK(detail::rounded(0x3p-1074, 1) == 0x3p-1074);
  CHECK(std::signbit(detail::rounded(-0.0, 3)));
  CHECK(std::isinf(detail::rounded(-std::numeric_limits<double>::infinity(), 3)));
  CHECK(std::isnan(detail::rounded(std::nan(""), 3)));
  std::mt19937_64 random(5);
  for (int k = 0; k < 1000; ++k) {
    const double value = std::ldexp(std::normal_distribution<double>()(random), k - 500);
    CHECK(detail::rounded(value, 52) == value);
    int exponent = 0;
    const double fraction = std::frexp(value, &exponent);
    CHECK(detail::rounded(value, 20) ==
          std::ldexp(std::nearbyint(std::ldexp(fraction, 21)), exponent - 21));
  }
}

TEST_CASE("coarse matrices are Galerkin products, symmetric to the bit and rounded") {
  for (const char* spec : {"poisson7:7", "varcoef7:6:1000", "fem3:4"}) {
    CAPTURE(spec);
    const Csr<double> A = generate(spec);
    auto made = detail::AmgSetup({.coarse_rows = 8}).matrices(A);
    CHECK(made.levels.size() >= 2);
    for (std::size_t l = 0; l + 1 < made.levels.size(); ++l) {
      const Eigen::MatrixXd fine = dense(l == 0 ? A : made.levels[l].A);
      const Eigen::MatrixXd P = dense(made.levels[l].P);
      const Csr<double>& coarse = made.levels[l + 1].A;
      CHECK(distance(dense(coarse), P.transpose() * fine * P) < 1e-12);
      CHECK(is_symmetric(coarse));
      CHECK(same_bits(made.levels[l].R, transpose(made.levels[l].P)));
      const Eigen::VectorXd roots = fine.diagonal().cwiseSqrt().cwiseInverse();
      const double largest = eigenvalues(roots.asDiagonal() * fine * roots.asDiagonal()).maxCoeff();
      CHECK(made.levels[l].upper >= largest);
      CHECK(made.levels[l].upper <= 1.3 * largest);
    }
  }
}

TEST_CASE("prolongations are smoothed along strong connections alone, and keep constants inside") {
  const Csr<double> A = anisotropic<double>(24, 24, 0.001);
  const auto made = detail::AmgSetup({.coarse_rows = 20, .prolongation_bits = 52}).matrices(A);
  const Csr<double>& P = made.levels[0].P;
  // Aggregates are pieces of lines in x, and so are the rows of P.
  for (std::int64_t i = 0; i < P.rows(); ++i) CHECK(P.row_nnz(i) <= 2);
  // T times the coarse candidate is 1, and what the smoother takes off in the interior is 0.
  const auto free = detail::AmgSetup({.prolongation_damping = 0, .coarse_rows = 20}).matrices(A);
  const Eigen::MatrixXd T = dense(free.levels[0].P);
  const Eigen::VectorXd coarse = T.transpose() * Eigen::VectorXd::Ones(T.rows());
  CHECK((T * coarse - Eigen::VectorXd::Ones(T.rows())).norm() < 1e-13);
  const Eigen::VectorXd smoothed = dense(P) * coarse;
  for (Eigen::Index y = 1; y < 23; ++y)
    for (Eigen::Index x = 1; x < 23; ++x) CHECK(std::abs(smoothed[24 * y + x] - 1) < 1e-12);
}

TEST_CASE("the set-up does not depend on the number of threads") {
  for (const char* spec : {"varcoef7:24:1000", "fem3:17"}) {  // 13824 and 14739 rows
    const Csr<double> A = generate(spec);
    const auto one = detail::AmgSetup({.coarse_rows = 30, .threads = 1}).matrices(A);
    const auto three = detail::AmgSetup({.coarse_rows = 30, .threads = 3}).matrices(A);
    CHECK(one.levels.size() == three.levels.size());
    CHECK(one.levels.size() >= 2);
    for (std::size_t l = 0; l < one.levels.size(); ++l) {
      CHECK(same_bits(one.levels[l].A, three.levels[l].A));
      CHECK(same_bits(one.levels[l].P, three.levels[l].P));
      CHECK(same_bits(one.levels[l].R, three.levels[l].R));
      CHECK(one.levels[l].inverse_diagonal == three.levels[l].inverse_diagonal);
      CHECK(one.levels[l].upper == three.levels[l].upper);
    }
    CHECK(same_bits(one.coarse_inverse, three.coarse_inverse));
  }
}

TEST_CASE("the dense inverse is one where there is one, else a pseudo-inverse") {
  const auto inverse = [](const Csr<double>& A, std::vector<double> inverse_diagonal = {}) {
    if (inverse_diagonal.empty())
      for (std::int64_t i = 0; i < A.rows(); ++i)
        inverse_diagonal.push_back(1 / dense(A).diagonal()[i]);
    return detail::dense_inverse(A, inverse_diagonal, 1e-10);
  };
  const Csr<double> regular = generate("varcoef7:4:100");
  CHECK(distance(dense(inverse(regular)), dense(regular).inverse()) < 1e-9);
  CHECK(is_symmetric(inverse(regular)));

  const Eigen::MatrixXd a = dense(path_laplacian<double>(9));
  const Eigen::MatrixXd x = dense(inverse(path_laplacian<double>(9)));
  CHECK(distance(a * x * a, a) < 1e-12);
  CHECK((x - x.transpose()).norm() == 0);
  const Eigen::VectorXd spectrum = eigenvalues(x);
  CHECK(std::abs(spectrum[0]) < 1e-12);
  CHECK(spectrum[1] > 0.1);

  const Eigen::MatrixXd zero =
      dense(inverse(diagonal_matrix<double>({2, 1e-17, 4}), {0.5, 0, 0.25}));
  CHECK(distance(zero, Eigen::Vector3d(0.5, 0, 0.25).asDiagonal()) < 1e-15);
  CHECK(inverse(Csr<double>()).rows() == 0);
  CHECK(refusal(ErrorCode::bad_input,
                [&] {
                  inverse(sparse(Eigen::MatrixXd{{1, 2}, {2, 1}}));
                }) ==
        "amg: the matrix is not positive definite: on the coarsest level, scaled to a "
        "diagonal of 1, it has an eigenvalue of -1");
}

}  // namespace
}  // namespace tansolve::test
