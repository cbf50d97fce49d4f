package io.github.vidscore.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * RankingService examines rankings without keeping anything.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class RankingServiceGrpc {

  private RankingServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "vidscore.v1.RankingService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.ExamineUploadRequest,
      io.github.vidscore.v1.ExamineUploadResponse> getExamineUploadMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ExamineUpload",
      requestType = io.github.vidscore.v1.ExamineUploadRequest.class,
      responseType = io.github.vidscore.v1.ExamineUploadResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.BIDI_STREAMING)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.ExamineUploadRequest,
      io.github.vidscore.v1.ExamineUploadResponse> getExamineUploadMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.ExamineUploadRequest, io.github.vidscore.v1.ExamineUploadResponse> getExamineUploadMethod;
    if ((getExamineUploadMethod = RankingServiceGrpc.getExamineUploadMethod) == null) {
      synchronized (RankingServiceGrpc.class) {
        if ((getExamineUploadMethod = RankingServiceGrpc.getExamineUploadMethod) == null) {
          RankingServiceGrpc.getExamineUploadMethod = getExamineUploadMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.ExamineUploadRequest, io.github.vidscore.v1.ExamineUploadResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.BIDI_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ExamineUpload"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.ExamineUploadRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.ExamineUploadResponse.getDefaultInstance()))
              .setSchemaDescriptor(new RankingServiceMethodDescriptorSupplier("ExamineUpload"))
              .build();
        }
      }
    }
    return getExamineUploadMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static RankingServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<RankingServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<RankingServiceStub>() {
        @java.lang.Override
        public RankingServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new RankingServiceStub(channel, callOptions);
        }
      };
    return RankingServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static RankingServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<RankingServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<RankingServiceBlockingV2Stub>() {
        @java.lang.Override
        public RankingServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new RankingServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return RankingServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static RankingServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<RankingServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<RankingServiceBlockingStub>() {
        @java.lang.Override
        public RankingServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new RankingServiceBlockingStub(channel, callOptions);
        }
      };
    return RankingServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static RankingServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<RankingServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<RankingServiceFutureStub>() {
        @java.lang.Override
        public RankingServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new RankingServiceFutureStub(channel, callOptions);
        }
      };
    return RankingServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * RankingService examines rankings without keeping anything.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * ExamineUpload asks how far the order of some systems can be relied on, as
     * TrustService.ExamineRanking asks of a hosted benchmark.
     * The first request is the configuration, then come the truth and the detections of each system
     * in any interleaving. When the client has closed its side, the analysis begins, in a process of
     * its own that ends with the call: the server tells how far it is, and at last the outcome. As
     * many uploads at once as `maximum_trust_analyses` says; further ones are refused.
     * </pre>
     */
    default io.grpc.stub.StreamObserver<io.github.vidscore.v1.ExamineUploadRequest> examineUpload(
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.ExamineUploadResponse> responseObserver) {
      return io.grpc.stub.ServerCalls.asyncUnimplementedStreamingCall(getExamineUploadMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service RankingService.
   * <pre>
   * RankingService examines rankings without keeping anything.
   * </pre>
   */
  public static abstract class RankingServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return RankingServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service RankingService.
   * <pre>
   * RankingService examines rankings without keeping anything.
   * </pre>
   */
  public static final class RankingServiceStub
      extends io.grpc.stub.AbstractAsyncStub<RankingServiceStub> {
    private RankingServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected RankingServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new RankingServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * ExamineUpload asks how far the order of some systems can be relied on, as
     * TrustService.ExamineRanking asks of a hosted benchmark.
     * The first request is the configuration, then come the truth and the detections of each system
     * in any interleaving. When the client has closed its side, the analysis begins, in a process of
     * its own that ends with the call: the server tells how far it is, and at last the outcome. As
     * many uploads at once as `maximum_trust_analyses` says; further ones are refused.
     * </pre>
     */
    public io.grpc.stub.StreamObserver<io.github.vidscore.v1.ExamineUploadRequest> examineUpload(
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.ExamineUploadResponse> responseObserver) {
      return io.grpc.stub.ClientCalls.asyncBidiStreamingCall(
          getChannel().newCall(getExamineUploadMethod(), getCallOptions()), responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service RankingService.
   * <pre>
   * RankingService examines rankings without keeping anything.
   * </pre>
   */
  public static final class RankingServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<RankingServiceBlockingV2Stub> {
    private RankingServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected RankingServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new RankingServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * ExamineUpload asks how far the order of some systems can be relied on, as
     * TrustService.ExamineRanking asks of a hosted benchmark.
     * The first request is the configuration, then come the truth and the detections of each system
     * in any interleaving. When the client has closed its side, the analysis begins, in a process of
     * its own that ends with the call: the server tells how far it is, and at last the outcome. As
     * many uploads at once as `maximum_trust_analyses` says; further ones are refused.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<io.github.vidscore.v1.ExamineUploadRequest, io.github.vidscore.v1.ExamineUploadResponse>
        examineUpload() {
      return io.grpc.stub.ClientCalls.blockingBidiStreamingCall(
          getChannel(), getExamineUploadMethod(), getCallOptions());
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service RankingService.
   * <pre>
   * RankingService examines rankings without keeping anything.
   * </pre>
   */
  public static final class RankingServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<RankingServiceBlockingStub> {
    private RankingServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected RankingServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new RankingServiceBlockingStub(channel, callOptions);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service RankingService.
   * <pre>
   * RankingService examines rankings without keeping anything.
   * </pre>
   */
  public static final class RankingServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<RankingServiceFutureStub> {
    private RankingServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected RankingServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new RankingServiceFutureStub(channel, callOptions);
    }
  }

  private static final int METHODID_EXAMINE_UPLOAD = 0;

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
        default:
          throw new AssertionError();
      }
    }

    @java.lang.Override
    @java.lang.SuppressWarnings("unchecked")
    public io.grpc.stub.StreamObserver<Req> invoke(
        io.grpc.stub.StreamObserver<Resp> responseObserver) {
      switch (methodId) {
        case METHODID_EXAMINE_UPLOAD:
          return (io.grpc.stub.StreamObserver<Req>) serviceImpl.examineUpload(
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.ExamineUploadResponse>) responseObserver);
        default:
          throw new AssertionError();
      }
    }
  }

  public static final io.grpc.ServerServiceDefinition bindService(AsyncService service) {
    return io.grpc.ServerServiceDefinition.builder(getServiceDescriptor())
        .addMethod(
          getExamineUploadMethod(),
          io.grpc.stub.ServerCalls.asyncBidiStreamingCall(
            new MethodHandlers<
              io.github.vidscore.v1.ExamineUploadRequest,
              io.github.vidscore.v1.ExamineUploadResponse>(
                service, METHODID_EXAMINE_UPLOAD)))
        .build();
  }

  private static abstract class RankingServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    RankingServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return io.github.vidscore.v1.RankingServiceProto.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("RankingService");
    }
  }

  private static final class RankingServiceFileDescriptorSupplier
      extends RankingServiceBaseDescriptorSupplier {
    RankingServiceFileDescriptorSupplier() {}
  }

  private static final class RankingServiceMethodDescriptorSupplier
      extends RankingServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    RankingServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (RankingServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new RankingServiceFileDescriptorSupplier())
              .addMethod(getExamineUploadMethod())
              .build();
        }
      }
    }
    return result;
  }
}
