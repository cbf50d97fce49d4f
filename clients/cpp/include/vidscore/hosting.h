/// @file
/// Hosted benchmarks as a client sees them.

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "vidscore/frames.h"
#include "vidscore/reports.h"

namespace vidscore {

/// A point in time of the server.
using Time = std::chrono::system_clock::time_point;

/// A hosted benchmark: a specification, truth and a policy.
struct Benchmark {
  std::string name;                            ///< Last part of its name, such as `streets`.
  std::string title;                           ///< Title for people.
  std::vector<std::string> evaluators;         ///< Names of its evaluators.
  std::optional<Geometry> truth_geometry;      ///< Shape of the truth's objects; nullopt: unknown.
  std::optional<Geometry> detection_geometry;  ///< Shape of detections, likewise.
  std::optional<Time> open_time;    ///< When submissions may first be created; nullopt: at once.
  std::optional<Time> close_time;   ///< When submissions are sealed or cancelled; nullopt: never.
  std::optional<Time> create_time;  ///< When it was created.
  std::optional<Time> update_time;  ///< When it was last changed.
};

/// State of a submission.
enum class SubmissionState {
  unknown,            ///< A state that this client does not know.
  open,               ///< Created; no frames have arrived.
  receiving,          ///< Frames have arrived.
  sealed,             ///< No more frames are accepted; scoring has not begun.
  waiting_for_truth,  ///< Sealed, and waiting for missing truth.
  scoring,            ///< Being scored.
  scored,             ///< Scored.
  failed,             ///< Could not be scored; the reason says why.
  cancelled,          ///< Cancelled.
};

/// Whether the state changes no more by itself.
bool has_ended(SubmissionState state) noexcept;

/// The name of a state, such as `waiting_for_truth`.
const char* to_string(SubmissionState state) noexcept;

/// An append stream of a submission.
struct StreamInfo {
  std::string stream;             ///< Its name within the submission.
  std::int64_t epoch = 0;         ///< Epoch of its present writer.
  std::uint64_t next_offset = 0;  ///< Offset of its next frame: the number of durable frames.
};

/// One system's detections for a benchmark.
struct Submission {
  std::string name;                                  ///< `benchmarks/{b}/submissions/{s}`.
  std::string team;                                  ///< Team that it belongs to.
  std::string title;                                 ///< Title for people.
  SubmissionState state = SubmissionState::unknown;  ///< Its state.
  std::string state_reason;                          ///< Stable code for why it has this state.
  std::string state_message;                         ///< The reason for people.
  std::optional<Time> state_time;                    ///< Time since which it has this state.
  std::optional<Time> create_time;                   ///< When it was created.
  std::optional<Time> seal_time;                     ///< When it was sealed; nullopt: it is not.
  std::uint64_t frame_count = 0;                     ///< Durable frames in all streams together.
  std::vector<StreamInfo> streams;                   ///< Its append streams.
  std::int64_t revision = 0;                         ///< Increases with each change.
  /// Doubts about its detections, for people: names that the benchmark does not have, if names are
  /// public.
  std::vector<std::string> warnings;

  /// One of its streams; nullptr if there is none.
  const StreamInfo* find_stream(const std::string& stream) const noexcept;
};

/// A score of a submission; it never changes.
struct SubmissionScore {
  std::string name;                 ///< Full name; empty for a live score.
  std::optional<Time> create_time;  ///< When it was made.
  std::int64_t truth_revision = 0;  ///< Revision of the truth, for organisers; otherwise 0.
  Report report;                    ///< The part of the report that the caller may see.
  bool partial = false;             ///< Whether frames without truth were left out.
  bool current = false;             ///< Whether it is the one score of its evaluator to show.
};

/// A submission at a revision, and the scores that may be seen then.
struct SubmissionUpdate {
  Submission submission;                ///< The submission.
  std::vector<SubmissionScore> scores;  ///< The scores.
};

/// Selects a board of a benchmark.
struct LeaderboardQuery {
  std::string benchmark;              ///< The benchmark.
  std::string evaluator;              ///< Evaluator; empty: the first one of the specification.
  std::optional<std::string> domain;  ///< Domain; nullopt: all together.
  std::optional<std::string> label;   ///< Label; nullopt: all together.
};

/// One submission on the board.
struct LeaderboardRow {
  std::int32_t rank = 0;                                ///< From 1 on; 0: the row is apart.
  std::string team;                                     ///< Team.
  std::string submission;                               ///< Full name, if it may be seen.
  std::string title;                                    ///< Its title.
  std::optional<Time> seal_time;                        ///< When it was sealed.
  std::map<std::string, std::optional<double>> scores;  ///< Released measures by name.
  std::int64_t truth_revision = 0;                      ///< Of the truth behind the scores.
  std::string evaluator_version;                        ///< Of the evaluator that computed them.
  bool apart = false;  ///< Whether the scores cannot be compared with those of the ranked rows.
};

/// Submissions in rank order.
struct Leaderboard {
  std::vector<LeaderboardRow> rows;        ///< The rows, best rank first.
  std::vector<std::string> ranking;        ///< Measures that rank, first one first.
  std::int64_t truth_revision = 0;         ///< Of the truth of the ranked scores; 0: none.
  std::int64_t newest_truth_revision = 0;  ///< Newest complete one; 0: none.
};

}  // namespace vidscore
