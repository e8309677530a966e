package io.github.keepsake4j.log.s3;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.http.SdkHttpRequest;

/** Counts the requests that the client sends, including retries, and the answers by their status. */
final class Wire implements ExecutionInterceptor {

    private final Map<String, Integer> counts = new ConcurrentHashMap<>();

    @Override
    public void beforeTransmission(Context.BeforeTransmission context, ExecutionAttributes attributes) {
        SdkHttpRequest request = context.httpRequest();
        boolean list = request.firstMatchingRawQueryParameter("list-type").isPresent();
        counts.merge(list ? "LIST" : request.method().name(), 1, Integer::sum);
    }

    @Override
    public void afterTransmission(Context.AfterTransmission context, ExecutionAttributes attributes) {
        counts.merge(Integer.toString(context.httpResponse().statusCode()), 1, Integer::sum);
    }

    /**
     * Returns the number of requests or answers of a kind: {@code PUT}, {@code GET}, {@code LIST}, {@code DELETE}, or a
     * status such as {@code 412}.
     */
    int count(String kind) {
        return counts.getOrDefault(kind, 0);
    }

    @Override
    public String toString() {
        return count("PUT") + " PUT, " + count("GET") + " GET, " + count("412") + " lost races, " + count("304")
                + " unchanged, " + (count("500") + count("503")) + " errors";
    }
}
