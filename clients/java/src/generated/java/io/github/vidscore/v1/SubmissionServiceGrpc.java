package io.github.vidscore.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * SubmissionService takes in detections and shows what became of them.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class SubmissionServiceGrpc {

  private SubmissionServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "vidscore.v1.SubmissionService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.CreateSubmissionRequest,
      io.github.vidscore.v1.CreateSubmissionResponse> getCreateSubmissionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CreateSubmission",
      requestType = io.github.vidscore.v1.CreateSubmissionRequest.class,
      responseType = io.github.vidscore.v1.CreateSubmissionResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.CreateSubmissionRequest,
      io.github.vidscore.v1.CreateSubmissionResponse> getCreateSubmissionMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.CreateSubmissionRequest, io.github.vidscore.v1.CreateSubmissionResponse> getCreateSubmissionMethod;
    if ((getCreateSubmissionMethod = SubmissionServiceGrpc.getCreateSubmissionMethod) == null) {
      synchronized (SubmissionServiceGrpc.class) {
        if ((getCreateSubmissionMethod = SubmissionServiceGrpc.getCreateSubmissionMethod) == null) {
          SubmissionServiceGrpc.getCreateSubmissionMethod = getCreateSubmissionMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.CreateSubmissionRequest, io.github.vidscore.v1.CreateSubmissionResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CreateSubmission"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.CreateSubmissionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.CreateSubmissionResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SubmissionServiceMethodDescriptorSupplier("CreateSubmission"))
              .build();
        }
      }
    }
    return getCreateSubmissionMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.GetSubmissionRequest,
      io.github.vidscore.v1.GetSubmissionResponse> getGetSubmissionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetSubmission",
      requestType = io.github.vidscore.v1.GetSubmissionRequest.class,
      responseType = io.github.vidscore.v1.GetSubmissionResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.GetSubmissionRequest,
      io.github.vidscore.v1.GetSubmissionResponse> getGetSubmissionMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.GetSubmissionRequest, io.github.vidscore.v1.GetSubmissionResponse> getGetSubmissionMethod;
    if ((getGetSubmissionMethod = SubmissionServiceGrpc.getGetSubmissionMethod) == null) {
      synchronized (SubmissionServiceGrpc.class) {
        if ((getGetSubmissionMethod = SubmissionServiceGrpc.getGetSubmissionMethod) == null) {
          SubmissionServiceGrpc.getGetSubmissionMethod = getGetSubmissionMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.GetSubmissionRequest, io.github.vidscore.v1.GetSubmissionResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetSubmission"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.GetSubmissionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.GetSubmissionResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SubmissionServiceMethodDescriptorSupplier("GetSubmission"))
              .build();
        }
      }
    }
    return getGetSubmissionMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.ListSubmissionsRequest,
      io.github.vidscore.v1.ListSubmissionsResponse> getListSubmissionsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListSubmissions",
      requestType = io.github.vidscore.v1.ListSubmissionsRequest.class,
      responseType = io.github.vidscore.v1.ListSubmissionsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.ListSubmissionsRequest,
      io.github.vidscore.v1.ListSubmissionsResponse> getListSubmissionsMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.ListSubmissionsRequest, io.github.vidscore.v1.ListSubmissionsResponse> getListSubmissionsMethod;
    if ((getListSubmissionsMethod = SubmissionServiceGrpc.getListSubmissionsMethod) == null) {
      synchronized (SubmissionServiceGrpc.class) {
        if ((getListSubmissionsMethod = SubmissionServiceGrpc.getListSubmissionsMethod) == null) {
          SubmissionServiceGrpc.getListSubmissionsMethod = getListSubmissionsMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.ListSubmissionsRequest, io.github.vidscore.v1.ListSubmissionsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListSubmissions"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.ListSubmissionsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.ListSubmissionsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SubmissionServiceMethodDescriptorSupplier("ListSubmissions"))
              .build();
        }
      }
    }
    return getListSubmissionsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.OpenStreamRequest,
      io.github.vidscore.v1.OpenStreamResponse> getOpenStreamMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "OpenStream",
      requestType = io.github.vidscore.v1.OpenStreamRequest.class,
      responseType = io.github.vidscore.v1.OpenStreamResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.OpenStreamRequest,
      io.github.vidscore.v1.OpenStreamResponse> getOpenStreamMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.OpenStreamRequest, io.github.vidscore.v1.OpenStreamResponse> getOpenStreamMethod;
    if ((getOpenStreamMethod = SubmissionServiceGrpc.getOpenStreamMethod) == null) {
      synchronized (SubmissionServiceGrpc.class) {
        if ((getOpenStreamMethod = SubmissionServiceGrpc.getOpenStreamMethod) == null) {
          SubmissionServiceGrpc.getOpenStreamMethod = getOpenStreamMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.OpenStreamRequest, io.github.vidscore.v1.OpenStreamResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "OpenStream"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.OpenStreamRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.OpenStreamResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SubmissionServiceMethodDescriptorSupplier("OpenStream"))
              .build();
        }
      }
    }
    return getOpenStreamMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.AppendFramesRequest,
      io.github.vidscore.v1.AppendFramesResponse> getAppendFramesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "AppendFrames",
      requestType = io.github.vidscore.v1.AppendFramesRequest.class,
      responseType = io.github.vidscore.v1.AppendFramesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.BIDI_STREAMING)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.AppendFramesRequest,
      io.github.vidscore.v1.AppendFramesResponse> getAppendFramesMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.AppendFramesRequest, io.github.vidscore.v1.AppendFramesResponse> getAppendFramesMethod;
    if ((getAppendFramesMethod = SubmissionServiceGrpc.getAppendFramesMethod) == null) {
      synchronized (SubmissionServiceGrpc.class) {
        if ((getAppendFramesMethod = SubmissionServiceGrpc.getAppendFramesMethod) == null) {
          SubmissionServiceGrpc.getAppendFramesMethod = getAppendFramesMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.AppendFramesRequest, io.github.vidscore.v1.AppendFramesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.BIDI_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "AppendFrames"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.AppendFramesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.AppendFramesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SubmissionServiceMethodDescriptorSupplier("AppendFrames"))
              .build();
        }
      }
    }
    return getAppendFramesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.AppendBatchRequest,
      io.github.vidscore.v1.AppendBatchResponse> getAppendBatchMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "AppendBatch",
      requestType = io.github.vidscore.v1.AppendBatchRequest.class,
      responseType = io.github.vidscore.v1.AppendBatchResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.AppendBatchRequest,
      io.github.vidscore.v1.AppendBatchResponse> getAppendBatchMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.AppendBatchRequest, io.github.vidscore.v1.AppendBatchResponse> getAppendBatchMethod;
    if ((getAppendBatchMethod = SubmissionServiceGrpc.getAppendBatchMethod) == null) {
      synchronized (SubmissionServiceGrpc.class) {
        if ((getAppendBatchMethod = SubmissionServiceGrpc.getAppendBatchMethod) == null) {
          SubmissionServiceGrpc.getAppendBatchMethod = getAppendBatchMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.AppendBatchRequest, io.github.vidscore.v1.AppendBatchResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "AppendBatch"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.AppendBatchRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.AppendBatchResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SubmissionServiceMethodDescriptorSupplier("AppendBatch"))
              .build();
        }
      }
    }
    return getAppendBatchMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.CheckDetectionsRequest,
      io.github.vidscore.v1.CheckDetectionsResponse> getCheckDetectionsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CheckDetections",
      requestType = io.github.vidscore.v1.CheckDetectionsRequest.class,
      responseType = io.github.vidscore.v1.CheckDetectionsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.CheckDetectionsRequest,
      io.github.vidscore.v1.CheckDetectionsResponse> getCheckDetectionsMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.CheckDetectionsRequest, io.github.vidscore.v1.CheckDetectionsResponse> getCheckDetectionsMethod;
    if ((getCheckDetectionsMethod = SubmissionServiceGrpc.getCheckDetectionsMethod) == null) {
      synchronized (SubmissionServiceGrpc.class) {
        if ((getCheckDetectionsMethod = SubmissionServiceGrpc.getCheckDetectionsMethod) == null) {
          SubmissionServiceGrpc.getCheckDetectionsMethod = getCheckDetectionsMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.CheckDetectionsRequest, io.github.vidscore.v1.CheckDetectionsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CheckDetections"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.CheckDetectionsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.CheckDetectionsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SubmissionServiceMethodDescriptorSupplier("CheckDetections"))
              .build();
        }
      }
    }
    return getCheckDetectionsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.SealSubmissionRequest,
      io.github.vidscore.v1.SealSubmissionResponse> getSealSubmissionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "SealSubmission",
      requestType = io.github.vidscore.v1.SealSubmissionRequest.class,
      responseType = io.github.vidscore.v1.SealSubmissionResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.SealSubmissionRequest,
      io.github.vidscore.v1.SealSubmissionResponse> getSealSubmissionMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.SealSubmissionRequest, io.github.vidscore.v1.SealSubmissionResponse> getSealSubmissionMethod;
    if ((getSealSubmissionMethod = SubmissionServiceGrpc.getSealSubmissionMethod) == null) {
      synchronized (SubmissionServiceGrpc.class) {
        if ((getSealSubmissionMethod = SubmissionServiceGrpc.getSealSubmissionMethod) == null) {
          SubmissionServiceGrpc.getSealSubmissionMethod = getSealSubmissionMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.SealSubmissionRequest, io.github.vidscore.v1.SealSubmissionResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "SealSubmission"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.SealSubmissionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.SealSubmissionResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SubmissionServiceMethodDescriptorSupplier("SealSubmission"))
              .build();
        }
      }
    }
    return getSealSubmissionMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.CancelSubmissionRequest,
      io.github.vidscore.v1.CancelSubmissionResponse> getCancelSubmissionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CancelSubmission",
      requestType = io.github.vidscore.v1.CancelSubmissionRequest.class,
      responseType = io.github.vidscore.v1.CancelSubmissionResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.CancelSubmissionRequest,
      io.github.vidscore.v1.CancelSubmissionResponse> getCancelSubmissionMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.CancelSubmissionRequest, io.github.vidscore.v1.CancelSubmissionResponse> getCancelSubmissionMethod;
    if ((getCancelSubmissionMethod = SubmissionServiceGrpc.getCancelSubmissionMethod) == null) {
      synchronized (SubmissionServiceGrpc.class) {
        if ((getCancelSubmissionMethod = SubmissionServiceGrpc.getCancelSubmissionMethod) == null) {
          SubmissionServiceGrpc.getCancelSubmissionMethod = getCancelSubmissionMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.CancelSubmissionRequest, io.github.vidscore.v1.CancelSubmissionResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CancelSubmission"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.CancelSubmissionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.CancelSubmissionResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SubmissionServiceMethodDescriptorSupplier("CancelSubmission"))
              .build();
        }
      }
    }
    return getCancelSubmissionMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.RetrySubmissionRequest,
      io.github.vidscore.v1.RetrySubmissionResponse> getRetrySubmissionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "RetrySubmission",
      requestType = io.github.vidscore.v1.RetrySubmissionRequest.class,
      responseType = io.github.vidscore.v1.RetrySubmissionResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.RetrySubmissionRequest,
      io.github.vidscore.v1.RetrySubmissionResponse> getRetrySubmissionMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.RetrySubmissionRequest, io.github.vidscore.v1.RetrySubmissionResponse> getRetrySubmissionMethod;
    if ((getRetrySubmissionMethod = SubmissionServiceGrpc.getRetrySubmissionMethod) == null) {
      synchronized (SubmissionServiceGrpc.class) {
        if ((getRetrySubmissionMethod = SubmissionServiceGrpc.getRetrySubmissionMethod) == null) {
          SubmissionServiceGrpc.getRetrySubmissionMethod = getRetrySubmissionMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.RetrySubmissionRequest, io.github.vidscore.v1.RetrySubmissionResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "RetrySubmission"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.RetrySubmissionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.RetrySubmissionResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SubmissionServiceMethodDescriptorSupplier("RetrySubmission"))
              .build();
        }
      }
    }
    return getRetrySubmissionMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.WatchSubmissionRequest,
      io.github.vidscore.v1.WatchSubmissionResponse> getWatchSubmissionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "WatchSubmission",
      requestType = io.github.vidscore.v1.WatchSubmissionRequest.class,
      responseType = io.github.vidscore.v1.WatchSubmissionResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.WatchSubmissionRequest,
      io.github.vidscore.v1.WatchSubmissionResponse> getWatchSubmissionMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.WatchSubmissionRequest, io.github.vidscore.v1.WatchSubmissionResponse> getWatchSubmissionMethod;
    if ((getWatchSubmissionMethod = SubmissionServiceGrpc.getWatchSubmissionMethod) == null) {
      synchronized (SubmissionServiceGrpc.class) {
        if ((getWatchSubmissionMethod = SubmissionServiceGrpc.getWatchSubmissionMethod) == null) {
          SubmissionServiceGrpc.getWatchSubmissionMethod = getWatchSubmissionMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.WatchSubmissionRequest, io.github.vidscore.v1.WatchSubmissionResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "WatchSubmission"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.WatchSubmissionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.WatchSubmissionResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SubmissionServiceMethodDescriptorSupplier("WatchSubmission"))
              .build();
        }
      }
    }
    return getWatchSubmissionMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.github.vidscore.v1.ListScoresRequest,
      io.github.vidscore.v1.ListScoresResponse> getListScoresMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListScores",
      requestType = io.github.vidscore.v1.ListScoresRequest.class,
      responseType = io.github.vidscore.v1.ListScoresResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.github.vidscore.v1.ListScoresRequest,
      io.github.vidscore.v1.ListScoresResponse> getListScoresMethod() {
    io.grpc.MethodDescriptor<io.github.vidscore.v1.ListScoresRequest, io.github.vidscore.v1.ListScoresResponse> getListScoresMethod;
    if ((getListScoresMethod = SubmissionServiceGrpc.getListScoresMethod) == null) {
      synchronized (SubmissionServiceGrpc.class) {
        if ((getListScoresMethod = SubmissionServiceGrpc.getListScoresMethod) == null) {
          SubmissionServiceGrpc.getListScoresMethod = getListScoresMethod =
              io.grpc.MethodDescriptor.<io.github.vidscore.v1.ListScoresRequest, io.github.vidscore.v1.ListScoresResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListScores"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.ListScoresRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.github.vidscore.v1.ListScoresResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SubmissionServiceMethodDescriptorSupplier("ListScores"))
              .build();
        }
      }
    }
    return getListScoresMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static SubmissionServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<SubmissionServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<SubmissionServiceStub>() {
        @java.lang.Override
        public SubmissionServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new SubmissionServiceStub(channel, callOptions);
        }
      };
    return SubmissionServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static SubmissionServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<SubmissionServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<SubmissionServiceBlockingV2Stub>() {
        @java.lang.Override
        public SubmissionServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new SubmissionServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return SubmissionServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static SubmissionServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<SubmissionServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<SubmissionServiceBlockingStub>() {
        @java.lang.Override
        public SubmissionServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new SubmissionServiceBlockingStub(channel, callOptions);
        }
      };
    return SubmissionServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static SubmissionServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<SubmissionServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<SubmissionServiceFutureStub>() {
        @java.lang.Override
        public SubmissionServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new SubmissionServiceFutureStub(channel, callOptions);
        }
      };
    return SubmissionServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * SubmissionService takes in detections and shows what became of them.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * CreateSubmission opens a submission of the caller's team. It is a draft until its first frames
     * are appended: it is not listed, cannot be sealed, takes no place in the team's quota and is
     * deleted after the policy's `quiet_timeout`.
     * </pre>
     */
    default void createSubmission(io.github.vidscore.v1.CreateSubmissionRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.CreateSubmissionResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCreateSubmissionMethod(), responseObserver);
    }

    /**
     * <pre>
     * GetSubmission shows one. A team sees its own, an organiser all.
     * </pre>
     */
    default void getSubmission(io.github.vidscore.v1.GetSubmissionRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.GetSubmissionResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetSubmissionMethod(), responseObserver);
    }

    /**
     * <pre>
     * ListSubmissions lists the submissions that have frames and that the caller may see, newest
     * first.
     * </pre>
     */
    default void listSubmissions(io.github.vidscore.v1.ListSubmissionsRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.ListSubmissionsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListSubmissionsMethod(), responseObserver);
    }

    /**
     * <pre>
     * OpenStream opens an append stream and raises its epoch: older writers are shut out.
     * </pre>
     */
    default void openStream(io.github.vidscore.v1.OpenStreamRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.OpenStreamResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getOpenStreamMethod(), responseObserver);
    }

    /**
     * <pre>
     * AppendFrames appends whole frames to an opened stream. Each request is answered, in order,
     * once its frames are durable.
     * </pre>
     */
    default io.grpc.stub.StreamObserver<io.github.vidscore.v1.AppendFramesRequest> appendFrames(
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.AppendFramesResponse> responseObserver) {
      return io.grpc.stub.ServerCalls.asyncUnimplementedStreamingCall(getAppendFramesMethod(), responseObserver);
    }

    /**
     * <pre>
     * AppendBatch means what one request of AppendFrames means.
     * </pre>
     */
    default void appendBatch(io.github.vidscore.v1.AppendBatchRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.AppendBatchResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getAppendBatchMethod(), responseObserver);
    }

    /**
     * <pre>
     * CheckDetections says whether detections would be taken, and creates nothing. Its errors are
     * those of CreateSubmission and AppendBatch.
     * </pre>
     */
    default void checkDetections(io.github.vidscore.v1.CheckDetectionsRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.CheckDetectionsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCheckDetectionsMethod(), responseObserver);
    }

    /**
     * <pre>
     * SealSubmission ends all streams of a submission; it is scored then. FAILED_PRECONDITION with
     * the reason NO_FRAMES where nothing was appended.
     * </pre>
     */
    default void sealSubmission(io.github.vidscore.v1.SealSubmissionRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.SealSubmissionResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getSealSubmissionMethod(), responseObserver);
    }

    /**
     * <pre>
     * CancelSubmission gives a submission up.
     * </pre>
     */
    default void cancelSubmission(io.github.vidscore.v1.CancelSubmissionRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.CancelSubmissionResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCancelSubmissionMethod(), responseObserver);
    }

    /**
     * <pre>
     * RetrySubmission scores a submission again that has failed; it is sealed then, as it was, and
     * takes no further place in the team's quota. FAILED_PRECONDITION with the reason NOT_FAILED
     * where it stands elsewhere.
     * </pre>
     */
    default void retrySubmission(io.github.vidscore.v1.RetrySubmissionRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.RetrySubmissionResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getRetrySubmissionMethod(), responseObserver);
    }

    /**
     * <pre>
     * WatchSubmission sends the submission as it is and whenever it changes, until it has ended.
     * </pre>
     */
    default void watchSubmission(io.github.vidscore.v1.WatchSubmissionRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.WatchSubmissionResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getWatchSubmissionMethod(), responseObserver);
    }

    /**
     * <pre>
     * ListScores lists what the caller may see of a submission's scores, newest first.
     * </pre>
     */
    default void listScores(io.github.vidscore.v1.ListScoresRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.ListScoresResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListScoresMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service SubmissionService.
   * <pre>
   * SubmissionService takes in detections and shows what became of them.
   * </pre>
   */
  public static abstract class SubmissionServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return SubmissionServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service SubmissionService.
   * <pre>
   * SubmissionService takes in detections and shows what became of them.
   * </pre>
   */
  public static final class SubmissionServiceStub
      extends io.grpc.stub.AbstractAsyncStub<SubmissionServiceStub> {
    private SubmissionServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected SubmissionServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new SubmissionServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * CreateSubmission opens a submission of the caller's team. It is a draft until its first frames
     * are appended: it is not listed, cannot be sealed, takes no place in the team's quota and is
     * deleted after the policy's `quiet_timeout`.
     * </pre>
     */
    public void createSubmission(io.github.vidscore.v1.CreateSubmissionRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.CreateSubmissionResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCreateSubmissionMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * GetSubmission shows one. A team sees its own, an organiser all.
     * </pre>
     */
    public void getSubmission(io.github.vidscore.v1.GetSubmissionRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.GetSubmissionResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetSubmissionMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * ListSubmissions lists the submissions that have frames and that the caller may see, newest
     * first.
     * </pre>
     */
    public void listSubmissions(io.github.vidscore.v1.ListSubmissionsRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.ListSubmissionsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListSubmissionsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * OpenStream opens an append stream and raises its epoch: older writers are shut out.
     * </pre>
     */
    public void openStream(io.github.vidscore.v1.OpenStreamRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.OpenStreamResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getOpenStreamMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * AppendFrames appends whole frames to an opened stream. Each request is answered, in order,
     * once its frames are durable.
     * </pre>
     */
    public io.grpc.stub.StreamObserver<io.github.vidscore.v1.AppendFramesRequest> appendFrames(
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.AppendFramesResponse> responseObserver) {
      return io.grpc.stub.ClientCalls.asyncBidiStreamingCall(
          getChannel().newCall(getAppendFramesMethod(), getCallOptions()), responseObserver);
    }

    /**
     * <pre>
     * AppendBatch means what one request of AppendFrames means.
     * </pre>
     */
    public void appendBatch(io.github.vidscore.v1.AppendBatchRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.AppendBatchResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getAppendBatchMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * CheckDetections says whether detections would be taken, and creates nothing. Its errors are
     * those of CreateSubmission and AppendBatch.
     * </pre>
     */
    public void checkDetections(io.github.vidscore.v1.CheckDetectionsRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.CheckDetectionsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCheckDetectionsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * SealSubmission ends all streams of a submission; it is scored then. FAILED_PRECONDITION with
     * the reason NO_FRAMES where nothing was appended.
     * </pre>
     */
    public void sealSubmission(io.github.vidscore.v1.SealSubmissionRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.SealSubmissionResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getSealSubmissionMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * CancelSubmission gives a submission up.
     * </pre>
     */
    public void cancelSubmission(io.github.vidscore.v1.CancelSubmissionRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.CancelSubmissionResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCancelSubmissionMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * RetrySubmission scores a submission again that has failed; it is sealed then, as it was, and
     * takes no further place in the team's quota. FAILED_PRECONDITION with the reason NOT_FAILED
     * where it stands elsewhere.
     * </pre>
     */
    public void retrySubmission(io.github.vidscore.v1.RetrySubmissionRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.RetrySubmissionResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getRetrySubmissionMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * WatchSubmission sends the submission as it is and whenever it changes, until it has ended.
     * </pre>
     */
    public void watchSubmission(io.github.vidscore.v1.WatchSubmissionRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.WatchSubmissionResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncServerStreamingCall(
          getChannel().newCall(getWatchSubmissionMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * ListScores lists what the caller may see of a submission's scores, newest first.
     * </pre>
     */
    public void listScores(io.github.vidscore.v1.ListScoresRequest request,
        io.grpc.stub.StreamObserver<io.github.vidscore.v1.ListScoresResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListScoresMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service SubmissionService.
   * <pre>
   * SubmissionService takes in detections and shows what became of them.
   * </pre>
   */
  public static final class SubmissionServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<SubmissionServiceBlockingV2Stub> {
    private SubmissionServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected SubmissionServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new SubmissionServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * CreateSubmission opens a submission of the caller's team. It is a draft until its first frames
     * are appended: it is not listed, cannot be sealed, takes no place in the team's quota and is
     * deleted after the policy's `quiet_timeout`.
     * </pre>
     */
    public io.github.vidscore.v1.CreateSubmissionResponse createSubmission(io.github.vidscore.v1.CreateSubmissionRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCreateSubmissionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * GetSubmission shows one. A team sees its own, an organiser all.
     * </pre>
     */
    public io.github.vidscore.v1.GetSubmissionResponse getSubmission(io.github.vidscore.v1.GetSubmissionRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetSubmissionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListSubmissions lists the submissions that have frames and that the caller may see, newest
     * first.
     * </pre>
     */
    public io.github.vidscore.v1.ListSubmissionsResponse listSubmissions(io.github.vidscore.v1.ListSubmissionsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListSubmissionsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * OpenStream opens an append stream and raises its epoch: older writers are shut out.
     * </pre>
     */
    public io.github.vidscore.v1.OpenStreamResponse openStream(io.github.vidscore.v1.OpenStreamRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getOpenStreamMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * AppendFrames appends whole frames to an opened stream. Each request is answered, in order,
     * once its frames are durable.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<io.github.vidscore.v1.AppendFramesRequest, io.github.vidscore.v1.AppendFramesResponse>
        appendFrames() {
      return io.grpc.stub.ClientCalls.blockingBidiStreamingCall(
          getChannel(), getAppendFramesMethod(), getCallOptions());
    }

    /**
     * <pre>
     * AppendBatch means what one request of AppendFrames means.
     * </pre>
     */
    public io.github.vidscore.v1.AppendBatchResponse appendBatch(io.github.vidscore.v1.AppendBatchRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getAppendBatchMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * CheckDetections says whether detections would be taken, and creates nothing. Its errors are
     * those of CreateSubmission and AppendBatch.
     * </pre>
     */
    public io.github.vidscore.v1.CheckDetectionsResponse checkDetections(io.github.vidscore.v1.CheckDetectionsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCheckDetectionsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * SealSubmission ends all streams of a submission; it is scored then. FAILED_PRECONDITION with
     * the reason NO_FRAMES where nothing was appended.
     * </pre>
     */
    public io.github.vidscore.v1.SealSubmissionResponse sealSubmission(io.github.vidscore.v1.SealSubmissionRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getSealSubmissionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * CancelSubmission gives a submission up.
     * </pre>
     */
    public io.github.vidscore.v1.CancelSubmissionResponse cancelSubmission(io.github.vidscore.v1.CancelSubmissionRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCancelSubmissionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * RetrySubmission scores a submission again that has failed; it is sealed then, as it was, and
     * takes no further place in the team's quota. FAILED_PRECONDITION with the reason NOT_FAILED
     * where it stands elsewhere.
     * </pre>
     */
    public io.github.vidscore.v1.RetrySubmissionResponse retrySubmission(io.github.vidscore.v1.RetrySubmissionRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getRetrySubmissionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * WatchSubmission sends the submission as it is and whenever it changes, until it has ended.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<?, io.github.vidscore.v1.WatchSubmissionResponse>
        watchSubmission(io.github.vidscore.v1.WatchSubmissionRequest request) {
      return io.grpc.stub.ClientCalls.blockingV2ServerStreamingCall(
          getChannel(), getWatchSubmissionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListScores lists what the caller may see of a submission's scores, newest first.
     * </pre>
     */
    public io.github.vidscore.v1.ListScoresResponse listScores(io.github.vidscore.v1.ListScoresRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListScoresMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service SubmissionService.
   * <pre>
   * SubmissionService takes in detections and shows what became of them.
   * </pre>
   */
  public static final class SubmissionServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<SubmissionServiceBlockingStub> {
    private SubmissionServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected SubmissionServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new SubmissionServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * CreateSubmission opens a submission of the caller's team. It is a draft until its first frames
     * are appended: it is not listed, cannot be sealed, takes no place in the team's quota and is
     * deleted after the policy's `quiet_timeout`.
     * </pre>
     */
    public io.github.vidscore.v1.CreateSubmissionResponse createSubmission(io.github.vidscore.v1.CreateSubmissionRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCreateSubmissionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * GetSubmission shows one. A team sees its own, an organiser all.
     * </pre>
     */
    public io.github.vidscore.v1.GetSubmissionResponse getSubmission(io.github.vidscore.v1.GetSubmissionRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetSubmissionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListSubmissions lists the submissions that have frames and that the caller may see, newest
     * first.
     * </pre>
     */
    public io.github.vidscore.v1.ListSubmissionsResponse listSubmissions(io.github.vidscore.v1.ListSubmissionsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListSubmissionsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * OpenStream opens an append stream and raises its epoch: older writers are shut out.
     * </pre>
     */
    public io.github.vidscore.v1.OpenStreamResponse openStream(io.github.vidscore.v1.OpenStreamRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getOpenStreamMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * AppendBatch means what one request of AppendFrames means.
     * </pre>
     */
    public io.github.vidscore.v1.AppendBatchResponse appendBatch(io.github.vidscore.v1.AppendBatchRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getAppendBatchMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * CheckDetections says whether detections would be taken, and creates nothing. Its errors are
     * those of CreateSubmission and AppendBatch.
     * </pre>
     */
    public io.github.vidscore.v1.CheckDetectionsResponse checkDetections(io.github.vidscore.v1.CheckDetectionsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCheckDetectionsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * SealSubmission ends all streams of a submission; it is scored then. FAILED_PRECONDITION with
     * the reason NO_FRAMES where nothing was appended.
     * </pre>
     */
    public io.github.vidscore.v1.SealSubmissionResponse sealSubmission(io.github.vidscore.v1.SealSubmissionRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getSealSubmissionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * CancelSubmission gives a submission up.
     * </pre>
     */
    public io.github.vidscore.v1.CancelSubmissionResponse cancelSubmission(io.github.vidscore.v1.CancelSubmissionRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCancelSubmissionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * RetrySubmission scores a submission again that has failed; it is sealed then, as it was, and
     * takes no further place in the team's quota. FAILED_PRECONDITION with the reason NOT_FAILED
     * where it stands elsewhere.
     * </pre>
     */
    public io.github.vidscore.v1.RetrySubmissionResponse retrySubmission(io.github.vidscore.v1.RetrySubmissionRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getRetrySubmissionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * WatchSubmission sends the submission as it is and whenever it changes, until it has ended.
     * </pre>
     */
    public java.util.Iterator<io.github.vidscore.v1.WatchSubmissionResponse> watchSubmission(
        io.github.vidscore.v1.WatchSubmissionRequest request) {
      return io.grpc.stub.ClientCalls.blockingServerStreamingCall(
          getChannel(), getWatchSubmissionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListScores lists what the caller may see of a submission's scores, newest first.
     * </pre>
     */
    public io.github.vidscore.v1.ListScoresResponse listScores(io.github.vidscore.v1.ListScoresRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListScoresMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service SubmissionService.
   * <pre>
   * SubmissionService takes in detections and shows what became of them.
   * </pre>
   */
  public static final class SubmissionServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<SubmissionServiceFutureStub> {
    private SubmissionServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected SubmissionServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new SubmissionServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * CreateSubmission opens a submission of the caller's team. It is a draft until its first frames
     * are appended: it is not listed, cannot be sealed, takes no place in the team's quota and is
     * deleted after the policy's `quiet_timeout`.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.github.vidscore.v1.CreateSubmissionResponse> createSubmission(
        io.github.vidscore.v1.CreateSubmissionRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCreateSubmissionMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * GetSubmission shows one. A team sees its own, an organiser all.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.github.vidscore.v1.GetSubmissionResponse> getSubmission(
        io.github.vidscore.v1.GetSubmissionRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetSubmissionMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * ListSubmissions lists the submissions that have frames and that the caller may see, newest
     * first.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.github.vidscore.v1.ListSubmissionsResponse> listSubmissions(
        io.github.vidscore.v1.ListSubmissionsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListSubmissionsMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * OpenStream opens an append stream and raises its epoch: older writers are shut out.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.github.vidscore.v1.OpenStreamResponse> openStream(
        io.github.vidscore.v1.OpenStreamRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getOpenStreamMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * AppendBatch means what one request of AppendFrames means.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.github.vidscore.v1.AppendBatchResponse> appendBatch(
        io.github.vidscore.v1.AppendBatchRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getAppendBatchMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * CheckDetections says whether detections would be taken, and creates nothing. Its errors are
     * those of CreateSubmission and AppendBatch.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.github.vidscore.v1.CheckDetectionsResponse> checkDetections(
        io.github.vidscore.v1.CheckDetectionsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCheckDetectionsMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * SealSubmission ends all streams of a submission; it is scored then. FAILED_PRECONDITION with
     * the reason NO_FRAMES where nothing was appended.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.github.vidscore.v1.SealSubmissionResponse> sealSubmission(
        io.github.vidscore.v1.SealSubmissionRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getSealSubmissionMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * CancelSubmission gives a submission up.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.github.vidscore.v1.CancelSubmissionResponse> cancelSubmission(
        io.github.vidscore.v1.CancelSubmissionRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCancelSubmissionMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * RetrySubmission scores a submission again that has failed; it is sealed then, as it was, and
     * takes no further place in the team's quota. FAILED_PRECONDITION with the reason NOT_FAILED
     * where it stands elsewhere.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.github.vidscore.v1.RetrySubmissionResponse> retrySubmission(
        io.github.vidscore.v1.RetrySubmissionRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getRetrySubmissionMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * ListScores lists what the caller may see of a submission's scores, newest first.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.github.vidscore.v1.ListScoresResponse> listScores(
        io.github.vidscore.v1.ListScoresRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListScoresMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_CREATE_SUBMISSION = 0;
  private static final int METHODID_GET_SUBMISSION = 1;
  private static final int METHODID_LIST_SUBMISSIONS = 2;
  private static final int METHODID_OPEN_STREAM = 3;
  private static final int METHODID_APPEND_BATCH = 4;
  private static final int METHODID_CHECK_DETECTIONS = 5;
  private static final int METHODID_SEAL_SUBMISSION = 6;
  private static final int METHODID_CANCEL_SUBMISSION = 7;
  private static final int METHODID_RETRY_SUBMISSION = 8;
  private static final int METHODID_WATCH_SUBMISSION = 9;
  private static final int METHODID_LIST_SCORES = 10;
  private static final int METHODID_APPEND_FRAMES = 11;

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
        case METHODID_CREATE_SUBMISSION:
          serviceImpl.createSubmission((io.github.vidscore.v1.CreateSubmissionRequest) request,
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.CreateSubmissionResponse>) responseObserver);
          break;
        case METHODID_GET_SUBMISSION:
          serviceImpl.getSubmission((io.github.vidscore.v1.GetSubmissionRequest) request,
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.GetSubmissionResponse>) responseObserver);
          break;
        case METHODID_LIST_SUBMISSIONS:
          serviceImpl.listSubmissions((io.github.vidscore.v1.ListSubmissionsRequest) request,
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.ListSubmissionsResponse>) responseObserver);
          break;
        case METHODID_OPEN_STREAM:
          serviceImpl.openStream((io.github.vidscore.v1.OpenStreamRequest) request,
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.OpenStreamResponse>) responseObserver);
          break;
        case METHODID_APPEND_BATCH:
          serviceImpl.appendBatch((io.github.vidscore.v1.AppendBatchRequest) request,
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.AppendBatchResponse>) responseObserver);
          break;
        case METHODID_CHECK_DETECTIONS:
          serviceImpl.checkDetections((io.github.vidscore.v1.CheckDetectionsRequest) request,
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.CheckDetectionsResponse>) responseObserver);
          break;
        case METHODID_SEAL_SUBMISSION:
          serviceImpl.sealSubmission((io.github.vidscore.v1.SealSubmissionRequest) request,
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.SealSubmissionResponse>) responseObserver);
          break;
        case METHODID_CANCEL_SUBMISSION:
          serviceImpl.cancelSubmission((io.github.vidscore.v1.CancelSubmissionRequest) request,
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.CancelSubmissionResponse>) responseObserver);
          break;
        case METHODID_RETRY_SUBMISSION:
          serviceImpl.retrySubmission((io.github.vidscore.v1.RetrySubmissionRequest) request,
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.RetrySubmissionResponse>) responseObserver);
          break;
        case METHODID_WATCH_SUBMISSION:
          serviceImpl.watchSubmission((io.github.vidscore.v1.WatchSubmissionRequest) request,
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.WatchSubmissionResponse>) responseObserver);
          break;
        case METHODID_LIST_SCORES:
          serviceImpl.listScores((io.github.vidscore.v1.ListScoresRequest) request,
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.ListScoresResponse>) responseObserver);
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
        case METHODID_APPEND_FRAMES:
          return (io.grpc.stub.StreamObserver<Req>) serviceImpl.appendFrames(
              (io.grpc.stub.StreamObserver<io.github.vidscore.v1.AppendFramesResponse>) responseObserver);
        default:
          throw new AssertionError();
      }
    }
  }

  public static final io.grpc.ServerServiceDefinition bindService(AsyncService service) {
    return io.grpc.ServerServiceDefinition.builder(getServiceDescriptor())
        .addMethod(
          getCreateSubmissionMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.github.vidscore.v1.CreateSubmissionRequest,
              io.github.vidscore.v1.CreateSubmissionResponse>(
                service, METHODID_CREATE_SUBMISSION)))
        .addMethod(
          getGetSubmissionMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.github.vidscore.v1.GetSubmissionRequest,
              io.github.vidscore.v1.GetSubmissionResponse>(
                service, METHODID_GET_SUBMISSION)))
        .addMethod(
          getListSubmissionsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.github.vidscore.v1.ListSubmissionsRequest,
              io.github.vidscore.v1.ListSubmissionsResponse>(
                service, METHODID_LIST_SUBMISSIONS)))
        .addMethod(
          getOpenStreamMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.github.vidscore.v1.OpenStreamRequest,
              io.github.vidscore.v1.OpenStreamResponse>(
                service, METHODID_OPEN_STREAM)))
        .addMethod(
          getAppendFramesMethod(),
          io.grpc.stub.ServerCalls.asyncBidiStreamingCall(
            new MethodHandlers<
              io.github.vidscore.v1.AppendFramesRequest,
              io.github.vidscore.v1.AppendFramesResponse>(
                service, METHODID_APPEND_FRAMES)))
        .addMethod(
          getAppendBatchMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.github.vidscore.v1.AppendBatchRequest,
              io.github.vidscore.v1.AppendBatchResponse>(
                service, METHODID_APPEND_BATCH)))
        .addMethod(
          getCheckDetectionsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.github.vidscore.v1.CheckDetectionsRequest,
              io.github.vidscore.v1.CheckDetectionsResponse>(
                service, METHODID_CHECK_DETECTIONS)))
        .addMethod(
          getSealSubmissionMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.github.vidscore.v1.SealSubmissionRequest,
              io.github.vidscore.v1.SealSubmissionResponse>(
                service, METHODID_SEAL_SUBMISSION)))
        .addMethod(
          getCancelSubmissionMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.github.vidscore.v1.CancelSubmissionRequest,
              io.github.vidscore.v1.CancelSubmissionResponse>(
                service, METHODID_CANCEL_SUBMISSION)))
        .addMethod(
          getRetrySubmissionMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.github.vidscore.v1.RetrySubmissionRequest,
              io.github.vidscore.v1.RetrySubmissionResponse>(
                service, METHODID_RETRY_SUBMISSION)))
        .addMethod(
          getWatchSubmissionMethod(),
          io.grpc.stub.ServerCalls.asyncServerStreamingCall(
            new MethodHandlers<
              io.github.vidscore.v1.WatchSubmissionRequest,
              io.github.vidscore.v1.WatchSubmissionResponse>(
                service, METHODID_WATCH_SUBMISSION)))
        .addMethod(
          getListScoresMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.github.vidscore.v1.ListScoresRequest,
              io.github.vidscore.v1.ListScoresResponse>(
                service, METHODID_LIST_SCORES)))
        .build();
  }

  private static abstract class SubmissionServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    SubmissionServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return io.github.vidscore.v1.SubmissionServiceProto.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("SubmissionService");
    }
  }

  private static final class SubmissionServiceFileDescriptorSupplier
      extends SubmissionServiceBaseDescriptorSupplier {
    SubmissionServiceFileDescriptorSupplier() {}
  }

  private static final class SubmissionServiceMethodDescriptorSupplier
      extends SubmissionServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    SubmissionServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (SubmissionServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new SubmissionServiceFileDescriptorSupplier())
              .addMethod(getCreateSubmissionMethod())
              .addMethod(getGetSubmissionMethod())
              .addMethod(getListSubmissionsMethod())
              .addMethod(getOpenStreamMethod())
              .addMethod(getAppendFramesMethod())
              .addMethod(getAppendBatchMethod())
              .addMethod(getCheckDetectionsMethod())
              .addMethod(getSealSubmissionMethod())
              .addMethod(getCancelSubmissionMethod())
              .addMethod(getRetrySubmissionMethod())
              .addMethod(getWatchSubmissionMethod())
              .addMethod(getListScoresMethod())
              .build();
        }
      }
    }
    return result;
  }
}
