/**
 * Java client of vidscore, the evaluation server for video detection benchmarks.
 *
 * <p>Start with {@link io.github.vidscore.client.VidscoreClient}. Every error is a {@link
 * io.github.vidscore.client.VidscoreException}.
 *
 * <h2>Threads</h2>
 *
 * <p>A client and its streams may be used from any number of threads; frames of one thread are sent
 * in its order. Each stream has one daemon thread that sends and ends with the stream. Callbacks
 * are called on threads of grpc, one at a time for each stream, and should be quick. A callback
 * must not wait for its own stream, with finish, flush or seal, or by closing a stream into a
 * submission; it may abort that, and close a stream that scores. A waiting method ends with {@link
 * io.github.vidscore.client.CallCancelledException} if its thread is interrupted.
 */
package io.github.vidscore.client;
