package io.github.vidscore.client;

import com.google.protobuf.Any;
import com.google.rpc.ErrorInfo;
import io.grpc.BindableService;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerInterceptor;
import io.grpc.StatusRuntimeException;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.protobuf.StatusProto;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

/** Helpers of the tests. */
final class Support {
  /** Upper bound of each wait of a test; no test expects to wait that long. */
  static final Duration LIMIT = Duration.ofMinutes(1);

  /** Retries soon after a break. */
  static final Retry QUICK =
      Retry.DEFAULT.withInitial(Duration.ofMillis(1)).withMaximum(Duration.ofMillis(20));

  private Support() {}

  /** A server in this process that can be stopped and started again. */
  static final class Site implements AutoCloseable {
    final String name = UUID.randomUUID().toString();
    private final List<BindableService> services;
    private final ServerInterceptor interceptor;
    private Server server;

    Site(ServerInterceptor interceptor, BindableService... services) {
      this.services = List.of(services);
      this.interceptor = interceptor;
      start();
    }

    Site(BindableService... services) {
      this(passing(), services);
    }

    void start() {
      InProcessServerBuilder builder = InProcessServerBuilder.forName(name).intercept(interceptor);
      services.forEach(builder::addService);
      try {
        server = builder.build().start();
      } catch (IOException problem) {
        throw new UncheckedIOException(problem);
      }
    }

    /** Ends the server at once, and with it every call. */
    void stop() {
      server.shutdownNow();
      try {
        server.awaitTermination(LIMIT.toSeconds(), TimeUnit.SECONDS);
      } catch (InterruptedException interruption) {
        throw new AssertionError(interruption);
      }
    }

    ClientBuilder client() {
      return VidscoreClient.builder("localhost:1")
          .channels(credentials -> InProcessChannelBuilder.forName(name))
          .retry(QUICK);
    }

    @Override
    public void close() {
      stop();
    }

    private static ServerInterceptor passing() {
      return new ServerInterceptor() {
        @Override
        public <Q, R> io.grpc.ServerCall.Listener<Q> interceptCall(
            io.grpc.ServerCall<Q, R> call, Metadata headers, io.grpc.ServerCallHandler<Q, R> next) {
          return next.startCall(call, headers);
        }
      };
    }
  }

  /** The error of a server, with its reason and metadata. */
  static StatusRuntimeException refusal(
      io.grpc.Status.Code code, String reason, Map<String, String> metadata) {
    ErrorInfo information =
        ErrorInfo.newBuilder()
            .setDomain("vidscore")
            .setReason(reason)
            .putAllMetadata(metadata)
            .build();
    return StatusProto.toStatusRuntimeException(
        com.google.rpc.Status.newBuilder()
            .setCode(code.value())
            .setMessage("refused")
            .addDetails(Any.pack(information))
            .build());
  }

  static StatusRuntimeException refusal(io.grpc.Status.Code code, String reason) {
    return refusal(code, reason, Map.of());
  }

  /** A frame of sequence "a" with one box. */
  static Frame box(int number) {
    return Frame.of("a", number).coordinates(1, 2, 3, 4).build();
  }

  static List<Frame> boxes(int first, int end) {
    return IntStream.range(first, end).mapToObj(Support::box).toList();
  }

  static List<Integer> numbers(int end) {
    return IntStream.range(0, end).boxed().toList();
  }

  static List<Integer> numbersOf(List<Frame> frames) {
    return frames.stream().map(frame -> (int) frame.number).toList();
  }

  /** Waits for a condition that another thread fulfils. */
  static void until(String what, BooleanSupplier condition) {
    long limitNs = System.nanoTime() + LIMIT.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - limitNs > 0) {
        throw new AssertionError(what + " did not come about");
      }
      Thread.onSpinWait();
    }
  }

  /** Whether a thread of a stream is alive. */
  static boolean streamsRun() {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().startsWith("vidscore-"));
  }
}
