package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.message.Ids;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.core.sync.ResponseTransformer;
import software.amazon.awssdk.http.AbortableInputStream;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.DeleteObjectRequest;
import software.amazon.awssdk.services.s3.model.DeleteObjectResponse;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Request;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.s3.model.S3Object;

/** A bucket as a value: what each request makes of its objects, and a client whose requests a function answers. */
final class ScriptedBucket {

    /** A request. The texts have a character for each byte. */
    record Request(
            String kind, String name, @Nullable String ifMatch, @Nullable String ifNoneMatch, @Nullable String text) {

        boolean isRead() {
            return kind.equals("GET") || kind.equals("LIST");
        }

        @Override
        public String toString() {
            String condition = ifMatch != null ? " if " + ifMatch : ifNoneMatch != null ? " if not " + ifNoneMatch : "";
            return kind + " " + name.replaceAll("[0-9a-f]{16,}", "…") + condition
                    + (kind.equals("PUT") ? " := " + text.replaceAll("\\s+", " ") : "");
        }
    }

    /** An answer: a status, an etag, and the text or the names and etags in turn. */
    record Answer(int status, @Nullable String etag, @Nullable String text, List<String> listed) {

        static Answer of(int status) {
            return new Answer(status, null, null, List.of());
        }
    }

    /** An answer and the objects after the request. */
    record Served(SortedMap<String, String> objects, Answer answer) {}

    private static final Map<String, String> ETAGS = new HashMap<>();

    private ScriptedBucket() {}

    /** As S3 does, an object's etag is a hash of its bytes: the same bytes have the same etag. */
    private static String etag(String text) {
        return ETAGS.computeIfAbsent(text, t -> "\"" + Ids.sha256(t).substring(0, 32) + "\"");
    }

    static Served serve(SortedMap<String, String> objects, Request request) {
        String there = objects.get(request.name());
        String etag = there == null ? null : etag(there);
        return switch (request.kind()) {
            case "GET" ->
                new Served(
                        objects,
                        etag == null
                                ? Answer.of(404)
                                : etag.equals(request.ifNoneMatch())
                                        ? Answer.of(304)
                                        : new Answer(200, etag, there, List.of()));
            case "LIST" -> new Served(objects, list(objects, request));
            case "PUT" -> put(objects, request, etag);
            case "DELETE" ->
                request.ifMatch() != null && etag != null && !request.ifMatch().equals(etag)
                        ? new Served(objects, Answer.of(412))
                        : new Served(with(objects, request.name(), null), Answer.of(204));
            default -> throw new AssertionError(request);
        };
    }

    private static Answer list(SortedMap<String, String> objects, Request request) {
        List<String> listed = objects.entrySet().stream()
                .filter(object -> object.getKey().startsWith(request.name()))
                .filter(object -> request.text() == null || object.getKey().compareTo(request.text()) > 0)
                .flatMap(object -> List.of(object.getKey(), etag(object.getValue())).stream())
                .toList();
        return new Answer(200, null, null, listed);
    }

    private static Served put(SortedMap<String, String> objects, Request request, @Nullable String etag) {
        if (request.ifNoneMatch() != null && etag != null) {
            return new Served(objects, Answer.of(412));
        }
        if (request.ifMatch() != null && !request.ifMatch().equals(etag)) {
            return new Served(objects, Answer.of(etag == null ? 404 : 412));
        }
        return new Served(
                with(objects, request.name(), request.text()), new Answer(200, etag(request.text()), null, List.of()));
    }

    private static SortedMap<String, String> with(
            SortedMap<String, String> objects, String name, @Nullable String text) {
        SortedMap<String, String> changed = new TreeMap<>(objects);
        if (text == null) {
            changed.remove(name);
        } else {
            changed.put(name, text);
        }
        return changed;
    }

    /** Returns a client whose requests a function answers. */
    static S3Client client(Function<Request, Answer> server) {
        return new Client(server);
    }

    private record Client(Function<Request, Answer> server) implements S3Client {

        private Answer ask(Request request) {
            Answer answer = server.apply(request);
            if (answer.status() >= 300) {
                throw S3Exception.builder().statusCode(answer.status()).build();
            }
            return answer;
        }

        @Override
        public <T> T getObject(GetObjectRequest request, ResponseTransformer<GetObjectResponse, T> transformer) {
            Answer answer = ask(new Request("GET", request.key(), null, request.ifNoneMatch(), null));
            byte[] bytes = answer.text().getBytes(StandardCharsets.ISO_8859_1);
            try {
                return transformer.transform(
                        GetObjectResponse.builder().eTag(answer.etag()).build(),
                        AbortableInputStream.create(new ByteArrayInputStream(bytes)));
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }

        @Override
        public PutObjectResponse putObject(PutObjectRequest request, RequestBody body) {
            if (request.key().endsWith("aside/probe")) {
                throw S3Exception.builder().statusCode(412).build();
            }
            try (var in = body.contentStreamProvider().newStream()) {
                String text = new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
                Answer answer = ask(new Request("PUT", request.key(), request.ifMatch(), request.ifNoneMatch(), text));
                return PutObjectResponse.builder().eTag(answer.etag()).build();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }

        @Override
        public DeleteObjectResponse deleteObject(DeleteObjectRequest request) {
            ask(new Request("DELETE", request.key(), request.ifMatch(), null, null));
            return DeleteObjectResponse.builder().build();
        }

        @Override
        public ListObjectsV2Response listObjectsV2(ListObjectsV2Request request) {
            List<String> listed = ask(new Request("LIST", request.prefix(), null, null, request.startAfter()))
                    .listed();
            TreeMap<String, String> etags = new TreeMap<>();
            for (int i = 0; i < listed.size(); i += 2) {
                etags.put(listed.get(i), listed.get(i + 1));
            }
            return ListObjectsV2Response.builder()
                    .isTruncated(false)
                    .contents(etags.entrySet().stream()
                            .map(object -> S3Object.builder()
                                    .key(object.getKey())
                                    .eTag(object.getValue())
                                    .lastModified(Instant.EPOCH)
                                    .build())
                            .toList())
                    .build();
        }

        @Override
        public String serviceName() {
            return "s3";
        }

        @Override
        public void close() {}
    }
}
