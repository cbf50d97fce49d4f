package io.github.vidscore.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * ScoringService scores without keeping anything.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class ScoringServiceGrpc {

  private ScoringServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "vidscore.v1.ScoringService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.ScoreRequest,
      io.github.vidscore.v1.ScoreResponse> getScoreMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "Score",
      requestType = io.github.vidscore.v1.ScoreRequest.class,
      responseType = io.github.vidscore.v1.ScoreResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.BIDI_STREAMING)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.ScoreRequest,
      io.github.vidscore.v1.ScoreResponse> getScoreMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.ScoreRequest, io.github.vidscore.v1.ScoreResponse> getScoreMethod;
    if ((getScoreMethod = ScoringServiceGrpc.getScoreMethod) == null) {
      synchronized (ScoringServiceGrpc.class) {
        if ((getScoreMethod = ScoringServiceGrpc.getScoreMethod) == null) {
          ScoringServiceGrpc.getScoreMethod = getScoreMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.ScoreRequest, io.github.vidscore.v1.ScoreResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.BIDI_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "Score"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.ScoreRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.ScoreResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ScoringServiceMethodDescriptorSupplier("Score"))
              .build();
        }
      }
    }
    return getScoreMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.ScoreUploadRequest,
      io.github.vidscore.v1.ScoreUploadResponse> getScoreUploadMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ScoreUpload",
      requestType = io.github.vidscore.v1.ScoreUploadRequest.class,
      responseType = io.github.vidscore.v1.ScoreUploadResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.CLIENT_STREAMING)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.ScoreUploadRequest,
      io.github.vidscore.v1.ScoreUploadResponse> getScoreUploadMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.ScoreUploadRequest, io.github.vidscore.v1.ScoreUploadResponse> getScoreUploadMethod;
    if ((getScoreUploadMethod = ScoringServiceGrpc.getScoreUploadMethod) == null) {
      synchronized (ScoringServiceGrpc.class) {
        if ((getScoreUploadMethod = ScoringServiceGrpc.getScoreUploadMethod) == null) {
          ScoringServiceGrpc.getScoreUploadMethod = getScoreUploadMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.ScoreUploadRequest, io.github.vidscore.v1.ScoreUploadResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.CLIENT_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ScoreUpload"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.ScoreUploadRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.ScoreUploadResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ScoringServiceMethodDescriptorSupplier("ScoreUpload"))
              .build();
        }
      }
    }
    return getScoreUploadMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.ScoreBatchRequest,
      io.github.vidscore.v1.ScoreBatchResponse> getScoreBatchMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ScoreBatch",
      requestType = io.github.vidscore.v1.ScoreBatchRequest.class,
      responseType = io.github.vidscore.v1.ScoreBatchResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.ScoreBatchRequest,
      io.github.vidscore.v1.ScoreBatchResponse> getScoreBatchMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.ScoreBatchRequest, io.github.vidscore.v1.ScoreBatchResponse> getScoreBatchMethod;
    if ((getScoreBatchMethod = ScoringServiceGrpc.getScoreBatchMethod) == null) {
      synchronized (ScoringServiceGrpc.class) {
        if ((getScoreBatchMethod = ScoringServiceGrpc.getScoreBatchMethod) == null) {
          ScoringServiceGrpc.getScoreBatchMethod = getScoreBatchMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.ScoreBatchRequest, io.github.vidscore.v1.ScoreBatchResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ScoreBatch"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.ScoreBatchRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.ScoreBatchResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ScoringServiceMethodDescriptorSupplier("ScoreBatch"))
              .build();
        }
      }
    }
    return getScoreBatchMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static ScoringServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<ScoringServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<ScoringServiceStub>() {
        @java.lang.Override
        public ScoringServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new ScoringServiceStub(channel, callOptions);
        }
      };
    return ScoringServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static ScoringServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<ScoringServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<ScoringServiceBlockingV2Stub>() {
        @java.lang.Override
        public ScoringServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new ScoringServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return ScoringServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static ScoringServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<ScoringServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<ScoringServiceBlockingStub>() {
        @java.lang.Override
        public ScoringServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new ScoringServiceBlockingStub(channel, callOptions);
        }
      };
    return ScoringServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static ScoringServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<ScoringServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<ScoringServiceFutureStub>() {
        @java.lang.Override
        public ScoringServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new ScoringServiceFutureStub(channel, callOptions);
        }
      };
    return ScoringServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * ScoringService scores without keeping anything.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * Score scores a live stream.
     * The first request is the configuration, then come truth and detections in any interleaving.
     * The first response tells the limits, then come live reports at the chosen interval. When the
     * client has closed its side, the final report comes and the stream ends.
     * </pre>
     */
    default io.grpc.stub.StreamObserver<io.github.vidscore.v1.ScoreRequest> score(
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.ScoreResponse> responseObserver) {
      return io.grpc.stub.ServerCalls.asyncUnimplementedStreamingCall(getScoreMethod(), responseObserver);
    }

    /**
     * <pre>
     * ScoreUpload is Score for clients that can only stream one way: the requests are the same, the
     * response is the final report.
     * </pre>
     */
    default io.grpc.stub.StreamObserver<io.github.vidscore.v1.ScoreUploadRequest> scoreUpload(
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.ScoreUploadResponse> responseObserver) {
      return io.grpc.stub.ServerCalls.asyncUnimplementedStreamingCall(getScoreUploadMethod(), responseObserver);
    }

    /**
     * <pre>
     * ScoreBatch is Score for clients that cannot stream: everything in one message.
     * </pre>
     */
    default void scoreBatch(io.github.vidscore.v1.ScoreBatchRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.ScoreBatchResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getScoreBatchMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service ScoringService.
   * <pre>
   * ScoringService scores without keeping anything.
   * </pre>
   */
  public static abstract class ScoringServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return ScoringServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service ScoringService.
   * <pre>
   * ScoringService scores without keeping anything.
   * </pre>
   */
  public static final class ScoringServiceStub
      extends io.grpc.stub.AbstractAsyncStub<ScoringServiceStub> {
    private ScoringServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected ScoringServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new ScoringServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * Score scores a live stream.
     * The first request is the configuration, then come truth and detections in any interleaving.
     * The first response tells the limits, then come live reports at the chosen interval. When the
     * client has closed its side, the final report comes and the stream ends.
     * </pre>
     */
    public io.grpc.stub.StreamObserver<io.github.vidscore.v1.ScoreRequest> score(
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.ScoreResponse> responseObserver) {
      return io.grpc.stub.ClientCalls.asyncBidiStreamingCall(
          getChannel().newCall(getScoreMethod(), getCallOptions()), responseObserver);
    }

    /**
     * <pre>
     * ScoreUpload is Score for clients that can only stream one way: the requests are the same, the
     * response is the final report.
     * </pre>
     */
    public io.grpc.stub.StreamObserver<io.github.vidscore.v1.ScoreUploadRequest> scoreUpload(
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.ScoreUploadResponse> responseObserver) {
      return io.grpc.stub.ClientCalls.asyncClientStreamingCall(
          getChannel().newCall(getScoreUploadMethod(), getCallOptions()), responseObserver);
    }

    /**
     * <pre>
     * ScoreBatch is Score for clients that cannot stream: everything in one message.
     * </pre>
     */
    public void scoreBatch(io.github.vidscore.v1.ScoreBatchRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.ScoreBatchResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getScoreBatchMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service ScoringService.
   * <pre>
   * ScoringService scores without keeping anything.
   * </pre>
   */
  public static final class ScoringServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<ScoringServiceBlockingV2Stub> {
    private ScoringServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected ScoringServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new ScoringServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * Score scores a live stream.
     * The first request is the configuration, then come truth and detections in any interleaving.
     * The first response tells the limits, then come live reports at the chosen interval. When the
     * client has closed its side, the final report comes and the stream ends.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<io.github.vidscore.v1.ScoreRequest, io.github.vidscore.v1.ScoreResponse>
        score() {
      return io.grpc.stub.ClientCalls.blockingBidiStreamingCall(
          getChannel(), getScoreMethod(), getCallOptions());
    }

    /**
     * <pre>
     * ScoreUpload is Score for clients that can only stream one way: the requests are the same, the
     * response is the final report.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<io.github.vidscore.v1.ScoreUploadRequest, io.github.vidscore.v1.ScoreUploadResponse>
        scoreUpload() {
      return io.grpc.stub.ClientCalls.blockingClientStreamingCall(
          getChannel(), getScoreUploadMethod(), getCallOptions());
    }

    /**
     * <pre>
     * ScoreBatch is Score for clients that cannot stream: everything in one message.
     * </pre>
     */
    public io.github.vidscore.v1.ScoreBatchResponse scoreBatch(io.github.vidscore.v1.ScoreBatchRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getScoreBatchMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service ScoringService.
   * <pre>
   * ScoringService scores without keeping anything.
   * </pre>
   */
  public static final class ScoringServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<ScoringServiceBlockingStub> {
    private ScoringServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected ScoringServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new ScoringServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * ScoreBatch is Score for clients that cannot stream: everything in one message.
     * </pre>
     */
    public io.github.vidscore.v1.ScoreBatchResponse scoreBatch(io.github.vidscore.v1.ScoreBatchRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getScoreBatchMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service ScoringService.
   * <pre>
   * ScoringService scores without keeping anything.
   * </pre>
   */
  public static final class ScoringServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<ScoringServiceFutureStub> {
    private ScoringServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected ScoringServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new ScoringServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * ScoreBatch is Score for clients that cannot stream: everything in one message.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.github.vidscore.v1.ScoreBatchResponse> scoreBatch(
        io.github.vidscore.v1.ScoreBatchRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getScoreBatchMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_SCORE_BATCH = 0;
  private static final int METHODID_SCORE = 1;
  private static final int METHODID_SCORE_UPLOAD = 2;

  private static final class MethodHandlers<Req, Resp> implements
      io.grpc.stub.ServerCalls.UnaryMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.ServerStreamingMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.ClientStreamingMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.BidiStreamingMethod<Req, Resp> {
    private final AsyncService serviceImpl;
    private final int methodId;

    MethodHandlers(AsyncService serviceImpl, int methodId) {
      this.serviceImpl = serviceImpl;
      this.methodId = methodId;
    }

    @java.lang.Override
    @java.lang.SuppressWarnings("unchecked")
    public void invoke(Req request, io.grpc.stub.StreamObserver<Resp> responseObserver) {
      switch (methodId) {
        case METHODID_SCORE_BATCH:
          serviceImpl.scoreBatch((io.github.vidscore.v1.ScoreBatchRequest) request,
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.ScoreBatchResponse>) responseObserver);
          break;
        default:
          throw new AssertionError();
      }
    }

    @java.lang.Override
    @java.lang.SuppressWarnings("unchecked")
    public io.grpc.stub.StreamObserver<Req> invoke(
        io.grpc.stub.StreamObserver<Resp> responseObserver) {
      switch (methodId) {
        case METHODID_SCORE:
          return (io.grpc.stub.StreamObserver<Req>) serviceImpl.score(
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.ScoreResponse>) responseObserver);
        case METHODID_SCORE_UPLOAD:
          return (io.grpc.stub.StreamObserver<Req>) serviceImpl.scoreUpload(
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.ScoreUploadResponse>) responseObserver);
        default:
          throw new AssertionError();
      }
    }
  }

  public static final io.grpc.ServerServiceDefinition bindService(AsyncService service) {
    return io.grpc.ServerServiceDefinition.builder(getServiceDescriptor())
        .addMethod(
          getScoreMethod(),
          io.grpc.stub.ServerCalls.asyncBidiStreamingCall(
            new MethodHandlers<
              io.github.vidscore.v1.ScoreRequest,
              io.github.vidscore.v1.ScoreResponse>(
                service, METHODID_SCORE)))
        .addMethod(
          getScoreUploadMethod(),
          io.grpc.stub.ServerCalls.asyncClientStreamingCall(
            new MethodHandlers<
              io.github.vidscore.v1.ScoreUploadRequest,
              io.github.vidscore.v1.ScoreUploadResponse>(
                service, METHODID_SCORE_UPLOAD)))
        .addMethod(
          getScoreBatchMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.github.vidscore.v1.ScoreBatchRequest,
              io.github.vidscore.v1.ScoreBatchResponse>(
                service, METHODID_SCORE_BATCH)))
        .build();
  }

  private static abstract class ScoringServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    ScoringServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return io.github.vidscore.v1.ScoringServiceProto.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("ScoringService");
    }
  }

  private static final class ScoringServiceFileDescriptorSupplier
      extends ScoringServiceBaseDescriptorSupplier {
    ScoringServiceFileDescriptorSupplier() {}
  }

  private static final class ScoringServiceMethodDescriptorSupplier
      extends ScoringServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    ScoringServiceMethodDescriptorSupplier(java.lang.String methodName) {
      this.methodName = methodName;
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.MethodDescriptor getMethodDescriptor() {
      return getServiceDescriptor().findMethodByName(methodName);
    }
  }

  private static volatile io.grpc.ServiceDescriptor serviceDescriptor;

  public static io.grpc.ServiceDescriptor getServiceDescriptor() {
    io.grpc.ServiceDescriptor result = serviceDescriptor;
    if (result == null) {
      synchronized (ScoringServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new ScoringServiceFileDescriptorSupplier())
              .addMethod(getScoreMethod())
              .addMethod(getScoreUploadMethod())
              .addMethod(getScoreBatchMethod())
              .build();
        }
      }
    }
    return result;
  }
}
