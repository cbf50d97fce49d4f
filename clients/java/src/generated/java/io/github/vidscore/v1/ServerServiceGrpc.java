package io.github.vidscore.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * ServerService tells what a server is, and backs up what it keeps.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class ServerServiceGrpc {

  private ServerServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "vidscore.v1.ServerService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.GetServerRequest,
      io.github.vidscore.v1.GetServerResponse> getGetServerMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetServer",
      requestType = io.github.vidscore.v1.GetServerRequest.class,
      responseType = io.github.vidscore.v1.GetServerResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.GetServerRequest,
      io.github.vidscore.v1.GetServerResponse> getGetServerMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.GetServerRequest, io.github.vidscore.v1.GetServerResponse> getGetServerMethod;
    if ((getGetServerMethod = ServerServiceGrpc.getGetServerMethod) == null) {
      synchronized (ServerServiceGrpc.class) {
        if ((getGetServerMethod = ServerServiceGrpc.getGetServerMethod) == null) {
          ServerServiceGrpc.getGetServerMethod = getGetServerMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.GetServerRequest, io.github.vidscore.v1.GetServerResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetServer"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.GetServerRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.GetServerResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ServerServiceMethodDescriptorSupplier("GetServer"))
              .build();
        }
      }
    }
    return getGetServerMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.ExportBackupRequest,
      io.github.vidscore.v1.ExportBackupResponse> getExportBackupMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ExportBackup",
      requestType = io.github.vidscore.v1.ExportBackupRequest.class,
      responseType = io.github.vidscore.v1.ExportBackupResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.ExportBackupRequest,
      io.github.vidscore.v1.ExportBackupResponse> getExportBackupMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.ExportBackupRequest, io.github.vidscore.v1.ExportBackupResponse> getExportBackupMethod;
    if ((getExportBackupMethod = ServerServiceGrpc.getExportBackupMethod) == null) {
      synchronized (ServerServiceGrpc.class) {
        if ((getExportBackupMethod = ServerServiceGrpc.getExportBackupMethod) == null) {
          ServerServiceGrpc.getExportBackupMethod = getExportBackupMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.ExportBackupRequest, io.github.vidscore.v1.ExportBackupResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ExportBackup"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.ExportBackupRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.ExportBackupResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ServerServiceMethodDescriptorSupplier("ExportBackup"))
              .build();
        }
      }
    }
    return getExportBackupMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.ImportBackupRequest,
      io.github.vidscore.v1.ImportBackupResponse> getImportBackupMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ImportBackup",
      requestType = io.github.vidscore.v1.ImportBackupRequest.class,
      responseType = io.github.vidscore.v1.ImportBackupResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.CLIENT_STREAMING)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.ImportBackupRequest,
      io.github.vidscore.v1.ImportBackupResponse> getImportBackupMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.ImportBackupRequest, io.github.vidscore.v1.ImportBackupResponse> getImportBackupMethod;
    if ((getImportBackupMethod = ServerServiceGrpc.getImportBackupMethod) == null) {
      synchronized (ServerServiceGrpc.class) {
        if ((getImportBackupMethod = ServerServiceGrpc.getImportBackupMethod) == null) {
          ServerServiceGrpc.getImportBackupMethod = getImportBackupMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.ImportBackupRequest, io.github.vidscore.v1.ImportBackupResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.CLIENT_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ImportBackup"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.ImportBackupRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.ImportBackupResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ServerServiceMethodDescriptorSupplier("ImportBackup"))
              .build();
        }
      }
    }
    return getImportBackupMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static ServerServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<ServerServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<ServerServiceStub>() {
        @java.lang.Override
        public ServerServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new ServerServiceStub(channel, callOptions);
        }
      };
    return ServerServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static ServerServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<ServerServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<ServerServiceBlockingV2Stub>() {
        @java.lang.Override
        public ServerServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new ServerServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return ServerServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static ServerServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<ServerServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<ServerServiceBlockingStub>() {
        @java.lang.Override
        public ServerServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new ServerServiceBlockingStub(channel, callOptions);
        }
      };
    return ServerServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static ServerServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<ServerServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<ServerServiceFutureStub>() {
        @java.lang.Override
        public ServerServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new ServerServiceFutureStub(channel, callOptions);
        }
      };
    return ServerServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * ServerService tells what a server is, and backs up what it keeps.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * GetServer tells about the server. It answers clients of any version.
     * </pre>
     */
    default void getServer(io.github.vidscore.v1.GetServerRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.GetServerResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetServerMethod(), responseObserver);
    }

    /**
     * <pre>
     * ExportBackup sends a backup of a benchmark or of the whole site, as it is at one moment, while
     * everything else goes on. It holds the truth and the hashes of tokens. Organisers only.
     * </pre>
     */
    default void exportBackup(io.github.vidscore.v1.ExportBackupRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.ExportBackupResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getExportBackupMethod(), responseObserver);
    }

    /**
     * <pre>
     * ImportBackup adds a benchmark out of its backup: whole, or not at all. Organisers only.
     * </pre>
     */
    default io.grpc.stub.StreamObserver<io.github.vidscore.v1.ImportBackupRequest> importBackup(
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.ImportBackupResponse> responseObserver) {
      return io.grpc.stub.ServerCalls.asyncUnimplementedStreamingCall(getImportBackupMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service ServerService.
   * <pre>
   * ServerService tells what a server is, and backs up what it keeps.
   * </pre>
   */
  public static abstract class ServerServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return ServerServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service ServerService.
   * <pre>
   * ServerService tells what a server is, and backs up what it keeps.
   * </pre>
   */
  public static final class ServerServiceStub
      extends io.grpc.stub.AbstractAsyncStub<ServerServiceStub> {
    private ServerServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected ServerServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new ServerServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * GetServer tells about the server. It answers clients of any version.
     * </pre>
     */
    public void getServer(io.github.vidscore.v1.GetServerRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.GetServerResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetServerMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * ExportBackup sends a backup of a benchmark or of the whole site, as it is at one moment, while
     * everything else goes on. It holds the truth and the hashes of tokens. Organisers only.
     * </pre>
     */
    public void exportBackup(io.github.vidscore.v1.ExportBackupRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.ExportBackupResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncServerStreamingCall(
          getChannel().newCall(getExportBackupMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * ImportBackup adds a benchmark out of its backup: whole, or not at all. Organisers only.
     * </pre>
     */
    public io.grpc.stub.StreamObserver<io.github.vidscore.v1.ImportBackupRequest> importBackup(
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.ImportBackupResponse> responseObserver) {
      return io.grpc.stub.ClientCalls.asyncClientStreamingCall(
          getChannel().newCall(getImportBackupMethod(), getCallOptions()), responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service ServerService.
   * <pre>
   * ServerService tells what a server is, and backs up what it keeps.
   * </pre>
   */
  public static final class ServerServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<ServerServiceBlockingV2Stub> {
    private ServerServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected ServerServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new ServerServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * GetServer tells about the server. It answers clients of any version.
     * </pre>
     */
    public io.github.vidscore.v1.GetServerResponse getServer(io.github.vidscore.v1.GetServerRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetServerMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ExportBackup sends a backup of a benchmark or of the whole site, as it is at one moment, while
     * everything else goes on. It holds the truth and the hashes of tokens. Organisers only.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<?, io.github.vidscore.v1.ExportBackupResponse>
        exportBackup(io.github.vidscore.v1.ExportBackupRequest request) {
      return io.grpc.stub.ClientCalls.blockingV2ServerStreamingCall(
          getChannel(), getExportBackupMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ImportBackup adds a benchmark out of its backup: whole, or not at all. Organisers only.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<io.github.vidscore.v1.ImportBackupRequest, io.github.vidscore.v1.ImportBackupResponse>
        importBackup() {
      return io.grpc.stub.ClientCalls.blockingClientStreamingCall(
          getChannel(), getImportBackupMethod(), getCallOptions());
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service ServerService.
   * <pre>
   * ServerService tells what a server is, and backs up what it keeps.
   * </pre>
   */
  public static final class ServerServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<ServerServiceBlockingStub> {
    private ServerServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected ServerServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new ServerServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * GetServer tells about the server. It answers clients of any version.
     * </pre>
     */
    public io.github.vidscore.v1.GetServerResponse getServer(io.github.vidscore.v1.GetServerRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetServerMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ExportBackup sends a backup of a benchmark or of the whole site, as it is at one moment, while
     * everything else goes on. It holds the truth and the hashes of tokens. Organisers only.
     * </pre>
     */
    public java.util.Iterator<io.github.vidscore.v1.ExportBackupResponse> exportBackup(
        io.github.vidscore.v1.ExportBackupRequest request) {
      return io.grpc.stub.ClientCalls.blockingServerStreamingCall(
          getChannel(), getExportBackupMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service ServerService.
   * <pre>
   * ServerService tells what a server is, and backs up what it keeps.
   * </pre>
   */
  public static final class ServerServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<ServerServiceFutureStub> {
    private ServerServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected ServerServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new ServerServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * GetServer tells about the server. It answers clients of any version.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.github.vidscore.v1.GetServerResponse> getServer(
        io.github.vidscore.v1.GetServerRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetServerMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_GET_SERVER = 0;
  private static final int METHODID_EXPORT_BACKUP = 1;
  private static final int METHODID_IMPORT_BACKUP = 2;

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
        case METHODID_GET_SERVER:
          serviceImpl.getServer((io.github.vidscore.v1.GetServerRequest) request,
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.GetServerResponse>) responseObserver);
          break;
        case METHODID_EXPORT_BACKUP:
          serviceImpl.exportBackup((io.github.vidscore.v1.ExportBackupRequest) request,
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.ExportBackupResponse>) responseObserver);
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
        case METHODID_IMPORT_BACKUP:
          return (io.grpc.stub.StreamObserver<Req>) serviceImpl.importBackup(
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.ImportBackupResponse>) responseObserver);
        default:
          throw new AssertionError();
      }
    }
  }

  public static final io.grpc.ServerServiceDefinition bindService(AsyncService service) {
    return io.grpc.ServerServiceDefinition.builder(getServiceDescriptor())
        .addMethod(
          getGetServerMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.github.vidscore.v1.GetServerRequest,
              io.github.vidscore.v1.GetServerResponse>(
                service, METHODID_GET_SERVER)))
        .addMethod(
          getExportBackupMethod(),
          io.grpc.stub.ServerCalls.asyncServerStreamingCall(
            new MethodHandlers<
              io.github.vidscore.v1.ExportBackupRequest,
              io.github.vidscore.v1.ExportBackupResponse>(
                service, METHODID_EXPORT_BACKUP)))
        .addMethod(
          getImportBackupMethod(),
          io.grpc.stub.ServerCalls.asyncClientStreamingCall(
            new MethodHandlers<
              io.github.vidscore.v1.ImportBackupRequest,
              io.github.vidscore.v1.ImportBackupResponse>(
                service, METHODID_IMPORT_BACKUP)))
        .build();
  }

  private static abstract class ServerServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    ServerServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return io.github.vidscore.v1.ServerServiceProto.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("ServerService");
    }
  }

  private static final class ServerServiceFileDescriptorSupplier
      extends ServerServiceBaseDescriptorSupplier {
    ServerServiceFileDescriptorSupplier() {}
  }

  private static final class ServerServiceMethodDescriptorSupplier
      extends ServerServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    ServerServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (ServerServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new ServerServiceFileDescriptorSupplier())
              .addMethod(getGetServerMethod())
              .addMethod(getExportBackupMethod())
              .addMethod(getImportBackupMethod())
              .build();
        }
      }
    }
    return result;
  }
}
