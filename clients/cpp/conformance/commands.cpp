#include "commands.h"

#include <unistd.h>

#include <limits>
#include <map>
#include <mutex>
#include <thread>

#include "frames_file.h"

namespace {

/// Exit code of a process that ends itself hard.
constexpr int kKilled = 9;

Json version(const Arguments&) {
  return {{"language", "cpp"}, {"client_version", vidscore::kVersion}};
}

Json evaluators(const Arguments& arguments) {
  return {{"evaluators", documents_of(arguments.client().evaluators())}};
}

Json health(const Arguments& arguments) {
  static constexpr const char* kNames[] = {"UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"};
  const auto status = static_cast<int>(arguments.client().health());
  std::this_thread::sleep_for(arguments.time("linger-s").value_or(vidscore::Duration::zero()));
  return {{"status", kNames[status]}};
}

/// All truth, then all detections, frame by frame, up to a number of frames.
void send(const FramesFile& file, vidscore::ScoreStream* stream, std::int64_t frames) {
  for (const Json& frame : file.truth) {
    if (frames-- <= 0) return;
    stream->send_truth(frame_of(frame));
  }
  for (const Json& frame : file.detections) {
    if (frames-- <= 0) return;
    stream->send(frame_of(frame));
  }
}

Json score(const Arguments& arguments) {
  const FramesFile file = read_frames(arguments.required("frames"));
  Json lives = Json::array();
  vidscore::ScoreOptions options;
  options.evaluators = file.evaluators;
  options.specification = file.specification;
  options.truth_geometry = file.truth_geometry;
  options.detection_geometry = file.detection_geometry;
  options.batching = arguments.batching();
  options.timeout = arguments.time("deadline-s");
  if (arguments.has("live-every-frames")) {
    options.live.emplace();
    options.live->every_frames = *arguments.whole("live-every-frames");
    // The final report comes after all of these, and `finish` after that.
    options.live->on_report = [&lives](const vidscore::LiveReport& live) {
      lives.push_back(document_of(live));
    };
  }
  vidscore::ScoreStream stream = arguments.client().score_stream(options);
  if (const auto frames = arguments.whole("cancel-after-frames")) {
    send(file, &stream, *frames);
    stream.cancel();
    return {{"cancelled", true}};
  }
  send(file, &stream, std::numeric_limits<std::int64_t>::max());
  const Json reports = documents_of(stream.finish());
  return {{"reports", reports}, {"live", lives}};
}

/// As fast as possible, or at a number of frames per second.
void send_paced(const Arguments& arguments, const Json& frames,
                vidscore::SubmissionStream* stream) {
  const std::optional<double> rate_hz = arguments.number("rate-hz");
  const auto start = std::chrono::steady_clock::now();
  double number = 0;
  for (const Json& frame : frames) {
    if (rate_hz) {
      const std::chrono::duration<double> due(number++ / *rate_hz);
      std::this_thread::sleep_until(start +
                                    std::chrono::duration_cast<std::chrono::nanoseconds>(due));
    }
    stream->send(frame_of(frame));
  }
}

/// The state of a submission at the end, with its scores.
Json ended(const Arguments& arguments, std::uint64_t frame_count,
           vidscore::SubmissionStream* stream) {
  vidscore::Submission submission;
  std::vector<vidscore::SubmissionScore> scores;
  if (arguments.has("no-seal")) {
    submission = arguments.client().submissions().get(stream->submission());
  } else {
    stream->seal(frame_count);
    submission = stream->wait(arguments.time("wait-s").value_or(std::chrono::seconds(60)));
    scores = stream->scores();
  }
  return {{"state", to_string(submission.state)},
          {"state_reason", submission.state_reason},
          {"frame_count", submission.frame_count},
          {"scores", documents_of(scores)}};
}

Json submit(const Arguments& arguments) {
  const FramesFile file = read_frames(arguments.required("frames"));
  std::mutex mutex;
  std::vector<std::uint64_t> acknowledged;
  const std::optional<std::int64_t> limit = arguments.whole("die-after-acknowledged");
  vidscore::SubmitOptions options;
  options.benchmark = arguments.required("benchmark");
  options.submission = arguments.required("submission");
  options.stream = arguments.text("stream", "default");
  options.title = arguments.text("title");
  options.replay = arguments.has("replay");
  options.batching = arguments.batching();
  options.delivery = arguments.delivery();
  options.delivery.on_acknowledged = [&](std::uint64_t frames) {
    const std::lock_guard<std::mutex> lock(mutex);
    acknowledged.push_back(frames);
    if (limit && frames >= static_cast<std::uint64_t>(*limit)) _exit(kKilled);
  };
  vidscore::SubmissionStream stream = arguments.client().submit(options);
  send_paced(arguments, file.detections, &stream);
  if (arguments.has("close")) {
    stream.close();
    return {{"undelivered_frames", stream.undelivered_frames()}};
  }
  stream.flush();
  Json document = ended(arguments, file.detections.size(), &stream);
  document["submission"] = stream.submission();
  document["opened_offset"] = stream.next_offset();
  document["acknowledged_frames"] = stream.acknowledged_frames();
  document["reconnections"] = stream.reconnections();
  const std::lock_guard<std::mutex> lock(mutex);
  document["acknowledged"] = acknowledged;
  return document;
}

Json watch(const Arguments& arguments) {
  Json updates = Json::array();
  const auto keep = [&](const vidscore::SubmissionUpdate& update) {
    updates.push_back({{"state", to_string(update.submission.state)},
                       {"frame_count", update.submission.frame_count},
                       {"revision", update.submission.revision}});
    return arguments.has("until-ended");
  };
  arguments.client().submissions().watch(arguments.required("submission"), keep);
  return {{"updates", updates}, {"state", updates.back()["state"]}};
}

Json get(const Arguments& arguments) {
  const auto found = arguments.client().submissions().get(arguments.required("submission"));
  return {{"submission", document_of(found)}};
}

Json cancel(const Arguments& arguments) {
  const auto found = arguments.client().submissions().cancel(arguments.required("submission"));
  return {{"submission", document_of(found)}};
}

Json leaderboard(const Arguments& arguments) {
  vidscore::LeaderboardQuery query;
  query.benchmark = arguments.required("benchmark");
  return {{"rows", documents_of(arguments.client().leaderboard(query).rows)}};
}

const std::map<std::string, Json (*)(const Arguments&)> kCommands = {
    {"version", version}, {"evaluators", evaluators}, {"health", health},
    {"score", score},     {"submit", submit},         {"watch", watch},
    {"get", get},         {"cancel", cancel},         {"leaderboard", leaderboard}};

}  // namespace

Json run(const Arguments& arguments) {
  const auto found = kCommands.find(arguments.command());
  if (found == kCommands.end()) throw Misuse(arguments.command());
  return found->second(arguments);
}
