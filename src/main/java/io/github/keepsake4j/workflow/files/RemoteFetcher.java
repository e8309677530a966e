package io.github.keepsake4j.workflow.files;

import io.github.keepsake4j.log.RecentlyUsed;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Fetches files from the open web. Redirects are followed one by one, because each of them may point to an internal
 * address. The connection goes to an address that was checked. Only where a proxy connects, or the host is allowed by its name
 * alone, the name is looked up by others. What failed is not tried again for some minutes. Thread-safe.
 */
final class RemoteFetcher {

    /** The result of a fetch, which is never compared. The MIME type is empty if the server did not send one. */
    @SuppressWarnings("ArrayRecordComponent")
    record Fetched(byte[] bytes, String mimeType) {}

    private static final int MOST_REDIRECTS = 5;
    private static final Duration CONNECT = Duration.ofSeconds(5);
    private static final Duration FAILED = Duration.ofMinutes(5);
    private static final int RECENT = 1_000;

    private final RemoteUrls remote;
    private final LongSupplier nanos;
    private final DirectHttp direct;
    private final HttpClient client;

    /** When servers failed, or URLs of servers that answer. */
    private final RecentlyUsed<String, Long> failures = new RecentlyUsed<>(RECENT);

    RemoteFetcher(RemoteUrls remote) {
        this(remote, DirectHttp::connect, System::nanoTime);
    }

    /** Creates a fetcher with connections and a clock of a test. */
    RemoteFetcher(RemoteUrls remote, DirectHttp.Connector connector, LongSupplier nanos) {
        this.remote = remote;
        this.nanos = nanos;
        this.direct = new DirectHttp(connector, nanos);
        this.client = HttpClient.newBuilder()
                .followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(CONNECT)
                .build();
    }

    LongSupplier nanos() {
        return nanos;
    }

    /**
     * Returns the content, or empty if this URL or a URL that it redirects to is refused.
     *
     * @param end when it must have ended, by the clock
     */
    Optional<Fetched> fetch(URI url, long maxBytes, long end) {
        if (hasFailed(url.toString())) {
            throw failure("it failed some minutes ago");
        }
        URI at = url;
        for (int hop = 0; hop <= MOST_REDIRECTS; hop++) {
            List<InetAddress> addresses = remote.checked(at);
            if (addresses == null) {
                return Optional.empty();
            }
            DirectHttp.Answer answer = get(at, addresses, maxBytes, end);
            String location = answer.headers().get("location");
            if (answer.status() >= 300 && answer.status() < 400 && location != null) {
                at = at.resolve(location);
            } else if (answer.status() == 200) {
                String type = answer.headers().getOrDefault("content-type", "");
                return Optional.of(new Fetched(
                        answer.body(), type.split(";", -1)[0].strip().toLowerCase(Locale.ROOT)));
            } else {
                failures.put(url.toString(), nanos.getAsLong());
                throw failure("the response's status is " + answer.status());
            }
        }
        throw failure("there are more than " + MOST_REDIRECTS + " redirects");
    }

    private boolean hasFailed(String what) {
        Long failed = failures.get(what);
        return failed != null && nanos.getAsLong() - failed < FAILED.toNanos();
    }

    private static UncheckedIOException failure(String why) {
        return new UncheckedIOException(new IOException(why));
    }

    private DirectHttp.Answer get(URI url, List<InetAddress> addresses, long maxBytes, long end) {
        String server = url.getScheme() + "://" + url.getAuthority();
        if (hasFailed(server)) {
            throw failure("its server failed some minutes ago");
        }
        try {
            return addresses.isEmpty() || isProxied(url)
                    ? byName(url, maxBytes, end)
                    : direct.get(url, addresses, maxBytes, end);
        } catch (IOException e) {
            failures.put(server, nanos.getAsLong());
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isProxied(URI url) {
        ProxySelector proxies = ProxySelector.getDefault();
        return proxies != null && proxies.select(url).stream().anyMatch(proxy -> proxy.type() != Proxy.Type.DIRECT);
    }

    private DirectHttp.Answer byName(URI url, long maxBytes, long end) throws IOException {
        Duration left = Duration.ofNanos(Math.max(1, end - nanos.getAsLong()));
        HttpRequest request = HttpRequest.newBuilder(url).timeout(left).build();
        CompletableFuture<HttpResponse<byte[]>> answer = client.sendAsync(request, info -> new Bounded(maxBytes));
        try {
            HttpResponse<byte[]> got = answer.get(left.toNanos(), TimeUnit.NANOSECONDS);
            Map<String, String> headers = new HashMap<>();
            got.headers().map().forEach((name, values) -> headers.put(name.toLowerCase(Locale.ROOT), values.get(0)));
            return new DirectHttp.Answer(got.statusCode(), headers, got.body());
        } catch (ExecutionException | TimeoutException e) {
            throw new IOException("the file cannot be fetched", e);
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
