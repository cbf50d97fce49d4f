// Scores as a table.

#pragma once

#include <vidscore/client.h>

#include <iomanip>
#include <iostream>

/// Print the scores over all sequences.
inline void print_scores(const vidscore::Report& report) {
  std::cout << report.evaluator << ' ' << report.version << '\n'
            << std::left << std::setw(13) << "DOMAIN" << std::setw(13) << "CLASS" << std::setw(25)
            << "MEASURE"
            << "VALUE\n";
  for (const vidscore::Row& row : report.scores) {
    if (row.sequence) continue;
    std::cout << std::setw(13) << row.domain.value_or("-") << std::setw(13)
              << row.label.value_or("-") << std::setw(25) << row.measure;
    if (const auto number = vidscore::as_number(row.value)) {
      std::cout << *number << '\n';
    } else {
      std::cout << "undefined\n";
    }
  }
}
