// SPDX-License-Identifier: BSD-3-Clause
// A matrix of values that are neither double nor float.
#include <tansolve/codec/csr.hpp>

#if WRONG
tansolve::Csr<int> matrix;
#else
tansolve::Csr<float> matrix;
#endif
