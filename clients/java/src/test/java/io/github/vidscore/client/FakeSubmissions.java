package io.github.vidscore.client;

import static io.github.vidscore.client.Support.refusal;

import com.google.protobuf.ByteString;
import io.github.vidscore.v1.AppendRequest;
import io.github.vidscore.v1.AppendResponse;
import io.github.vidscore.v1.BenchmarkServiceGrpc.BenchmarkServiceImplBase;
import io.github.vidscore.v1.CreateSubmissionRequest;
import io.github.vidscore.v1.CreateSubmissionResponse;
import io.github.vidscore.v1.GetBenchmarkRequest;
import io.github.vidscore.v1.GetBenchmarkResponse;
import io.github.vidscore.v1.GetSubmissionRequest;
import io.github.vidscore.v1.GetSubmissionResponse;
import io.github.vidscore.v1.OpenStreamRequest;
import io.github.vidscore.v1.OpenStreamResponse;
import io.github.vidscore.v1.SealSubmissionRequest;
import io.github.vidscore.v1.SealSubmissionResponse;
import io.github.vidscore.v1.SubmissionServiceGrpc.SubmissionServiceImplBase;
import io.github.vidscore.v1.WatchSubmissionRequest;
import io.github.vidscore.v1.WatchSubmissionResponse;
import io.grpc.Status.Code;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.zip.CRC32;

/** A server that accepts one submission by the offset protocol, and fails on demand. */
final class FakeSubmissions extends SubmissionServiceImplBase {
  static final String NAME = "benchmarks/streets/submissions/run";

  /** Faults of the next appends before they are stored; null for none. */
  final Queue<RuntimeException> before = new LinkedList<>();

  /** Faults after they are stored, before they are acknowledged. */
  final Queue<RuntimeException> after = new LinkedList<>();

  /** Faults of the next sealings. */
  final Queue<RuntimeException> sealings = new LinkedList<>();

  /** The updates of watchers; null breaks their call. */
  final Queue<WatchSubmissionResponse> watchScript = new LinkedList<>();

  final List<Integer> stored = new ArrayList<>();
  final List<Long> offsets = new ArrayList<>();

  /** Limits that are stated when a stream is opened. */
  final Map<String, Long> limits = new HashMap<>();

  final List<Long> revisions = new ArrayList<>();
  private final Map<Long, ByteString> contents = new HashMap<>();
  io.github.vidscore.v1.SubmissionState state =
      io.github.vidscore.v1.SubmissionState.SUBMISSION_STATE_UNSPECIFIED;
  RuntimeException creation;
  int creations;
  long epoch;

  /** Appends wait for it. */
  volatile CountDownLatch hold = new CountDownLatch(0);

  io.github.vidscore.v1.Geometry geometry = io.github.vidscore.v1.Geometry.GEOMETRY_BOX;

  /** The benchmark that the submission is for. */
  final BenchmarkServiceImplBase benchmark =
      new BenchmarkServiceImplBase() {
        @Override
        public void getBenchmark(
            GetBenchmarkRequest request, StreamObserver<GetBenchmarkResponse> answer) {
          GetBenchmarkResponse.Builder response = GetBenchmarkResponse.newBuilder();
          response
              .getBenchmarkBuilder()
              .setName("benchmarks/streets")
              .setDetectionGeometry(geometry);
          respond(answer, response::build);
        }
      };

  @Override
  public synchronized void createSubmission(
      CreateSubmissionRequest request, StreamObserver<CreateSubmissionResponse> answer) {
    creations++;
    respond(
        answer,
        () -> {
          throwIfNotNull(creation);
          state = io.github.vidscore.v1.SubmissionState.SUBMISSION_STATE_OPEN;
          return CreateSubmissionResponse.newBuilder().setSubmission(message()).build();
        });
  }

  @Override
  public synchronized void getSubmission(
      GetSubmissionRequest request, StreamObserver<GetSubmissionResponse> answer) {
    respond(
        answer,
        () -> {
          if (state.getNumber() == 0 || !request.getName().equals(NAME)) {
            throw refusal(Code.NOT_FOUND, "NOT_FOUND");
          }
          return GetSubmissionResponse.newBuilder().setSubmission(message()).build();
        });
  }

  @Override
  public synchronized void openStream(
      OpenStreamRequest request, StreamObserver<OpenStreamResponse> answer) {
    epoch++;
    respond(
        answer,
        () -> OpenStreamResponse.newBuilder().setStream(stream()).putAllLimits(limits).build());
  }

