import type { Report } from "@vidscore/client";

/** Print the scores over all sequences. */
export function printScores(reports: readonly Report[]): void {
  for (const report of reports) {
    const rows = report.rows.filter((row) => row.sequence === null);
    const cells = rows.map(({ domain, label, measure, value }) => [
      domain ?? "-",
      label ?? "-",
      measure,
      String(value ?? "undefined"),
    ]);
    const table = [["DOMAIN", "CLASS", "MEASURE", "VALUE"], ...cells];
    const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column]!.length)));
    for (const row of table) {
      console.log(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "));
    }
  }
}
