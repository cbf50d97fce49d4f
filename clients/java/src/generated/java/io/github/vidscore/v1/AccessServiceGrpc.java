package io.github.vidscore.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * AccessService creates, lists and revokes tokens, and shows the audit record. Organisers only.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class AccessServiceGrpc {

  private AccessServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "vidscore.v1.AccessService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.CreateTokenRequest,
      io.github.vidscore.v1.CreateTokenResponse> getCreateTokenMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CreateToken",
      requestType = io.github.vidscore.v1.CreateTokenRequest.class,
      responseType = io.github.vidscore.v1.CreateTokenResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.CreateTokenRequest,
      io.github.vidscore.v1.CreateTokenResponse> getCreateTokenMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.CreateTokenRequest, io.github.vidscore.v1.CreateTokenResponse> getCreateTokenMethod;
    if ((getCreateTokenMethod = AccessServiceGrpc.getCreateTokenMethod) == null) {
      synchronized (AccessServiceGrpc.class) {
        if ((getCreateTokenMethod = AccessServiceGrpc.getCreateTokenMethod) == null) {
          AccessServiceGrpc.getCreateTokenMethod = getCreateTokenMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.CreateTokenRequest, io.github.vidscore.v1.CreateTokenResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CreateToken"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.CreateTokenRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.CreateTokenResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AccessServiceMethodDescriptorSupplier("CreateToken"))
              .build();
        }
      }
    }
    return getCreateTokenMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.ListTokensRequest,
      io.github.vidscore.v1.ListTokensResponse> getListTokensMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListTokens",
      requestType = io.github.vidscore.v1.ListTokensRequest.class,
      responseType = io.github.vidscore.v1.ListTokensResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.ListTokensRequest,
      io.github.vidscore.v1.ListTokensResponse> getListTokensMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.ListTokensRequest, io.github.vidscore.v1.ListTokensResponse> getListTokensMethod;
    if ((getListTokensMethod = AccessServiceGrpc.getListTokensMethod) == null) {
      synchronized (AccessServiceGrpc.class) {
        if ((getListTokensMethod = AccessServiceGrpc.getListTokensMethod) == null) {
          AccessServiceGrpc.getListTokensMethod = getListTokensMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.ListTokensRequest, io.github.vidscore.v1.ListTokensResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListTokens"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.ListTokensRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.ListTokensResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AccessServiceMethodDescriptorSupplier("ListTokens"))
              .build();
        }
      }
    }
    return getListTokensMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.RevokeTokenRequest,
      io.github.vidscore.v1.RevokeTokenResponse> getRevokeTokenMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "RevokeToken",
      requestType = io.github.vidscore.v1.RevokeTokenRequest.class,
      responseType = io.github.vidscore.v1.RevokeTokenResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.RevokeTokenRequest,
      io.github.vidscore.v1.RevokeTokenResponse> getRevokeTokenMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.RevokeTokenRequest, io.github.vidscore.v1.RevokeTokenResponse> getRevokeTokenMethod;
    if ((getRevokeTokenMethod = AccessServiceGrpc.getRevokeTokenMethod) == null) {
      synchronized (AccessServiceGrpc.class) {
        if ((getRevokeTokenMethod = AccessServiceGrpc.getRevokeTokenMethod) == null) {
          AccessServiceGrpc.getRevokeTokenMethod = getRevokeTokenMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.RevokeTokenRequest, io.github.vidscore.v1.RevokeTokenResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "RevokeToken"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.RevokeTokenRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.RevokeTokenResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AccessServiceMethodDescriptorSupplier("RevokeToken"))
              .build();
        }
      }
    }
    return getRevokeTokenMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.ListAuditRecordsRequest,
      io.github.vidscore.v1.ListAuditRecordsResponse> getListAuditRecordsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListAuditRecords",
      requestType = io.github.vidscore.v1.ListAuditRecordsRequest.class,
      responseType = io.github.vidscore.v1.ListAuditRecordsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.ListAuditRecordsRequest,
      io.github.vidscore.v1.ListAuditRecordsResponse> getListAuditRecordsMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.ListAuditRecordsRequest, io.github.vidscore.v1.ListAuditRecordsResponse> getListAuditRecordsMethod;
    if ((getListAuditRecordsMethod = AccessServiceGrpc.getListAuditRecordsMethod) == null) {
      synchronized (AccessServiceGrpc.class) {
        if ((getListAuditRecordsMethod = AccessServiceGrpc.getListAuditRecordsMethod) == null) {
          AccessServiceGrpc.getListAuditRecordsMethod = getListAuditRecordsMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.ListAuditRecordsRequest, io.github.vidscore.v1.ListAuditRecordsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListAuditRecords"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.ListAuditRecordsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.ListAuditRecordsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AccessServiceMethodDescriptorSupplier("ListAuditRecords"))
              .build();
        }
      }
    }
    return getListAuditRecordsMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static AccessServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<AccessServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<AccessServiceStub>() {
        @java.lang.Override
        public AccessServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new AccessServiceStub(channel, callOptions);
        }
      };
    return AccessServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static AccessServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<AccessServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<AccessServiceBlockingV2Stub>() {
        @java.lang.Override
        public AccessServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new AccessServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return AccessServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static AccessServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<AccessServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<AccessServiceBlockingStub>() {
        @java.lang.Override
        public AccessServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new AccessServiceBlockingStub(channel, callOptions);
        }
      };
    return AccessServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static AccessServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<AccessServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<AccessServiceFutureStub>() {
        @java.lang.Override
        public AccessServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new AccessServiceFutureStub(channel, callOptions);
        }
      };
    return AccessServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * AccessService creates, lists and revokes tokens, and shows the audit record. Organisers only.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * CreateToken creates a token. Its secret is in the answer and nowhere else.
     * </pre>
     */
    default void createToken(io.github.vidscore.v1.CreateTokenRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.CreateTokenResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCreateTokenMethod(), responseObserver);
    }

    /**
     * <pre>
     * ListTokens lists tokens without their secrets.
     * </pre>
     */
    default void listTokens(io.github.vidscore.v1.ListTokensRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.ListTokensResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListTokensMethod(), responseObserver);
    }

    /**
     * <pre>
     * RevokeToken ends a token at once.
     * </pre>
     */
    default void revokeToken(io.github.vidscore.v1.RevokeTokenRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.RevokeTokenResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getRevokeTokenMethod(), responseObserver);
    }

    /**
     * <pre>
     * ListAuditRecords lists who did what, newest first.
     * </pre>
     */
    default void listAuditRecords(io.github.vidscore.v1.ListAuditRecordsRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.ListAuditRecordsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListAuditRecordsMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service AccessService.
   * <pre>
   * AccessService creates, lists and revokes tokens, and shows the audit record. Organisers only.
   * </pre>
   */
  public static abstract class AccessServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return AccessServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service AccessService.
   * <pre>
   * AccessService creates, lists and revokes tokens, and shows the audit record. Organisers only.
   * </pre>
   */
  public static final class AccessServiceStub
      extends io.grpc.stub.AbstractAsyncStub<AccessServiceStub> {
    private AccessServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected AccessServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new AccessServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * CreateToken creates a token. Its secret is in the answer and nowhere else.
     * </pre>
     */
    public void createToken(io.github.vidscore.v1.CreateTokenRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.CreateTokenResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCreateTokenMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * ListTokens lists tokens without their secrets.
     * </pre>
     */
    public void listTokens(io.github.vidscore.v1.ListTokensRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.ListTokensResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListTokensMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * RevokeToken ends a token at once.
     * </pre>
     */
    public void revokeToken(io.github.vidscore.v1.RevokeTokenRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.RevokeTokenResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getRevokeTokenMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * ListAuditRecords lists who did what, newest first.
     * </pre>
     */
    public void listAuditRecords(io.github.vidscore.v1.ListAuditRecordsRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.ListAuditRecordsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListAuditRecordsMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service AccessService.
   * <pre>
   * AccessService creates, lists and revokes tokens, and shows the audit record. Organisers only.
   * </pre>
   */
  public static final class AccessServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<AccessServiceBlockingV2Stub> {
    private AccessServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected AccessServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new AccessServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * CreateToken creates a token. Its secret is in the answer and nowhere else.
     * </pre>
     */
    public io.github.vidscore.v1.CreateTokenResponse createToken(io.github.vidscore.v1.CreateTokenRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCreateTokenMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListTokens lists tokens without their secrets.
     * </pre>
     */
    public io.github.vidscore.v1.ListTokensResponse listTokens(io.github.vidscore.v1.ListTokensRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListTokensMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * RevokeToken ends a token at once.
     * </pre>
     */
    public io.github.vidscore.v1.RevokeTokenResponse revokeToken(io.github.vidscore.v1.RevokeTokenRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getRevokeTokenMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListAuditRecords lists who did what, newest first.
     * </pre>
     */
    public io.github.vidscore.v1.ListAuditRecordsResponse listAuditRecords(io.github.vidscore.v1.ListAuditRecordsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListAuditRecordsMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service AccessService.
   * <pre>
   * AccessService creates, lists and revokes tokens, and shows the audit record. Organisers only.
   * </pre>
   */
  public static final class AccessServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<AccessServiceBlockingStub> {
    private AccessServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected AccessServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new AccessServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * CreateToken creates a token. Its secret is in the answer and nowhere else.
     * </pre>
     */
    public io.github.vidscore.v1.CreateTokenResponse createToken(io.github.vidscore.v1.CreateTokenRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCreateTokenMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListTokens lists tokens without their secrets.
     * </pre>
     */
    public io.github.vidscore.v1.ListTokensResponse listTokens(io.github.vidscore.v1.ListTokensRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListTokensMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * RevokeToken ends a token at once.
     * </pre>
     */
    public io.github.vidscore.v1.RevokeTokenResponse revokeToken(io.github.vidscore.v1.RevokeTokenRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getRevokeTokenMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListAuditRecords lists who did what, newest first.
     * </pre>
     */
    public io.github.vidscore.v1.ListAuditRecordsResponse listAuditRecords(io.github.vidscore.v1.ListAuditRecordsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListAuditRecordsMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service AccessService.
   * <pre>
   * AccessService creates, lists and revokes tokens, and shows the audit record. Organisers only.
   * </pre>
   */
  public static final class AccessServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<AccessServiceFutureStub> {
    private AccessServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected AccessServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new AccessServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * CreateToken creates a token. Its secret is in the answer and nowhere else.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.github.vidscore.v1.CreateTokenResponse> createToken(
        io.github.vidscore.v1.CreateTokenRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCreateTokenMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * ListTokens lists tokens without their secrets.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.github.vidscore.v1.ListTokensResponse> listTokens(
        io.github.vidscore.v1.ListTokensRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListTokensMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * RevokeToken ends a token at once.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.github.vidscore.v1.RevokeTokenResponse> revokeToken(
        io.github.vidscore.v1.RevokeTokenRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getRevokeTokenMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * ListAuditRecords lists who did what, newest first.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.github.vidscore.v1.ListAuditRecordsResponse> listAuditRecords(
        io.github.vidscore.v1.ListAuditRecordsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListAuditRecordsMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_CREATE_TOKEN = 0;
  private static final int METHODID_LIST_TOKENS = 1;
  private static final int METHODID_REVOKE_TOKEN = 2;
  private static final int METHODID_LIST_AUDIT_RECORDS = 3;

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
        case METHODID_CREATE_TOKEN:
          serviceImpl.createToken((io.github.vidscore.v1.CreateTokenRequest) request,
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.CreateTokenResponse>) responseObserver);
          break;
        case METHODID_LIST_TOKENS:
          serviceImpl.listTokens((io.github.vidscore.v1.ListTokensRequest) request,
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.ListTokensResponse>) responseObserver);
          break;
        case METHODID_REVOKE_TOKEN:
          serviceImpl.revokeToken((io.github.vidscore.v1.RevokeTokenRequest) request,
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.RevokeTokenResponse>) responseObserver);
          break;
        case METHODID_LIST_AUDIT_RECORDS:
          serviceImpl.listAuditRecords((io.github.vidscore.v1.ListAuditRecordsRequest) request,
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.ListAuditRecordsResponse>) responseObserver);
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
          getCreateTokenMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.github.vidscore.v1.CreateTokenRequest,
              io.github.vidscore.v1.CreateTokenResponse>(
                service, METHODID_CREATE_TOKEN)))
        .addMethod(
          getListTokensMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.github.vidscore.v1.ListTokensRequest,
              io.github.vidscore.v1.ListTokensResponse>(
                service, METHODID_LIST_TOKENS)))
        .addMethod(
          getRevokeTokenMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.github.vidscore.v1.RevokeTokenRequest,
              io.github.vidscore.v1.RevokeTokenResponse>(
                service, METHODID_REVOKE_TOKEN)))
        .addMethod(
          getListAuditRecordsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.github.vidscore.v1.ListAuditRecordsRequest,
              io.github.vidscore.v1.ListAuditRecordsResponse>(
                service, METHODID_LIST_AUDIT_RECORDS)))
        .build();
  }

  private static abstract class AccessServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    AccessServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return io.github.vidscore.v1.AccessServiceProto.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("AccessService");
    }
  }

  private static final class AccessServiceFileDescriptorSupplier
      extends AccessServiceBaseDescriptorSupplier {
    AccessServiceFileDescriptorSupplier() {}
  }

  private static final class AccessServiceMethodDescriptorSupplier
      extends AccessServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    AccessServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (AccessServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new AccessServiceFileDescriptorSupplier())
              .addMethod(getCreateTokenMethod())
              .addMethod(getListTokensMethod())
              .addMethod(getRevokeTokenMethod())
              .addMethod(getListAuditRecordsMethod())
              .build();
        }
      }
    }
    return result;
  }
}
