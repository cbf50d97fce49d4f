/**
 * Java client of vidscore, the evaluation server for video detection benchmarks.
 *
 * <p>{@link io.github.vidscore.client.VidscoreClient} is where everything begins. Everything that
 * can go wrong is a {@link io.github.vidscore.client.VidscoreException}.
 *
 * <h2>Threads</h2>
 *
 * <p>A client and its streams may be used from any number of threads; frames of one thread are sent
 * in its order. Each stream has one daemon thread that sends and ends with the stream. Callbacks
 * are called on threads of grpc, one at a time for each stream, and should be quick. What a
 * callback must not do is wait for its own stream, by finish, flush or seal; closing the stream is
 * allowed. A method that waits ends with {@link io.github.vidscore.client.CallCancelledException}
 * where its thread is interrupted.
 */
package io.github.vidscore.client;
