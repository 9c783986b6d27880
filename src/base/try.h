// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <utility>

// The only macros in the project that hide a `return`; C++ has no `?` operator. Both hand on the
// Error unchanged, so `side`, `retry` and `native` survive on their way up.
//
// TI_TRY_ASSIGN declares a variable: it is a statement of its own, never the body of a bare `if`.

#define TI_TRY(expr)                                   \
  do {                                                 \
    if (auto ti_try_result = (expr); !ti_try_result) { \
      return std::unexpected(ti_try_result.error());   \
    }                                                  \
  } while (false)

#define TI_TRY_ASSIGN(decl, expr) TI_TRY_ASSIGN_(decl, expr, TI_TRY_CAT_(ti_try_, __LINE__))
#define TI_TRY_ASSIGN_(decl, expr, tmp)          \
  auto tmp = (expr);                             \
  if (!tmp) return std::unexpected(tmp.error()); \
  decl = *std::move(tmp)
#define TI_TRY_CAT_(a, b) TI_TRY_CAT2_(a, b)
#define TI_TRY_CAT2_(a, b) a##b
