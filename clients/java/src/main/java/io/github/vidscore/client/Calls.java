package io.github.vidscore.client;

import com.google.protobuf.Int32Value;
import com.google.protobuf.StringValue;
import io.github.vidscore.v1.AppendRequest;
import io.github.vidscore.v1.AppendResponse;
import io.github.vidscore.v1.BenchmarkServiceGrpc;
import io.github.vidscore.v1.BenchmarkServiceGrpc.BenchmarkServiceBlockingStub;
import io.github.vidscore.v1.EvaluatorServiceGrpc;
import io.github.vidscore.v1.EvaluatorServiceGrpc.EvaluatorServiceBlockingStub;
import io.github.vidscore.v1.GetSubmissionRequest;
import io.github.vidscore.v1.ScoringServiceGrpc;
import io.github.vidscore.v1.ServerServiceGrpc;
import io.github.vidscore.v1.ServerServiceGrpc.ServerServiceBlockingStub;
import io.github.vidscore.v1.SubmissionServiceGrpc;
import io.github.vidscore.v1.SubmissionServiceGrpc.SubmissionServiceBlockingStub;
import io.github.vidscore.v1.WatchSubmissionRequest;
import io.github.vidscore.v1.WatchSubmissionResponse;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.AbstractStub;
import io.grpc.stub.ClientCalls;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;

/** The calls of a server: unary ones with the client's timeout, with their errors as exceptions. */
final class Calls {
  /**
   * The messages of {@code grpc.health.v1} have one field each, a string and an enumeration, and so
   * the same bytes as the wrappers of these types: no generated code is needed for them.
   */
  private static final MethodDescriptor<StringValue, Int32Value> CHECK_HEALTH =
      MethodDescriptor.<StringValue, Int32Value>newBuilder()
          .setType(MethodDescriptor.MethodType.UNARY)
          .setFullMethodName("grpc.health.v1.Health/Check")
          .setRequestMarshaller(ProtoUtils.marshaller(StringValue.getDefaultInstance()))
          .setResponseMarshaller(ProtoUtils.marshaller(Int32Value.getDefaultInstance()))
          .build();

  private final ManagedChannel channel;
  private final Duration timeout;

  Calls(ManagedChannel channel, Duration timeout) {
    this.channel = channel;
    this.timeout = timeout;
  }

  /** A page of a list, and the token of the next one; empty on the last. */
  record Page<T>(List<T> entries, String nextToken) {}

  /** All entries of a list, page by page. */
  static <T> List<T> pages(Function<String, Page<T>> ask) {
    List<T> found = new ArrayList<>();
    String token = "";
    do {
      Page<T> page = ask.apply(token);
      found.addAll(page.entries());
      token = page.nextToken();
    } while (!token.isEmpty());
    return found;
  }

  <R> R servers(Function<ServerServiceBlockingStub, R> call) {
    return unary(ServerServiceGrpc.newBlockingStub(channel), call);
  }

  <R> R evaluators(Function<EvaluatorServiceBlockingStub, R> call) {
    return unary(EvaluatorServiceGrpc.newBlockingStub(channel), call);
  }

  <R> R benchmarks(Function<BenchmarkServiceBlockingStub, R> call) {
    return unary(BenchmarkServiceGrpc.newBlockingStub(channel), call);
  }

  <R> R submissions(Function<SubmissionServiceBlockingStub, R> call) {
    return unary(SubmissionServiceGrpc.newBlockingStub(channel), call);
  }

  Submission getSubmission(String name) {
    GetSubmissionRequest request =
        GetSubmissionRequest.newBuilder().setName(Names.submission(name)).build();
    return Decoding.submission(submissions(stub -> stub.getSubmission(request)).getSubmission());
  }

  int checkHealth(String service) {
    return unary(
            EvaluatorServiceGrpc.newBlockingStub(channel),
            stub ->
                ClientCalls.blockingUnaryCall(
                    stub.getChannel(),
                    CHECK_HEALTH,
                    stub.getCallOptions(),
                    StringValue.of(service)))
        .getValue();
  }

  ScoreStream score(ScoreOptions options, Consumer<ScoreStream> onClose) {
    refuseIfClosed();
    return new ScoreStream(options, ScoringServiceGrpc.newStub(channel), onClose);
  }

  void appendFrames(Exchange<AppendRequest, AppendResponse> exchange) {
    refuseIfClosed();
    SubmissionServiceGrpc.newStub(channel).appendFrames(exchange);
  }

  /** Follows a submission over one call. */
  void watch(
      WatchSubmissionRequest request,
      Duration limit,
      Exchange<WatchSubmissionRequest, WatchSubmissionResponse> exchange) {
    refuseIfClosed();
    SubmissionServiceGrpc.newStub(channel)
        .withDeadlineAfter(Monitor.saturatedNs(limit), TimeUnit.NANOSECONDS)
        .watchSubmission(request, exchange);
  }

  /** Lets the next call connect at once: grpc's own waits grow to minutes. */
  void resetBackoff() {
    channel.resetConnectBackoff();
  }

  /** Retries a call after breaks, until the retry limit. */
  <R> R retrying(Retry retry, Function<Calls, R> call) {
    Retrying tries = new Retrying(retry);
    while (true) {
      try {
        return call.apply(this);
      } catch (VidscoreException failure) {
        pause(tries.delayNs(failure, System.nanoTime()));
      }
    }
  }

  void pause(long delayNs) {
    refuseIfClosed();
    try {
      TimeUnit.NANOSECONDS.sleep(delayNs);
    } catch (InterruptedException interruption) {
      Thread.currentThread().interrupt();
      throw Failure.cancelled("the waiting thread was interrupted");
    }
    resetBackoff();
  }

  void refuseIfClosed() {
    if (channel.isShutdown()) {
      throw Failure.closed("the client is closed");
    }
  }

  private <S extends AbstractStub<S>, R> R unary(S stub, Function<S, R> call) {
    refuseIfClosed();
    try {
      return call.apply(stub.withDeadlineAfter(Monitor.saturatedNs(timeout), TimeUnit.NANOSECONDS));
    } catch (io.grpc.StatusRuntimeException thrown) {
      throw Statuses.exceptionOf(thrown);
    }
  }
}