  @Override
  public StreamObserver<AppendRequest> appendFrames(
      StreamObserver<AppendResponse> answer) {
    return new StreamObserver<>() {
      private boolean over;

      @Override
      public void onNext(AppendRequest request) {
        if (over) {
          return;
        }
        try {
          long nextOffset = append(request);
          answer.onNext(AppendResponse.newBuilder().setNextOffset(nextOffset).build());
        } catch (RuntimeException failure) {
          over = true;
          answer.onError(failure);
        }
      }

      @Override
      public void onError(Throwable cancelled) {
        over = true;
      }

      @Override
      public void onCompleted() {
        answer.onCompleted();
      }
    };
  }

  @Override
  public void appendBatch(AppendRequest request, StreamObserver<AppendResponse> answer) {
    respond(
        answer,
        () -> AppendResponse.newBuilder().setNextOffset(append(request)).build());
  }

  @Override
  public synchronized void sealSubmission(
      SealSubmissionRequest request, StreamObserver<SealSubmissionResponse> answer) {
    respond(
        answer,
        () -> {
          throwIfNotNull(sealings.poll());
          if (request.hasExpectedFrameCount() && request.getExpectedFrameCount() != stored.size()) {
            throw refusal(Code.FAILED_PRECONDITION, "FRAME_COUNT_DIFFERS");
          }
          state = io.github.vidscore.v1.SubmissionState.SUBMISSION_STATE_SEALED;
          return SealSubmissionResponse.newBuilder().setSubmission(message()).build();
        });
  }

  @Override
  public synchronized void watchSubmission(
      WatchSubmissionRequest request, StreamObserver<WatchSubmissionResponse> answer) {
    revisions.add(request.getFromRevision());
    while (!watchScript.isEmpty()) {
      WatchSubmissionResponse next = watchScript.remove();
      if (next == null) {
        answer.onError(refusal(Code.UNAVAILABLE, ""));
        return;
      }
      answer.onNext(next);
    }
  }

  private long append(AppendRequest append) {
    try {
      hold.await(Support.LIMIT.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException stopped) {
      throw refusal(Code.UNAVAILABLE, "");
    }
    synchronized (this) {
      offsets.add(append.getOffset());
      throwIfNotNull(before.poll());
      store(append);
      throwIfNotNull(after.poll());
      return stored.size();
    }
  }

  private void store(AppendRequest append) {
    long end = append.getOffset() + append.getDetections().getFrameNumbersCount();
    ByteString content = append.getDetections().toByteString();
    CRC32 sum = new CRC32();
    sum.update(content.toByteArray());
    if (!append.hasDetectionsCrc32() || append.getDetectionsCrc32() != (int) sum.getValue()) {
      throw refusal(Code.INVALID_ARGUMENT, "CONTENT_DAMAGED");
    }
    if (!append.getStream().equals(NAME + "/streams/default")) {
      throw refusal(Code.NOT_FOUND, "NOT_FOUND");
    }
    if (append.getEpoch() != epoch) {
      throw refusal(Code.ABORTED, "EPOCH_STALE");
    }
    if (append.getOffset() > stored.size()) {
      throw refusal(Code.OUT_OF_RANGE, "OFFSET_GAP");
    }
    if (append.getOffset() < stored.size()) {
      if (end > stored.size()) {
        throw refusal(Code.OUT_OF_RANGE, "OFFSET_STRADDLES");
      }
      if (!content.equals(contents.get(append.getOffset()))) {
        throw refusal(Code.ALREADY_EXISTS, "CONTENT_DIFFERS");
      }
      return;
    }
    contents.put(append.getOffset(), content);
    append.getDetections().getFrameNumbersList().forEach(number -> stored.add(number.intValue()));
  }

  private io.github.vidscore.v1.Submission message() {
    io.github.vidscore.v1.Submission.Builder message =
        io.github.vidscore.v1.Submission.newBuilder()
            .setName(NAME)
            .setState(state)
            .setFrameCount(stored.size())
            .setRevision(7);
    return epoch == 0 ? message.build() : message.addStreams(stream()).build();
  }

  private io.github.vidscore.v1.StreamInfo stream() {
    return io.github.vidscore.v1.StreamInfo.newBuilder()
        .setStream("default")
        .setEpoch(epoch)
        .setNextOffset(stored.size())
        .build();
  }

  private static void throwIfNotNull(RuntimeException failure) {
    if (failure != null) {
      throw failure;
    }
  }

  private static <T> void respond(StreamObserver<T> answer, Supplier<T> response) {
    try {
      answer.onNext(response.get());
      answer.onCompleted();
    } catch (RuntimeException failure) {
      answer.onError(failure);
    }
  }
}
