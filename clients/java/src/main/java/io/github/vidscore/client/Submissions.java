package io.github.vidscore.client;

import io.github.vidscore.v1.CancelSubmissionRequest;
import io.github.vidscore.v1.CreateSubmissionRequest;
import io.github.vidscore.v1.ListScoresRequest;
import io.github.vidscore.v1.ListSubmissionsRequest;
import io.github.vidscore.v1.SealSubmissionRequest;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

/** Calls about submissions; {@link VidscoreClient} describes each of them. */
final class Submissions {
  private static final String NAME_TAKEN = "NAME_TAKEN";

  private final Calls calls;

  Submissions(Calls calls) {
    this.calls = calls;
  }

  Submission create(String benchmark, String name, String title) {
    var request =
        CreateSubmissionRequest.newBuilder()
            .setBenchmark(Names.benchmark(benchmark))
            .setSubmissionId(Checks.text("name", name))
            .setTitle(Checks.text("title", title))
            .setRequestId(UUID.randomUUID().toString())
            .build();
    return Decoding.submission(
        calls.submissions(stub -> stub.createSubmission(request)).getSubmission());
  }

  /** The submission that the options name, or a new one. */
  Submission findOrCreate(String benchmark, SubmitOptions options) {
    if (options.submission().isEmpty()) {
      return create(benchmark, "", options.title());
    }
    if (options.submission().contains("/")) {
      throw Failure.input(
          "submission", Checks.quoted(options.submission()), "a name like {submission}");
    }
    String name = benchmark + "/" + options.submission();
    try {
      Submission found = calls.getSubmission(name);
      // Nobody has seen the title of a draft, so an earlier one must not stay.
      boolean isDraft = found.state() == SubmissionState.OPEN;
      if (!isDraft || options.title().isEmpty() || options.title().equals(found.title())) {
        return found;
      }
    } catch (NotFoundException absent) {
      // It is created below.
    }
    return createOrFind(benchmark, options, name);
  }

  private Submission createOrFind(String benchmark, SubmitOptions options, String name) {
    try {
      return create(benchmark, options.submission(), options.title());
    } catch (ConflictException taken) {
      if (!taken.reason().equals(NAME_TAKEN)) {
        throw taken;
      }
      try {
        // Another process of the same submission may just have created it.
        return calls.getSubmission(name);
      } catch (NotFoundException foreign) {
        throw taken; // it belongs to another team
      }
    }
  }

  List<Submission> list(String benchmark) {
    String name = Names.benchmark(benchmark);
    return Calls.pages(
        token -> {
          var request =
              ListSubmissionsRequest.newBuilder().setBenchmark(name).setPageToken(token).build();
          var page = calls.submissions(stub -> stub.listSubmissions(request));
          return new Calls.Page<>(
              page.getSubmissionsList().stream().map(Decoding::submission).toList(),
              page.getNextPageToken());
        });
  }

  List<SubmissionScore> scores(String submission) {
    String name = Names.submission(submission);
    return Calls.pages(
        token -> {
          var request =
              ListScoresRequest.newBuilder().setSubmission(name).setPageToken(token).build();
          var page = calls.submissions(stub -> stub.listScores(request));
          return new Calls.Page<>(
              page.getScoresList().stream().map(Decoding::score).toList(), page.getNextPageToken());
        });
  }

  Submission seal(String submission, long expectedFrames, Retry retry) {
    SealSubmissionRequest.Builder request =
        SealSubmissionRequest.newBuilder().setName(Names.submission(submission));
    if (expectedFrames >= 0) {
      request.setExpectedFrameCount(expectedFrames);
    }
    return calls.retrying(
        retry,
        again ->
            Decoding.submission(
                again.submissions(stub -> stub.sealSubmission(request.build())).getSubmission()));
  }

  Submission cancel(String submission) {
    var request =
        CancelSubmissionRequest.newBuilder().setName(Names.submission(submission)).build();
    return Decoding.submission(
        calls.submissions(stub -> stub.cancelSubmission(request)).getSubmission());
  }

  Submission await(String submission, Duration limit, Retry retry) {
    Submission last = null;
    try (SubmissionWatch watch =
        new SubmissionWatch(calls, Names.submission(submission), limit, retry)) {
      while (watch.hasNext()) {
        last = watch.next().submission();
      }
    }
    return last;
  }
}
