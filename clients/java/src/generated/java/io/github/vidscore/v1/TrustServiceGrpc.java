package io.github.vidscore.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * TrustService runs the analyses of `vidscore trust`, each in a process of its own. They answer with
 * an operation: its metadata is TrustMetadata, its response TrustResponse; cancelling it ends it at
 * once, and a server that starts again begins it anew, with the same outcome. Organisers only: what
 * an analysis tells was computed with hidden truth, and no Ladder stands before it.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class TrustServiceGrpc {

  private TrustServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "vidscore.v1.TrustService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.ExamineRankingRequest,
      com.google.longrunning.Operation> getExamineRankingMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ExamineRanking",
      requestType = io.github.vidscore.v1.ExamineRankingRequest.class,
      responseType = com.google.longrunning.Operation.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.ExamineRankingRequest,
      com.google.longrunning.Operation> getExamineRankingMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.ExamineRankingRequest, com.google.longrunning.Operation> getExamineRankingMethod;
    if ((getExamineRankingMethod = TrustServiceGrpc.getExamineRankingMethod) == null) {
      synchronized (TrustServiceGrpc.class) {
        if ((getExamineRankingMethod = TrustServiceGrpc.getExamineRankingMethod) == null) {
          TrustServiceGrpc.getExamineRankingMethod = getExamineRankingMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.ExamineRankingRequest, com.google.longrunning.Operation>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ExamineRanking"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.ExamineRankingRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  com.google.longrunning.Operation.getDefaultInstance()))
              .setSchemaDescriptor(new TrustServiceMethodDescriptorSupplier("ExamineRanking"))
              .build();
        }
      }
    }
    return getExamineRankingMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.TestCriterionRequest,
      com.google.longrunning.Operation> getTestCriterionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "TestCriterion",
      requestType = io.github.vidscore.v1.TestCriterionRequest.class,
      responseType = com.google.longrunning.Operation.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.TestCriterionRequest,
      com.google.longrunning.Operation> getTestCriterionMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.TestCriterionRequest, com.google.longrunning.Operation> getTestCriterionMethod;
    if ((getTestCriterionMethod = TrustServiceGrpc.getTestCriterionMethod) == null) {
      synchronized (TrustServiceGrpc.class) {
        if ((getTestCriterionMethod = TrustServiceGrpc.getTestCriterionMethod) == null) {
          TrustServiceGrpc.getTestCriterionMethod = getTestCriterionMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.TestCriterionRequest, com.google.longrunning.Operation>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "TestCriterion"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.TestCriterionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  com.google.longrunning.Operation.getDefaultInstance()))
              .setSchemaDescriptor(new TrustServiceMethodDescriptorSupplier("TestCriterion"))
              .build();
        }
      }
    }
    return getTestCriterionMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static TrustServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<TrustServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<TrustServiceStub>() {
        @java.lang.Override
        public TrustServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new TrustServiceStub(channel, callOptions);
        }
      };
    return TrustServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static TrustServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<TrustServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<TrustServiceBlockingV2Stub>() {
        @java.lang.Override
        public TrustServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new TrustServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return TrustServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static TrustServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<TrustServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<TrustServiceBlockingStub>() {
        @java.lang.Override
        public TrustServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new TrustServiceBlockingStub(channel, callOptions);
        }
      };
    return TrustServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static TrustServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<TrustServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<TrustServiceFutureStub>() {
        @java.lang.Override
        public TrustServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new TrustServiceFutureStub(channel, callOptions);
        }
      };
    return TrustServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * TrustService runs the analyses of `vidscore trust`, each in a process of its own. They answer with
   * an operation: its metadata is TrustMetadata, its response TrustResponse; cancelling it ends it at
   * once, and a server that starts again begins it anew, with the same outcome. Organisers only: what
   * an analysis tells was computed with hidden truth, and no Ladder stands before it.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * ExamineRanking asks how far the order of a benchmark's submissions can be relied on: ranks over
     * the grids of parameters, other draws of sequences, other annotations, other evaluators. One
     * examination of a benchmark at a time.
     * buf:lint:ignore RPC_RESPONSE_STANDARD_NAME (long work answers with Google's own operation)
     * buf:lint:ignore RPC_REQUEST_RESPONSE_UNIQUE (and all long work does)
     * </pre>
     */
    default void examineRanking(io.github.vidscore.v1.ExamineRankingRequest request,
        io.grpc.stub.StreamObserver<com.google.longrunning.Operation> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getExamineRankingMethod(), responseObserver);
    }

    /**
     * <pre>
     * TestCriterion asks whether criteria put scenes whose true order is known into that order. It
     * touches no benchmark. One test at a time.
     * buf:lint:ignore RPC_RESPONSE_STANDARD_NAME (long work answers with Google's own operation)
     * buf:lint:ignore RPC_REQUEST_RESPONSE_UNIQUE (and all long work does)
     * </pre>
     */
    default void testCriterion(io.github.vidscore.v1.TestCriterionRequest request,
        io.grpc.stub.StreamObserver<com.google.longrunning.Operation> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getTestCriterionMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service TrustService.
   * <pre>
   * TrustService runs the analyses of `vidscore trust`, each in a process of its own. They answer with
   * an operation: its metadata is TrustMetadata, its response TrustResponse; cancelling it ends it at
   * once, and a server that starts again begins it anew, with the same outcome. Organisers only: what
   * an analysis tells was computed with hidden truth, and no Ladder stands before it.
   * </pre>
   */
  public static abstract class TrustServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return TrustServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service TrustService.
   * <pre>
   * TrustService runs the analyses of `vidscore trust`, each in a process of its own. They answer with
   * an operation: its metadata is TrustMetadata, its response TrustResponse; cancelling it ends it at
   * once, and a server that starts again begins it anew, with the same outcome. Organisers only: what
   * an analysis tells was computed with hidden truth, and no Ladder stands before it.
   * </pre>
   */
  public static final class TrustServiceStub
      extends io.grpc.stub.AbstractAsyncStub<TrustServiceStub> {
    private TrustServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected TrustServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new TrustServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * ExamineRanking asks how far the order of a benchmark's submissions can be relied on: ranks over
     * the grids of parameters, other draws of sequences, other annotations, other evaluators. One
     * examination of a benchmark at a time.
     * buf:lint:ignore RPC_RESPONSE_STANDARD_NAME (long work answers with Google's own operation)
     * buf:lint:ignore RPC_REQUEST_RESPONSE_UNIQUE (and all long work does)
     * </pre>
     */
    public void examineRanking(io.github.vidscore.v1.ExamineRankingRequest request,
        io.grpc.stub.StreamObserver<com.google.longrunning.Operation> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getExamineRankingMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * TestCriterion asks whether criteria put scenes whose true order is known into that order. It
     * touches no benchmark. One test at a time.
     * buf:lint:ignore RPC_RESPONSE_STANDARD_NAME (long work answers with Google's own operation)
     * buf:lint:ignore RPC_REQUEST_RESPONSE_UNIQUE (and all long work does)
     * </pre>
     */
    public void testCriterion(io.github.vidscore.v1.TestCriterionRequest request,
        io.grpc.stub.StreamObserver<com.google.longrunning.Operation> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getTestCriterionMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service TrustService.
   * <pre>
   * TrustService runs the analyses of `vidscore trust`, each in a process of its own. They answer with
   * an operation: its metadata is TrustMetadata, its response TrustResponse; cancelling it ends it at
   * once, and a server that starts again begins it anew, with the same outcome. Organisers only: what
   * an analysis tells was computed with hidden truth, and no Ladder stands before it.
   * </pre>
   */
  public static final class TrustServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<TrustServiceBlockingV2Stub> {
    private TrustServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected TrustServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new TrustServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * ExamineRanking asks how far the order of a benchmark's submissions can be relied on: ranks over
     * the grids of parameters, other draws of sequences, other annotations, other evaluators. One
     * examination of a benchmark at a time.
     * buf:lint:ignore RPC_RESPONSE_STANDARD_NAME (long work answers with Google's own operation)
     * buf:lint:ignore RPC_REQUEST_RESPONSE_UNIQUE (and all long work does)
     * </pre>
     */
    public com.google.longrunning.Operation examineRanking(io.github.vidscore.v1.ExamineRankingRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getExamineRankingMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * TestCriterion asks whether criteria put scenes whose true order is known into that order. It
     * touches no benchmark. One test at a time.
     * buf:lint:ignore RPC_RESPONSE_STANDARD_NAME (long work answers with Google's own operation)
     * buf:lint:ignore RPC_REQUEST_RESPONSE_UNIQUE (and all long work does)
     * </pre>
     */
    public com.google.longrunning.Operation testCriterion(io.github.vidscore.v1.TestCriterionRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getTestCriterionMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service TrustService.
   * <pre>
   * TrustService runs the analyses of `vidscore trust`, each in a process of its own. They answer with
   * an operation: its metadata is TrustMetadata, its response TrustResponse; cancelling it ends it at
   * once, and a server that starts again begins it anew, with the same outcome. Organisers only: what
   * an analysis tells was computed with hidden truth, and no Ladder stands before it.
   * </pre>
   */
  public static final class TrustServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<TrustServiceBlockingStub> {
    private TrustServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected TrustServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new TrustServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * ExamineRanking asks how far the order of a benchmark's submissions can be relied on: ranks over
     * the grids of parameters, other draws of sequences, other annotations, other evaluators. One
     * examination of a benchmark at a time.
     * buf:lint:ignore RPC_RESPONSE_STANDARD_NAME (long work answers with Google's own operation)
     * buf:lint:ignore RPC_REQUEST_RESPONSE_UNIQUE (and all long work does)
     * </pre>
     */
    public com.google.longrunning.Operation examineRanking(io.github.vidscore.v1.ExamineRankingRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getExamineRankingMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * TestCriterion asks whether criteria put scenes whose true order is known into that order. It
     * touches no benchmark. One test at a time.
     * buf:lint:ignore RPC_RESPONSE_STANDARD_NAME (long work answers with Google's own operation)
     * buf:lint:ignore RPC_REQUEST_RESPONSE_UNIQUE (and all long work does)
     * </pre>
     */
    public com.google.longrunning.Operation testCriterion(io.github.vidscore.v1.TestCriterionRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getTestCriterionMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service TrustService.
   * <pre>
   * TrustService runs the analyses of `vidscore trust`, each in a process of its own. They answer with
   * an operation: its metadata is TrustMetadata, its response TrustResponse; cancelling it ends it at
   * once, and a server that starts again begins it anew, with the same outcome. Organisers only: what
   * an analysis tells was computed with hidden truth, and no Ladder stands before it.
   * </pre>
   */
  public static final class TrustServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<TrustServiceFutureStub> {
    private TrustServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected TrustServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new TrustServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * ExamineRanking asks how far the order of a benchmark's submissions can be relied on: ranks over
     * the grids of parameters, other draws of sequences, other annotations, other evaluators. One
     * examination of a benchmark at a time.
     * buf:lint:ignore RPC_RESPONSE_STANDARD_NAME (long work answers with Google's own operation)
     * buf:lint:ignore RPC_REQUEST_RESPONSE_UNIQUE (and all long work does)
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<com.google.longrunning.Operation> examineRanking(
        io.github.vidscore.v1.ExamineRankingRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getExamineRankingMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * TestCriterion asks whether criteria put scenes whose true order is known into that order. It
     * touches no benchmark. One test at a time.
     * buf:lint:ignore RPC_RESPONSE_STANDARD_NAME (long work answers with Google's own operation)
     * buf:lint:ignore RPC_REQUEST_RESPONSE_UNIQUE (and all long work does)
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<com.google.longrunning.Operation> testCriterion(
        io.github.vidscore.v1.TestCriterionRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getTestCriterionMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_EXAMINE_RANKING = 0;
  private static final int METHODID_TEST_CRITERION = 1;

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
        case METHODID_EXAMINE_RANKING:
          serviceImpl.examineRanking((io.github.vidscore.v1.ExamineRankingRequest) request,
              (io.grpc.stub.StreamObserver<com.google.longrunning.Operation>) responseObserver);
          break;
        case METHODID_TEST_CRITERION:
          serviceImpl.testCriterion((io.github.vidscore.v1.TestCriterionRequest) request,
              (io.grpc.stub.StreamObserver<com.google.longrunning.Operation>) responseObserver);
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
        default:
          throw new AssertionError();
      }
    }
  }

  public static final io.grpc.ServerServiceDefinition bindService(AsyncService service) {
    return io.grpc.ServerServiceDefinition.builder(getServiceDescriptor())
        .addMethod(
          getExamineRankingMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.github.vidscore.v1.ExamineRankingRequest,
              com.google.longrunning.Operation>(
                service, METHODID_EXAMINE_RANKING)))
        .addMethod(
          getTestCriterionMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.github.vidscore.v1.TestCriterionRequest,
              com.google.longrunning.Operation>(
                service, METHODID_TEST_CRITERION)))
        .build();
  }

  private static abstract class TrustServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    TrustServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return io.github.vidscore.v1.TrustServiceProto.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("TrustService");
    }
  }

  private static final class TrustServiceFileDescriptorSupplier
      extends TrustServiceBaseDescriptorSupplier {
    TrustServiceFileDescriptorSupplier() {}
  }

  private static final class TrustServiceMethodDescriptorSupplier
      extends TrustServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    TrustServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (TrustServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new TrustServiceFileDescriptorSupplier())
              .addMethod(getExamineRankingMethod())
              .addMethod(getTestCriterionMethod())
              .build();
        }
      }
    }
    return result;
  }
}
