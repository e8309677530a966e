package io.github.keepsake4j.workflow.files;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Fetches files from the open web. Redirects are followed one by one, because each of them may point to an internal
 * address. The connection uses the address that was checked, because the JVM caches the result of a name lookup (for 30
 * seconds by default).
 */
final class RemoteFetcher {

    /** The result of a fetch, which is never compared. The MIME type is empty if the server did not send one. */
    @SuppressWarnings("ArrayRecordComponent")
    record Fetched(byte[] bytes, String mimeType) {}

    private static final int MOST_REDIRECTS = 5;
    private static final Duration CONNECT = Duration.ofSeconds(5);
    private static final Duration WHOLE = Duration.ofSeconds(15);

    private final RemoteUrls remote;
    private final Duration whole;
    private final HttpClient client;

    RemoteFetcher(RemoteUrls remote) {
        this(remote, WHOLE);
    }

    /** Creates a fetcher with a time limit for a whole fetch, including redirects. For tests. */
    RemoteFetcher(RemoteUrls remote, Duration whole) {
        this.remote = remote;
        this.whole = whole;
        this.client = HttpClient.newBuilder()
                .followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(CONNECT)
                .build();
    }

    /** Returns the content, or empty if this URL or a URL that it redirects to is refused. */
    Optional<Fetched> fetch(URI url, long maxBytes) {
        URI at = url;
        long end = System.nanoTime() + whole.toNanos();
        for (int hop = 0; hop <= MOST_REDIRECTS; hop++) {
            if (!remote.isAllowed(at)) {
                return Optional.empty();
            }
            HttpResponse<byte[]> answer = get(at, maxBytes, end);
            Optional<String> location = answer.headers().firstValue("location");
            int status = answer.statusCode();
            if (status >= 300 && status < 400 && location.isPresent()) {
                at = at.resolve(location.get());
            } else if (status == 200) {
                String type = answer.headers().firstValue("content-type").orElse("");
                return Optional.of(new Fetched(
                        answer.body(), type.split(";", -1)[0].strip().toLowerCase(Locale.ROOT)));
            } else {
                throw new UncheckedIOException(new IOException("the response's status is " + status));
            }
        }
        throw new UncheckedIOException(new IOException("there are more than " + MOST_REDIRECTS + " redirects"));
    }

    private HttpResponse<byte[]> get(URI url, long maxBytes, long end) {
        Duration left = Duration.ofNanos(Math.max(1, end - System.nanoTime()));
        HttpRequest request = HttpRequest.newBuilder(url).timeout(left).build();
        CompletableFuture<HttpResponse<byte[]>> answer = client.sendAsync(request, info -> new Bounded(maxBytes));
        try {
            return answer.get(left.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new UncheckedIOException(new IOException("the file cannot be fetched", e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new UncheckedIOException(new IOException("interrupted", e));
        } finally {
            answer.cancel(true);
        }
    }

    /** Reads a body up to a maximum size. A larger body is discarded. */
    private static final class Bounded implements HttpResponse.BodySubscriber<byte[]> {
        private final HttpResponse.BodySubscriber<byte[]> body = HttpResponse.BodySubscribers.ofByteArray();
        private final long max;
        private long received;
        private Flow.@Nullable Subscription subscription;

        Bounded(long max) {
            this.max = max;
        }

        @Override
        public CompletionStage<byte[]> getBody() {
            return body.getBody();
        }

        @Override
        public void onSubscribe(Flow.Subscription given) {
            subscription = given;
            body.onSubscribe(given);
        }

        @Override
        public void onNext(List<ByteBuffer> buffers) {
            received += buffers.stream().mapToLong(ByteBuffer::remaining).sum();
            if (received <= max) {
                body.onNext(buffers);
                return;
            }
            if (subscription != null) {
                subscription.cancel();
            }
            onError(new IOException("it exceeds the limit of " + max + " bytes"));
        }

        @Override
        public void onError(Throwable failure) {
            body.onError(failure);
        }

        @Override
        public void onComplete() {
            body.onComplete();
        }
    }
}
