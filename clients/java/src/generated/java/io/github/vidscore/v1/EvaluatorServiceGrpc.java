package io.github.vidscore.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * EvaluatorService tells which evaluators there are.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class EvaluatorServiceGrpc {

  private EvaluatorServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "vidscore.v1.EvaluatorService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.ListEvaluatorsRequest,
      io.github.vidscore.v1.ListEvaluatorsResponse> getListEvaluatorsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListEvaluators",
      requestType = io.github.vidscore.v1.ListEvaluatorsRequest.class,
      responseType = io.github.vidscore.v1.ListEvaluatorsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.ListEvaluatorsRequest,
      io.github.vidscore.v1.ListEvaluatorsResponse> getListEvaluatorsMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.ListEvaluatorsRequest, io.github.vidscore.v1.ListEvaluatorsResponse> getListEvaluatorsMethod;
    if ((getListEvaluatorsMethod = EvaluatorServiceGrpc.getListEvaluatorsMethod) == null) {
      synchronized (EvaluatorServiceGrpc.class) {
        if ((getListEvaluatorsMethod = EvaluatorServiceGrpc.getListEvaluatorsMethod) == null) {
          EvaluatorServiceGrpc.getListEvaluatorsMethod = getListEvaluatorsMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.ListEvaluatorsRequest, io.github.vidscore.v1.ListEvaluatorsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListEvaluators"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.ListEvaluatorsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.ListEvaluatorsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new EvaluatorServiceMethodDescriptorSupplier("ListEvaluators"))
              .build();
        }
      }
    }
    return getListEvaluatorsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.GetEvaluatorRequest,
      io.github.vidscore.v1.GetEvaluatorResponse> getGetEvaluatorMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetEvaluator",
      requestType = io.github.vidscore.v1.GetEvaluatorRequest.class,
      responseType = io.github.vidscore.v1.GetEvaluatorResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.GetEvaluatorRequest,
      io.github.vidscore.v1.GetEvaluatorResponse> getGetEvaluatorMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.GetEvaluatorRequest, io.github.vidscore.v1.GetEvaluatorResponse> getGetEvaluatorMethod;
    if ((getGetEvaluatorMethod = EvaluatorServiceGrpc.getGetEvaluatorMethod) == null) {
      synchronized (EvaluatorServiceGrpc.class) {
        if ((getGetEvaluatorMethod = EvaluatorServiceGrpc.getGetEvaluatorMethod) == null) {
          EvaluatorServiceGrpc.getGetEvaluatorMethod = getGetEvaluatorMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.GetEvaluatorRequest, io.github.vidscore.v1.GetEvaluatorResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetEvaluator"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.GetEvaluatorRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.GetEvaluatorResponse.getDefaultInstance()))
              .setSchemaDescriptor(new EvaluatorServiceMethodDescriptorSupplier("GetEvaluator"))
              .build();
        }
      }
    }
    return getGetEvaluatorMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static EvaluatorServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<EvaluatorServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<EvaluatorServiceStub>() {
        @java.lang.Override
        public EvaluatorServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new EvaluatorServiceStub(channel, callOptions);
        }
      };
    return EvaluatorServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static EvaluatorServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<EvaluatorServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<EvaluatorServiceBlockingV2Stub>() {
        @java.lang.Override
        public EvaluatorServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new EvaluatorServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return EvaluatorServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static EvaluatorServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<EvaluatorServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<EvaluatorServiceBlockingStub>() {
        @java.lang.Override
        public EvaluatorServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new EvaluatorServiceBlockingStub(channel, callOptions);
        }
      };
    return EvaluatorServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static EvaluatorServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<EvaluatorServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<EvaluatorServiceFutureStub>() {
        @java.lang.Override
        public EvaluatorServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new EvaluatorServiceFutureStub(channel, callOptions);
        }
      };
    return EvaluatorServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * EvaluatorService tells which evaluators there are.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * ListEvaluators lists every evaluator, built-in ones first.
     * </pre>
     */
    default void listEvaluators(io.github.vidscore.v1.ListEvaluatorsRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.ListEvaluatorsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListEvaluatorsMethod(), responseObserver);
    }

    /**
     * <pre>
     * GetEvaluator describes one. NOT_FOUND where there is none of that name.
     * </pre>
     */
    default void getEvaluator(io.github.vidscore.v1.GetEvaluatorRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.GetEvaluatorResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetEvaluatorMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service EvaluatorService.
   * <pre>
   * EvaluatorService tells which evaluators there are.
   * </pre>
   */
  public static abstract class EvaluatorServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return EvaluatorServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service EvaluatorService.
   * <pre>
   * EvaluatorService tells which evaluators there are.
   * </pre>
   */
  public static final class EvaluatorServiceStub
      extends io.grpc.stub.AbstractAsyncStub<EvaluatorServiceStub> {
    private EvaluatorServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected EvaluatorServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new EvaluatorServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * ListEvaluators lists every evaluator, built-in ones first.
     * </pre>
     */
    public void listEvaluators(io.github.vidscore.v1.ListEvaluatorsRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.ListEvaluatorsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListEvaluatorsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * GetEvaluator describes one. NOT_FOUND where there is none of that name.
     * </pre>
     */
    public void getEvaluator(io.github.vidscore.v1.GetEvaluatorRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.GetEvaluatorResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetEvaluatorMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service EvaluatorService.
   * <pre>
   * EvaluatorService tells which evaluators there are.
   * </pre>
   */
  public static final class EvaluatorServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<EvaluatorServiceBlockingV2Stub> {
    private EvaluatorServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected EvaluatorServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new EvaluatorServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * ListEvaluators lists every evaluator, built-in ones first.
     * </pre>
     */
    public io.github.vidscore.v1.ListEvaluatorsResponse listEvaluators(io.github.vidscore.v1.ListEvaluatorsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListEvaluatorsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * GetEvaluator describes one. NOT_FOUND where there is none of that name.
     * </pre>
     */
    public io.github.vidscore.v1.GetEvaluatorResponse getEvaluator(io.github.vidscore.v1.GetEvaluatorRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetEvaluatorMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service EvaluatorService.
   * <pre>
   * EvaluatorService tells which evaluators there are.
   * </pre>
   */
  public static final class EvaluatorServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<EvaluatorServiceBlockingStub> {
    private EvaluatorServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected EvaluatorServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new EvaluatorServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * ListEvaluators lists every evaluator, built-in ones first.
     * </pre>
     */
    public io.github.vidscore.v1.ListEvaluatorsResponse listEvaluators(io.github.vidscore.v1.ListEvaluatorsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListEvaluatorsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * GetEvaluator describes one. NOT_FOUND where there is none of that name.
     * </pre>
     */
    public io.github.vidscore.v1.GetEvaluatorResponse getEvaluator(io.github.vidscore.v1.GetEvaluatorRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetEvaluatorMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service EvaluatorService.
   * <pre>
   * EvaluatorService tells which evaluators there are.
   * </pre>
   */
  public static final class EvaluatorServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<EvaluatorServiceFutureStub> {
    private EvaluatorServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected EvaluatorServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new EvaluatorServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * ListEvaluators lists every evaluator, built-in ones first.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.github.vidscore.v1.ListEvaluatorsResponse> listEvaluators(
        io.github.vidscore.v1.ListEvaluatorsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListEvaluatorsMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * GetEvaluator describes one. NOT_FOUND where there is none of that name.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.github.vidscore.v1.GetEvaluatorResponse> getEvaluator(
        io.github.vidscore.v1.GetEvaluatorRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetEvaluatorMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_LIST_EVALUATORS = 0;
  private static final int METHODID_GET_EVALUATOR = 1;

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
        case METHODID_LIST_EVALUATORS:
          serviceImpl.listEvaluators((io.github.vidscore.v1.ListEvaluatorsRequest) request,
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.ListEvaluatorsResponse>) responseObserver);
          break;
        case METHODID_GET_EVALUATOR:
          serviceImpl.getEvaluator((io.github.vidscore.v1.GetEvaluatorRequest) request,
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.GetEvaluatorResponse>) responseObserver);
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
          getListEvaluatorsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.github.vidscore.v1.ListEvaluatorsRequest,
              io.github.vidscore.v1.ListEvaluatorsResponse>(
                service, METHODID_LIST_EVALUATORS)))
        .addMethod(
          getGetEvaluatorMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.github.vidscore.v1.GetEvaluatorRequest,
              io.github.vidscore.v1.GetEvaluatorResponse>(
                service, METHODID_GET_EVALUATOR)))
        .build();
  }

  private static abstract class EvaluatorServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    EvaluatorServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return io.github.vidscore.v1.EvaluatorServiceProto.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("EvaluatorService");
    }
  }

  private static final class EvaluatorServiceFileDescriptorSupplier
      extends EvaluatorServiceBaseDescriptorSupplier {
    EvaluatorServiceFileDescriptorSupplier() {}
  }

  private static final class EvaluatorServiceMethodDescriptorSupplier
      extends EvaluatorServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    EvaluatorServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (EvaluatorServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new EvaluatorServiceFileDescriptorSupplier())
              .addMethod(getListEvaluatorsMethod())
              .addMethod(getGetEvaluatorMethod())
              .build();
        }
      }
    }
    return result;
  }
}
