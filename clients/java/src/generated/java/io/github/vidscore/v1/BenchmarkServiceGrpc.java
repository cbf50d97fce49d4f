package io.github.vidscore.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * BenchmarkService creates, shows and changes hosted benchmarks and takes in their truth.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class BenchmarkServiceGrpc {

  private BenchmarkServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "vidscore.v1.BenchmarkService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.CreateBenchmarkRequest,
      io.github.vidscore.v1.CreateBenchmarkResponse> getCreateBenchmarkMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CreateBenchmark",
      requestType = io.github.vidscore.v1.CreateBenchmarkRequest.class,
      responseType = io.github.vidscore.v1.CreateBenchmarkResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.CreateBenchmarkRequest,
      io.github.vidscore.v1.CreateBenchmarkResponse> getCreateBenchmarkMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.CreateBenchmarkRequest, io.github.vidscore.v1.CreateBenchmarkResponse> getCreateBenchmarkMethod;
    if ((getCreateBenchmarkMethod = BenchmarkServiceGrpc.getCreateBenchmarkMethod) == null) {
      synchronized (BenchmarkServiceGrpc.class) {
        if ((getCreateBenchmarkMethod = BenchmarkServiceGrpc.getCreateBenchmarkMethod) == null) {
          BenchmarkServiceGrpc.getCreateBenchmarkMethod = getCreateBenchmarkMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.CreateBenchmarkRequest, io.github.vidscore.v1.CreateBenchmarkResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CreateBenchmark"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.CreateBenchmarkRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.CreateBenchmarkResponse.getDefaultInstance()))
              .setSchemaDescriptor(new BenchmarkServiceMethodDescriptorSupplier("CreateBenchmark"))
              .build();
        }
      }
    }
    return getCreateBenchmarkMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.GetBenchmarkRequest,
      io.github.vidscore.v1.GetBenchmarkResponse> getGetBenchmarkMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetBenchmark",
      requestType = io.github.vidscore.v1.GetBenchmarkRequest.class,
      responseType = io.github.vidscore.v1.GetBenchmarkResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.GetBenchmarkRequest,
      io.github.vidscore.v1.GetBenchmarkResponse> getGetBenchmarkMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.GetBenchmarkRequest, io.github.vidscore.v1.GetBenchmarkResponse> getGetBenchmarkMethod;
    if ((getGetBenchmarkMethod = BenchmarkServiceGrpc.getGetBenchmarkMethod) == null) {
      synchronized (BenchmarkServiceGrpc.class) {
        if ((getGetBenchmarkMethod = BenchmarkServiceGrpc.getGetBenchmarkMethod) == null) {
          BenchmarkServiceGrpc.getGetBenchmarkMethod = getGetBenchmarkMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.GetBenchmarkRequest, io.github.vidscore.v1.GetBenchmarkResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetBenchmark"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.GetBenchmarkRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.GetBenchmarkResponse.getDefaultInstance()))
              .setSchemaDescriptor(new BenchmarkServiceMethodDescriptorSupplier("GetBenchmark"))
              .build();
        }
      }
    }
    return getGetBenchmarkMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.ListBenchmarksRequest,
      io.github.vidscore.v1.ListBenchmarksResponse> getListBenchmarksMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListBenchmarks",
      requestType = io.github.vidscore.v1.ListBenchmarksRequest.class,
      responseType = io.github.vidscore.v1.ListBenchmarksResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.ListBenchmarksRequest,
      io.github.vidscore.v1.ListBenchmarksResponse> getListBenchmarksMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.ListBenchmarksRequest, io.github.vidscore.v1.ListBenchmarksResponse> getListBenchmarksMethod;
    if ((getListBenchmarksMethod = BenchmarkServiceGrpc.getListBenchmarksMethod) == null) {
      synchronized (BenchmarkServiceGrpc.class) {
        if ((getListBenchmarksMethod = BenchmarkServiceGrpc.getListBenchmarksMethod) == null) {
          BenchmarkServiceGrpc.getListBenchmarksMethod = getListBenchmarksMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.ListBenchmarksRequest, io.github.vidscore.v1.ListBenchmarksResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListBenchmarks"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.ListBenchmarksRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.ListBenchmarksResponse.getDefaultInstance()))
              .setSchemaDescriptor(new BenchmarkServiceMethodDescriptorSupplier("ListBenchmarks"))
              .build();
        }
      }
    }
    return getListBenchmarksMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.UpdateBenchmarkRequest,
      io.github.vidscore.v1.UpdateBenchmarkResponse> getUpdateBenchmarkMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "UpdateBenchmark",
      requestType = io.github.vidscore.v1.UpdateBenchmarkRequest.class,
      responseType = io.github.vidscore.v1.UpdateBenchmarkResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.UpdateBenchmarkRequest,
      io.github.vidscore.v1.UpdateBenchmarkResponse> getUpdateBenchmarkMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.UpdateBenchmarkRequest, io.github.vidscore.v1.UpdateBenchmarkResponse> getUpdateBenchmarkMethod;
    if ((getUpdateBenchmarkMethod = BenchmarkServiceGrpc.getUpdateBenchmarkMethod) == null) {
      synchronized (BenchmarkServiceGrpc.class) {
        if ((getUpdateBenchmarkMethod = BenchmarkServiceGrpc.getUpdateBenchmarkMethod) == null) {
          BenchmarkServiceGrpc.getUpdateBenchmarkMethod = getUpdateBenchmarkMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.UpdateBenchmarkRequest, io.github.vidscore.v1.UpdateBenchmarkResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "UpdateBenchmark"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.UpdateBenchmarkRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.UpdateBenchmarkResponse.getDefaultInstance()))
              .setSchemaDescriptor(new BenchmarkServiceMethodDescriptorSupplier("UpdateBenchmark"))
              .build();
        }
      }
    }
    return getUpdateBenchmarkMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.DeleteBenchmarkRequest,
      io.github.vidscore.v1.DeleteBenchmarkResponse> getDeleteBenchmarkMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "DeleteBenchmark",
      requestType = io.github.vidscore.v1.DeleteBenchmarkRequest.class,
      responseType = io.github.vidscore.v1.DeleteBenchmarkResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.DeleteBenchmarkRequest,
      io.github.vidscore.v1.DeleteBenchmarkResponse> getDeleteBenchmarkMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.DeleteBenchmarkRequest, io.github.vidscore.v1.DeleteBenchmarkResponse> getDeleteBenchmarkMethod;
    if ((getDeleteBenchmarkMethod = BenchmarkServiceGrpc.getDeleteBenchmarkMethod) == null) {
      synchronized (BenchmarkServiceGrpc.class) {
        if ((getDeleteBenchmarkMethod = BenchmarkServiceGrpc.getDeleteBenchmarkMethod) == null) {
          BenchmarkServiceGrpc.getDeleteBenchmarkMethod = getDeleteBenchmarkMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.DeleteBenchmarkRequest, io.github.vidscore.v1.DeleteBenchmarkResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "DeleteBenchmark"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.DeleteBenchmarkRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.DeleteBenchmarkResponse.getDefaultInstance()))
              .setSchemaDescriptor(new BenchmarkServiceMethodDescriptorSupplier("DeleteBenchmark"))
              .build();
        }
      }
    }
    return getDeleteBenchmarkMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.UploadTruthRequest,
      io.github.vidscore.v1.UploadTruthResponse> getUploadTruthMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "UploadTruth",
      requestType = io.github.vidscore.v1.UploadTruthRequest.class,
      responseType = io.github.vidscore.v1.UploadTruthResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.CLIENT_STREAMING)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.UploadTruthRequest,
      io.github.vidscore.v1.UploadTruthResponse> getUploadTruthMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.UploadTruthRequest, io.github.vidscore.v1.UploadTruthResponse> getUploadTruthMethod;
    if ((getUploadTruthMethod = BenchmarkServiceGrpc.getUploadTruthMethod) == null) {
      synchronized (BenchmarkServiceGrpc.class) {
        if ((getUploadTruthMethod = BenchmarkServiceGrpc.getUploadTruthMethod) == null) {
          BenchmarkServiceGrpc.getUploadTruthMethod = getUploadTruthMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.UploadTruthRequest, io.github.vidscore.v1.UploadTruthResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.CLIENT_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "UploadTruth"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.UploadTruthRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.UploadTruthResponse.getDefaultInstance()))
              .setSchemaDescriptor(new BenchmarkServiceMethodDescriptorSupplier("UploadTruth"))
              .build();
        }
      }
    }
    return getUploadTruthMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.ListTruthRevisionsRequest,
      io.github.vidscore.v1.ListTruthRevisionsResponse> getListTruthRevisionsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListTruthRevisions",
      requestType = io.github.vidscore.v1.ListTruthRevisionsRequest.class,
      responseType = io.github.vidscore.v1.ListTruthRevisionsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.ListTruthRevisionsRequest,
      io.github.vidscore.v1.ListTruthRevisionsResponse> getListTruthRevisionsMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.ListTruthRevisionsRequest, io.github.vidscore.v1.ListTruthRevisionsResponse> getListTruthRevisionsMethod;
    if ((getListTruthRevisionsMethod = BenchmarkServiceGrpc.getListTruthRevisionsMethod) == null) {
      synchronized (BenchmarkServiceGrpc.class) {
        if ((getListTruthRevisionsMethod = BenchmarkServiceGrpc.getListTruthRevisionsMethod) == null) {
          BenchmarkServiceGrpc.getListTruthRevisionsMethod = getListTruthRevisionsMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.ListTruthRevisionsRequest, io.github.vidscore.v1.ListTruthRevisionsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListTruthRevisions"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.ListTruthRevisionsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.ListTruthRevisionsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new BenchmarkServiceMethodDescriptorSupplier("ListTruthRevisions"))
              .build();
        }
      }
    }
    return getListTruthRevisionsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.RescoreSubmissionsRequest,
      com.google.longrunning.Operation> getRescoreSubmissionsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "RescoreSubmissions",
      requestType = io.github.vidscore.v1.RescoreSubmissionsRequest.class,
      responseType = com.google.longrunning.Operation.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.RescoreSubmissionsRequest,
      com.google.longrunning.Operation> getRescoreSubmissionsMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.RescoreSubmissionsRequest, com.google.longrunning.Operation> getRescoreSubmissionsMethod;
    if ((getRescoreSubmissionsMethod = BenchmarkServiceGrpc.getRescoreSubmissionsMethod) == null) {
      synchronized (BenchmarkServiceGrpc.class) {
        if ((getRescoreSubmissionsMethod = BenchmarkServiceGrpc.getRescoreSubmissionsMethod) == null) {
          BenchmarkServiceGrpc.getRescoreSubmissionsMethod = getRescoreSubmissionsMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.RescoreSubmissionsRequest, com.google.longrunning.Operation>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "RescoreSubmissions"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.RescoreSubmissionsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  com.google.longrunning.Operation.getDefaultInstance()))
              .setSchemaDescriptor(new BenchmarkServiceMethodDescriptorSupplier("RescoreSubmissions"))
              .build();
        }
      }
    }
    return getRescoreSubmissionsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.GetLeaderboardRequest,
      io.github.vidscore.v1.GetLeaderboardResponse> getGetLeaderboardMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetLeaderboard",
      requestType = io.github.vidscore.v1.GetLeaderboardRequest.class,
      responseType = io.github.vidscore.v1.GetLeaderboardResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.GetLeaderboardRequest,
      io.github.vidscore.v1.GetLeaderboardResponse> getGetLeaderboardMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.GetLeaderboardRequest, io.github.vidscore.v1.GetLeaderboardResponse> getGetLeaderboardMethod;
    if ((getGetLeaderboardMethod = BenchmarkServiceGrpc.getGetLeaderboardMethod) == null) {
      synchronized (BenchmarkServiceGrpc.class) {
        if ((getGetLeaderboardMethod = BenchmarkServiceGrpc.getGetLeaderboardMethod) == null) {
          BenchmarkServiceGrpc.getGetLeaderboardMethod = getGetLeaderboardMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.GetLeaderboardRequest, io.github.vidscore.v1.GetLeaderboardResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetLeaderboard"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.GetLeaderboardRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.GetLeaderboardResponse.getDefaultInstance()))
              .setSchemaDescriptor(new BenchmarkServiceMethodDescriptorSupplier("GetLeaderboard"))
              .build();
        }
      }
    }
    return getGetLeaderboardMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.PublishLeaderboardRequest,
      io.github.vidscore.v1.PublishLeaderboardResponse> getPublishLeaderboardMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "PublishLeaderboard",
      requestType = io.github.vidscore.v1.PublishLeaderboardRequest.class,
      responseType = io.github.vidscore.v1.PublishLeaderboardResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.PublishLeaderboardRequest,
      io.github.vidscore.v1.PublishLeaderboardResponse> getPublishLeaderboardMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.PublishLeaderboardRequest, io.github.vidscore.v1.PublishLeaderboardResponse> getPublishLeaderboardMethod;
    if ((getPublishLeaderboardMethod = BenchmarkServiceGrpc.getPublishLeaderboardMethod) == null) {
      synchronized (BenchmarkServiceGrpc.class) {
        if ((getPublishLeaderboardMethod = BenchmarkServiceGrpc.getPublishLeaderboardMethod) == null) {
          BenchmarkServiceGrpc.getPublishLeaderboardMethod = getPublishLeaderboardMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.PublishLeaderboardRequest, io.github.vidscore.v1.PublishLeaderboardResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "PublishLeaderboard"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.PublishLeaderboardRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.PublishLeaderboardResponse.getDefaultInstance()))
              .setSchemaDescriptor(new BenchmarkServiceMethodDescriptorSupplier("PublishLeaderboard"))
              .build();
        }
      }
    }
    return getPublishLeaderboardMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static BenchmarkServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<BenchmarkServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<BenchmarkServiceStub>() {
        @java.lang.Override
        public BenchmarkServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new BenchmarkServiceStub(channel, callOptions);
        }
      };
    return BenchmarkServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static BenchmarkServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<BenchmarkServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<BenchmarkServiceBlockingV2Stub>() {
        @java.lang.Override
        public BenchmarkServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new BenchmarkServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return BenchmarkServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static BenchmarkServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<BenchmarkServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<BenchmarkServiceBlockingStub>() {
        @java.lang.Override
        public BenchmarkServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new BenchmarkServiceBlockingStub(channel, callOptions);
        }
      };
    return BenchmarkServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static BenchmarkServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<BenchmarkServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<BenchmarkServiceFutureStub>() {
        @java.lang.Override
        public BenchmarkServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new BenchmarkServiceFutureStub(channel, callOptions);
        }
      };
    return BenchmarkServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * BenchmarkService creates, shows and changes hosted benchmarks and takes in their truth.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * CreateBenchmark creates a benchmark. Organisers only.
     * </pre>
     */
    default void createBenchmark(io.github.vidscore.v1.CreateBenchmarkRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.CreateBenchmarkResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCreateBenchmarkMethod(), responseObserver);
    }

    /**
     * <pre>
     * GetBenchmark shows one; what of it depends on the caller's role.
     * </pre>
     */
    default void getBenchmark(io.github.vidscore.v1.GetBenchmarkRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.GetBenchmarkResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetBenchmarkMethod(), responseObserver);
    }

    /**
     * <pre>
     * ListBenchmarks lists benchmarks in the order of their names.
     * </pre>
     */
    default void listBenchmarks(io.github.vidscore.v1.ListBenchmarksRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.ListBenchmarksResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListBenchmarksMethod(), responseObserver);
    }

    /**
     * <pre>
     * UpdateBenchmark changes the fields that the mask names. Where evaluators or specification
     * change, the stored detections are scored again, and the board moves when all are.
     * </pre>
     */
    default void updateBenchmark(io.github.vidscore.v1.UpdateBenchmarkRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.UpdateBenchmarkResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getUpdateBenchmarkMethod(), responseObserver);
    }

    /**
     * <pre>
     * DeleteBenchmark deletes a benchmark with its truth, submissions and scores; its name is free
     * again. FAILED_PRECONDITION where it has submissions and `force` is not set.
     * </pre>
     */
    default void deleteBenchmark(io.github.vidscore.v1.DeleteBenchmarkRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.DeleteBenchmarkResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getDeleteBenchmarkMethod(), responseObserver);
    }

    /**
     * <pre>
     * UploadTruth adds frames of truth. The first request is the header, then come batches, and last
     * the end. The whole upload becomes one new revision, or nothing does: a call that breaks off
     * looks to the server like one whose client has closed its side, so only the end says that
     * everything has come.
     * </pre>
     */
    default io.grpc.stub.StreamObserver<io.github.vidscore.v1.UploadTruthRequest> uploadTruth(
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.UploadTruthResponse> responseObserver) {
      return io.grpc.stub.ServerCalls.asyncUnimplementedStreamingCall(getUploadTruthMethod(), responseObserver);
    }

    /**
     * <pre>
     * ListTruthRevisions lists the revisions of a benchmark's truth: numbers and digests, no truth.
     * Organisers only.
     * </pre>
     */
    default void listTruthRevisions(io.github.vidscore.v1.ListTruthRevisionsRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.ListTruthRevisionsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListTruthRevisionsMethod(), responseObserver);
    }

    /**
     * <pre>
     * RescoreSubmissions scores stored detections again, beside the scores there are, and lists what
     * that changed; what a board needs is scored again without it. The operation's metadata is
     * RescoreMetadata, its response RescoreResponse.
     * buf:lint:ignore RPC_RESPONSE_STANDARD_NAME (long work answers with Google's own operation)
     * buf:lint:ignore RPC_REQUEST_RESPONSE_UNIQUE (and all long work does)
     * </pre>
     */
    default void rescoreSubmissions(io.github.vidscore.v1.RescoreSubmissionsRequest request,
        io.grpc.stub.StreamObserver<com.google.longrunning.Operation> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getRescoreSubmissionsMethod(), responseObserver);
    }

    /**
     * <pre>
     * GetLeaderboard shows submissions in rank order.
     * </pre>
     */
    default void getLeaderboard(io.github.vidscore.v1.GetLeaderboardRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.GetLeaderboardResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetLeaderboardMethod(), responseObserver);
    }

    /**
     * <pre>
     * PublishLeaderboard moves a board to the scores that wait for it under RESCORE_REVIEW, and lists
     * the differences. FAILED_PRECONDITION while submissions are still to be scored again. Organisers
     * only.
     * </pre>
     */
    default void publishLeaderboard(io.github.vidscore.v1.PublishLeaderboardRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.PublishLeaderboardResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getPublishLeaderboardMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service BenchmarkService.
   * <pre>
   * BenchmarkService creates, shows and changes hosted benchmarks and takes in their truth.
   * </pre>
   */
  public static abstract class BenchmarkServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return BenchmarkServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service BenchmarkService.
   * <pre>
   * BenchmarkService creates, shows and changes hosted benchmarks and takes in their truth.
   * </pre>
   */
  public static final class BenchmarkServiceStub
      extends io.grpc.stub.AbstractAsyncStub<BenchmarkServiceStub> {
    private BenchmarkServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected BenchmarkServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new BenchmarkServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * CreateBenchmark creates a benchmark. Organisers only.
     * </pre>
     */
    public void createBenchmark(io.github.vidscore.v1.CreateBenchmarkRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.CreateBenchmarkResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCreateBenchmarkMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * GetBenchmark shows one; what of it depends on the caller's role.
     * </pre>
     */
    public void getBenchmark(io.github.vidscore.v1.GetBenchmarkRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.GetBenchmarkResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetBenchmarkMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * ListBenchmarks lists benchmarks in the order of their names.
     * </pre>
     */
    public void listBenchmarks(io.github.vidscore.v1.ListBenchmarksRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.ListBenchmarksResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListBenchmarksMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * UpdateBenchmark changes the fields that the mask names. Where evaluators or specification
     * change, the stored detections are scored again, and the board moves when all are.
     * </pre>
     */
    public void updateBenchmark(io.github.vidscore.v1.UpdateBenchmarkRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.UpdateBenchmarkResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getUpdateBenchmarkMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * DeleteBenchmark deletes a benchmark with its truth, submissions and scores; its name is free
     * again. FAILED_PRECONDITION where it has submissions and `force` is not set.
     * </pre>
     */
    public void deleteBenchmark(io.github.vidscore.v1.DeleteBenchmarkRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.DeleteBenchmarkResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getDeleteBenchmarkMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * UploadTruth adds frames of truth. The first request is the header, then come batches, and last
     * the end. The whole upload becomes one new revision, or nothing does: a call that breaks off
     * looks to the server like one whose client has closed its side, so only the end says that
     * everything has come.
     * </pre>
     */
    public io.grpc.stub.StreamObserver<io.github.vidscore.v1.UploadTruthRequest> uploadTruth(
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.UploadTruthResponse> responseObserver) {
      return io.grpc.stub.ClientCalls.asyncClientStreamingCall(
          getChannel().newCall(getUploadTruthMethod(), getCallOptions()), responseObserver);
    }

    /**
     * <pre>
     * ListTruthRevisions lists the revisions of a benchmark's truth: numbers and digests, no truth.
     * Organisers only.
     * </pre>
     */
    public void listTruthRevisions(io.github.vidscore.v1.ListTruthRevisionsRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.ListTruthRevisionsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListTruthRevisionsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * RescoreSubmissions scores stored detections again, beside the scores there are, and lists what
     * that changed; what a board needs is scored again without it. The operation's metadata is
     * RescoreMetadata, its response RescoreResponse.
     * buf:lint:ignore RPC_RESPONSE_STANDARD_NAME (long work answers with Google's own operation)
     * buf:lint:ignore RPC_REQUEST_RESPONSE_UNIQUE (and all long work does)
     * </pre>
     */
    public void rescoreSubmissions(io.github.vidscore.v1.RescoreSubmissionsRequest request,
        io.grpc.stub.StreamObserver<com.google.longrunning.Operation> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getRescoreSubmissionsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * GetLeaderboard shows submissions in rank order.
     * </pre>
     */
    public void getLeaderboard(io.github.vidscore.v1.GetLeaderboardRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.GetLeaderboardResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetLeaderboardMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * PublishLeaderboard moves a board to the scores that wait for it under RESCORE_REVIEW, and lists
     * the differences. FAILED_PRECONDITION while submissions are still to be scored again. Organisers
     * only.
     * </pre>
     */
    public void publishLeaderboard(io.github.vidscore.v1.PublishLeaderboardRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.PublishLeaderboardResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getPublishLeaderboardMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service BenchmarkService.
   * <pre>
   * BenchmarkService creates, shows and changes hosted benchmarks and takes in their truth.
   * </pre>
   */
  public static final class BenchmarkServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<BenchmarkServiceBlockingV2Stub> {
    private BenchmarkServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected BenchmarkServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new BenchmarkServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * CreateBenchmark creates a benchmark. Organisers only.
     * </pre>
     */
    public io.github.vidscore.v1.CreateBenchmarkResponse createBenchmark(io.github.vidscore.v1.CreateBenchmarkRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCreateBenchmarkMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * GetBenchmark shows one; what of it depends on the caller's role.
     * </pre>
     */
    public io.github.vidscore.v1.GetBenchmarkResponse getBenchmark(io.github.vidscore.v1.GetBenchmarkRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetBenchmarkMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListBenchmarks lists benchmarks in the order of their names.
     * </pre>
     */
    public io.github.vidscore.v1.ListBenchmarksResponse listBenchmarks(io.github.vidscore.v1.ListBenchmarksRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListBenchmarksMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * UpdateBenchmark changes the fields that the mask names. Where evaluators or specification
     * change, the stored detections are scored again, and the board moves when all are.
     * </pre>
     */
    public io.github.vidscore.v1.UpdateBenchmarkResponse updateBenchmark(io.github.vidscore.v1.UpdateBenchmarkRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getUpdateBenchmarkMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * DeleteBenchmark deletes a benchmark with its truth, submissions and scores; its name is free
     * again. FAILED_PRECONDITION where it has submissions and `force` is not set.
     * </pre>
     */
    public io.github.vidscore.v1.DeleteBenchmarkResponse deleteBenchmark(io.github.vidscore.v1.DeleteBenchmarkRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getDeleteBenchmarkMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * UploadTruth adds frames of truth. The first request is the header, then come batches, and last
     * the end. The whole upload becomes one new revision, or nothing does: a call that breaks off
     * looks to the server like one whose client has closed its side, so only the end says that
     * everything has come.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<io.github.vidscore.v1.UploadTruthRequest, io.github.vidscore.v1.UploadTruthResponse>
        uploadTruth() {
      return io.grpc.stub.ClientCalls.blockingClientStreamingCall(
          getChannel(), getUploadTruthMethod(), getCallOptions());
    }

    /**
     * <pre>
     * ListTruthRevisions lists the revisions of a benchmark's truth: numbers and digests, no truth.
     * Organisers only.
     * </pre>
     */
    public io.github.vidscore.v1.ListTruthRevisionsResponse listTruthRevisions(io.github.vidscore.v1.ListTruthRevisionsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListTruthRevisionsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * RescoreSubmissions scores stored detections again, beside the scores there are, and lists what
     * that changed; what a board needs is scored again without it. The operation's metadata is
     * RescoreMetadata, its response RescoreResponse.
     * buf:lint:ignore RPC_RESPONSE_STANDARD_NAME (long work answers with Google's own operation)
     * buf:lint:ignore RPC_REQUEST_RESPONSE_UNIQUE (and all long work does)
     * </pre>
     */
    public com.google.longrunning.Operation rescoreSubmissions(io.github.vidscore.v1.RescoreSubmissionsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getRescoreSubmissionsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * GetLeaderboard shows submissions in rank order.
     * </pre>
     */
    public io.github.vidscore.v1.GetLeaderboardResponse getLeaderboard(io.github.vidscore.v1.GetLeaderboardRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetLeaderboardMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * PublishLeaderboard moves a board to the scores that wait for it under RESCORE_REVIEW, and lists
     * the differences. FAILED_PRECONDITION while submissions are still to be scored again. Organisers
     * only.
     * </pre>
     */
    public io.github.vidscore.v1.PublishLeaderboardResponse publishLeaderboard(io.github.vidscore.v1.PublishLeaderboardRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getPublishLeaderboardMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service BenchmarkService.
   * <pre>
   * BenchmarkService creates, shows and changes hosted benchmarks and takes in their truth.
   * </pre>
   */
  public static final class BenchmarkServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<BenchmarkServiceBlockingStub> {
    private BenchmarkServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected BenchmarkServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new BenchmarkServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * CreateBenchmark creates a benchmark. Organisers only.
     * </pre>
     */
    public io.github.vidscore.v1.CreateBenchmarkResponse createBenchmark(io.github.vidscore.v1.CreateBenchmarkRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCreateBenchmarkMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * GetBenchmark shows one; what of it depends on the caller's role.
     * </pre>
     */
    public io.github.vidscore.v1.GetBenchmarkResponse getBenchmark(io.github.vidscore.v1.GetBenchmarkRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetBenchmarkMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListBenchmarks lists benchmarks in the order of their names.
     * </pre>
     */
    public io.github.vidscore.v1.ListBenchmarksResponse listBenchmarks(io.github.vidscore.v1.ListBenchmarksRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListBenchmarksMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * UpdateBenchmark changes the fields that the mask names. Where evaluators or specification
     * change, the stored detections are scored again, and the board moves when all are.
     * </pre>
     */
    public io.github.vidscore.v1.UpdateBenchmarkResponse updateBenchmark(io.github.vidscore.v1.UpdateBenchmarkRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getUpdateBenchmarkMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * DeleteBenchmark deletes a benchmark with its truth, submissions and scores; its name is free
     * again. FAILED_PRECONDITION where it has submissions and `force` is not set.
     * </pre>
     */
    public io.github.vidscore.v1.DeleteBenchmarkResponse deleteBenchmark(io.github.vidscore.v1.DeleteBenchmarkRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getDeleteBenchmarkMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListTruthRevisions lists the revisions of a benchmark's truth: numbers and digests, no truth.
     * Organisers only.
     * </pre>
     */
    public io.github.vidscore.v1.ListTruthRevisionsResponse listTruthRevisions(io.github.vidscore.v1.ListTruthRevisionsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListTruthRevisionsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * RescoreSubmissions scores stored detections again, beside the scores there are, and lists what
     * that changed; what a board needs is scored again without it. The operation's metadata is
     * RescoreMetadata, its response RescoreResponse.
     * buf:lint:ignore RPC_RESPONSE_STANDARD_NAME (long work answers with Google's own operation)
     * buf:lint:ignore RPC_REQUEST_RESPONSE_UNIQUE (and all long work does)
     * </pre>
     */
    public com.google.longrunning.Operation rescoreSubmissions(io.github.vidscore.v1.RescoreSubmissionsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getRescoreSubmissionsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * GetLeaderboard shows submissions in rank order.
     * </pre>
     */
    public io.github.vidscore.v1.GetLeaderboardResponse getLeaderboard(io.github.vidscore.v1.GetLeaderboardRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetLeaderboardMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * PublishLeaderboard moves a board to the scores that wait for it under RESCORE_REVIEW, and lists
     * the differences. FAILED_PRECONDITION while submissions are still to be scored again. Organisers
     * only.
     * </pre>
     */
    public io.github.vidscore.v1.PublishLeaderboardResponse publishLeaderboard(io.github.vidscore.v1.PublishLeaderboardRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getPublishLeaderboardMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service BenchmarkService.
   * <pre>
   * BenchmarkService creates, shows and changes hosted benchmarks and takes in their truth.
   * </pre>
   */
  public static final class BenchmarkServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<BenchmarkServiceFutureStub> {
    private BenchmarkServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected BenchmarkServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new BenchmarkServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * CreateBenchmark creates a benchmark. Organisers only.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.github.vidscore.v1.CreateBenchmarkResponse> createBenchmark(
        io.github.vidscore.v1.CreateBenchmarkRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCreateBenchmarkMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * GetBenchmark shows one; what of it depends on the caller's role.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.github.vidscore.v1.GetBenchmarkResponse> getBenchmark(
        io.github.vidscore.v1.GetBenchmarkRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetBenchmarkMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * ListBenchmarks lists benchmarks in the order of their names.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.github.vidscore.v1.ListBenchmarksResponse> listBenchmarks(
        io.github.vidscore.v1.ListBenchmarksRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListBenchmarksMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * UpdateBenchmark changes the fields that the mask names. Where evaluators or specification
     * change, the stored detections are scored again, and the board moves when all are.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.github.vidscore.v1.UpdateBenchmarkResponse> updateBenchmark(
        io.github.vidscore.v1.UpdateBenchmarkRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getUpdateBenchmarkMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * DeleteBenchmark deletes a benchmark with its truth, submissions and scores; its name is free
     * again. FAILED_PRECONDITION where it has submissions and `force` is not set.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.github.vidscore.v1.DeleteBenchmarkResponse> deleteBenchmark(
        io.github.vidscore.v1.DeleteBenchmarkRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getDeleteBenchmarkMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * ListTruthRevisions lists the revisions of a benchmark's truth: numbers and digests, no truth.
     * Organisers only.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.github.vidscore.v1.ListTruthRevisionsResponse> listTruthRevisions(
        io.github.vidscore.v1.ListTruthRevisionsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListTruthRevisionsMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * RescoreSubmissions scores stored detections again, beside the scores there are, and lists what
     * that changed; what a board needs is scored again without it. The operation's metadata is
     * RescoreMetadata, its response RescoreResponse.
     * buf:lint:ignore RPC_RESPONSE_STANDARD_NAME (long work answers with Google's own operation)
     * buf:lint:ignore RPC_REQUEST_RESPONSE_UNIQUE (and all long work does)
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<com.google.longrunning.Operation> rescoreSubmissions(
        io.github.vidscore.v1.RescoreSubmissionsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getRescoreSubmissionsMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * GetLeaderboard shows submissions in rank order.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.github.vidscore.v1.GetLeaderboardResponse> getLeaderboard(
        io.github.vidscore.v1.GetLeaderboardRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetLeaderboardMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * PublishLeaderboard moves a board to the scores that wait for it under RESCORE_REVIEW, and lists
     * the differences. FAILED_PRECONDITION while submissions are still to be scored again. Organisers
     * only.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.github.vidscore.v1.PublishLeaderboardResponse> publishLeaderboard(
        io.github.vidscore.v1.PublishLeaderboardRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getPublishLeaderboardMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_CREATE_BENCHMARK = 0;
  private static final int METHODID_GET_BENCHMARK = 1;
  private static final int METHODID_LIST_BENCHMARKS = 2;
  private static final int METHODID_UPDATE_BENCHMARK = 3;
  private static final int METHODID_DELETE_BENCHMARK = 4;
  private static final int METHODID_LIST_TRUTH_REVISIONS = 5;
  private static final int METHODID_RESCORE_SUBMISSIONS = 6;
  private static final int METHODID_GET_LEADERBOARD = 7;
  private static final int METHODID_PUBLISH_LEADERBOARD = 8;
  private static final int METHODID_UPLOAD_TRUTH = 9;

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
        case METHODID_CREATE_BENCHMARK:
          serviceImpl.createBenchmark((io.github.vidscore.v1.CreateBenchmarkRequest) request,
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.CreateBenchmarkResponse>) responseObserver);
          break;
        case METHODID_GET_BENCHMARK:
          serviceImpl.getBenchmark((io.github.vidscore.v1.GetBenchmarkRequest) request,
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.GetBenchmarkResponse>) responseObserver);
          break;
        case METHODID_LIST_BENCHMARKS:
          serviceImpl.listBenchmarks((io.github.vidscore.v1.ListBenchmarksRequest) request,
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.ListBenchmarksResponse>) responseObserver);
          break;
        case METHODID_UPDATE_BENCHMARK:
          serviceImpl.updateBenchmark((io.github.vidscore.v1.UpdateBenchmarkRequest) request,
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.UpdateBenchmarkResponse>) responseObserver);
          break;
        case METHODID_DELETE_BENCHMARK:
          serviceImpl.deleteBenchmark((io.github.vidscore.v1.DeleteBenchmarkRequest) request,
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.DeleteBenchmarkResponse>) responseObserver);
          break;
        case METHODID_LIST_TRUTH_REVISIONS:
          serviceImpl.listTruthRevisions((io.github.vidscore.v1.ListTruthRevisionsRequest) request,
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.ListTruthRevisionsResponse>) responseObserver);
          break;
        case METHODID_RESCORE_SUBMISSIONS:
          serviceImpl.rescoreSubmissions((io.github.vidscore.v1.RescoreSubmissionsRequest) request,
              (io.grpc.stub.StreamObserver<com.google.longrunning.Operation>) responseObserver);
          break;
        case METHODID_GET_LEADERBOARD:
          serviceImpl.getLeaderboard((io.github.vidscore.v1.GetLeaderboardRequest) request,
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.GetLeaderboardResponse>) responseObserver);
          break;
        case METHODID_PUBLISH_LEADERBOARD:
          serviceImpl.publishLeaderboard((io.github.vidscore.v1.PublishLeaderboardRequest) request,
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.PublishLeaderboardResponse>) responseObserver);
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
        case METHODID_UPLOAD_TRUTH:
          return (io.grpc.stub.StreamObserver<Req>) serviceImpl.uploadTruth(
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.UploadTruthResponse>) responseObserver);
        default:
          throw new AssertionError();
      }
    }
  }

  public static final io.grpc.ServerServiceDefinition bindService(AsyncService service) {
    return io.grpc.ServerServiceDefinition.builder(getServiceDescriptor())
        .addMethod(
          getCreateBenchmarkMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.github.vidscore.v1.CreateBenchmarkRequest,
              io.github.vidscore.v1.CreateBenchmarkResponse>(
                service, METHODID_CREATE_BENCHMARK)))
        .addMethod(
          getGetBenchmarkMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.github.vidscore.v1.GetBenchmarkRequest,
              io.github.vidscore.v1.GetBenchmarkResponse>(
                service, METHODID_GET_BENCHMARK)))
        .addMethod(
          getListBenchmarksMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.github.vidscore.v1.ListBenchmarksRequest,
              io.github.vidscore.v1.ListBenchmarksResponse>(
                service, METHODID_LIST_BENCHMARKS)))
        .addMethod(
          getUpdateBenchmarkMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.github.vidscore.v1.UpdateBenchmarkRequest,
              io.github.vidscore.v1.UpdateBenchmarkResponse>(
                service, METHODID_UPDATE_BENCHMARK)))
        .addMethod(
          getDeleteBenchmarkMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.github.vidscore.v1.DeleteBenchmarkRequest,
              io.github.vidscore.v1.DeleteBenchmarkResponse>(
                service, METHODID_DELETE_BENCHMARK)))
        .addMethod(
          getUploadTruthMethod(),
          io.grpc.stub.ServerCalls.asyncClientStreamingCall(
            new MethodHandlers<
              io.github.vidscore.v1.UploadTruthRequest,
              io.github.vidscore.v1.UploadTruthResponse>(
                service, METHODID_UPLOAD_TRUTH)))
        .addMethod(
          getListTruthRevisionsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.github.vidscore.v1.ListTruthRevisionsRequest,
              io.github.vidscore.v1.ListTruthRevisionsResponse>(
                service, METHODID_LIST_TRUTH_REVISIONS)))
        .addMethod(
          getRescoreSubmissionsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.github.vidscore.v1.RescoreSubmissionsRequest,
              com.google.longrunning.Operation>(
                service, METHODID_RESCORE_SUBMISSIONS)))
        .addMethod(
          getGetLeaderboardMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.github.vidscore.v1.GetLeaderboardRequest,
              io.github.vidscore.v1.GetLeaderboardResponse>(
                service, METHODID_GET_LEADERBOARD)))
        .addMethod(
          getPublishLeaderboardMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.github.vidscore.v1.PublishLeaderboardRequest,
              io.github.vidscore.v1.PublishLeaderboardResponse>(
                service, METHODID_PUBLISH_LEADERBOARD)))
        .build();
  }

  private static abstract class BenchmarkServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    BenchmarkServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return io.github.vidscore.v1.BenchmarkServiceProto.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("BenchmarkService");
    }
  }

  private static final class BenchmarkServiceFileDescriptorSupplier
      extends BenchmarkServiceBaseDescriptorSupplier {
    BenchmarkServiceFileDescriptorSupplier() {}
  }

  private static final class BenchmarkServiceMethodDescriptorSupplier
      extends BenchmarkServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    BenchmarkServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (BenchmarkServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new BenchmarkServiceFileDescriptorSupplier())
              .addMethod(getCreateBenchmarkMethod())
              .addMethod(getGetBenchmarkMethod())
              .addMethod(getListBenchmarksMethod())
              .addMethod(getUpdateBenchmarkMethod())
              .addMethod(getDeleteBenchmarkMethod())
              .addMethod(getUploadTruthMethod())
              .addMethod(getListTruthRevisionsMethod())
              .addMethod(getRescoreSubmissionsMethod())
              .addMethod(getGetLeaderboardMethod())
              .addMethod(getPublishLeaderboardMethod())
              .build();
        }
      }
    }
    return result;
  }
}
