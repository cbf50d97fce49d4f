//! Scores as a table.

use vidscore_client::Report;

/// Print the scores over all sequences.
pub fn print_scores(report: &Report) {
    println!("{} {}", report.evaluator, report.version);
    println!(
        "{:<12} {:<12} {:<24} {:>12}",
        "DOMAIN", "CLASS", "MEASURE", "VALUE"
    );
    for row in report.scores.iter().filter(|row| row.sequence.is_none()) {
        let domain = row.domain.as_deref().unwrap_or("-");
        let label = row.label.as_deref().unwrap_or("-");
        let value = format!("{:.6}", row.value);
        println!("{domain:<12} {label:<12} {:<24} {value:>12}", row.measure);
    }
}
