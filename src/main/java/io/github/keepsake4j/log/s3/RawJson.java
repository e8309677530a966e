package io.github.keepsake4j.log.s3;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.cfg.MutableConfigOverride;
import com.fasterxml.jackson.databind.deser.std.StdDelegatingDeserializer;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;
import com.fasterxml.jackson.databind.util.StdConverter;
import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.log.View;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Reads and writes JSON whose parts stay unchanged: fields of other programs must survive the changes of this library,
 * to the last character. The mapper is private to this library.
 */
final class RawJson {

    static final JsonMapper MAPPER = JsonMapper.builder(MessageCodec.enclosingFactory())
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            // Python writes numbers that JSON does not have.
            .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .defaultPropertyInclusion(JsonInclude.Value.construct(Include.NON_NULL, Include.ALWAYS))
            .withConfigOverride(boolean.class, RawJson::falseIsMissing)
            .withConfigOverride(List.class, RawJson::emptyIsMissing)
            .withConfigOverride(Map.class, RawJson::emptyIsMissing)
            .addMixIn(View.class, WithoutSequence.class)
            .addModule(new SimpleModule()
                    .addSerializer(Instant.class, ToStringSerializer.instance)
                    .addDeserializer(Instant.class, new StdDelegatingDeserializer<>(new InstantReader())))
            .build();

    private RawJson() {}

    private static void falseIsMissing(MutableConfigOverride type) {
        type.setInclude(JsonInclude.Value.construct(Include.NON_DEFAULT, Include.ALWAYS));
    }

    private static void emptyIsMissing(MutableConfigOverride type) {
        type.setInclude(JsonInclude.Value.construct(Include.NON_EMPTY, Include.ALWAYS));
        type.setSetterInfo(JsonSetter.Value.forValueNulls(Nulls.AS_EMPTY));
    }

    /** A view's sequence is where its anchor is. */
    @JsonIgnoreProperties("anchor_sequence")
    private interface WithoutSequence {}

    /** Skips a value of any kind and returns its text unchanged. The parser is on its first token. */
    static String raw(JsonParser in, String source) throws IOException {
        int start = (int) in.currentTokenLocation().getCharOffset();
        in.skipChildren();
        in.finishToken();
        return source.substring(start, (int) in.currentLocation().getCharOffset());
    }

    /** Returns the fields of an object, each value with its unchanged text. */
    static Map<String, String> fields(String object) throws IOException {
        Map<String, String> fields = new LinkedHashMap<>();
        try (JsonParser in = MAPPER.createParser(object)) {
            in.nextToken();
            while (in.nextToken() == JsonToken.FIELD_NAME) {
                String name = in.currentName();
                in.nextToken();
                fields.put(name, raw(in, object));
            }
        }
        return fields;
    }

    /** Returns the fields of an object that was read or written before. */
    static Map<String, String> fieldsOf(String object) {
        try {
            return fields(object);
        } catch (IOException e) {
            throw new IllegalStateException("this was JSON before", e);
        }
    }

    /** Writes an object of such fields. */
    static String object(Map<String, String> fields) {
        return fields.entrySet().stream()
                .map(field -> write(field.getKey()) + ":" + field.getValue())
                .collect(Collectors.joining(",", "{", "}"));
    }

    /** Writes a value so that it can be encoded in UTF-8: half a surrogate pair is escaped. */
    static String write(Object value) {
        try {
            String json = MAPPER.writeValueAsString(value);
            return StandardCharsets.UTF_8.newEncoder().canEncode(json)
                    ? json
                    : MAPPER.writer().with(JsonWriteFeature.ESCAPE_NON_ASCII).writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("records of texts and numbers are always written", e);
        }
    }

    /** Returns the place where a parser failed. Jackson's own text quotes the content. */
    static String place(JsonProcessingException e) {
        return e.getLocation() == null
                ? ""
                : " (line " + e.getLocation().getLineNr() + ", column "
                        + e.getLocation().getColumnNr() + ")";
    }

    private static final class InstantReader extends StdConverter<String, Instant> {

        @Override
        public Instant convert(String text) {
            return Instant.parse(text);
        }
    }
}
