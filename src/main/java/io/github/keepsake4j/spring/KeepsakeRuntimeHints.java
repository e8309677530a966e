package io.github.keepsake4j.spring;

import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.TokenStream;
import io.github.keepsake4j.log.MessageLog;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;

/**
 * Tells GraalVM what a native image must keep. The jar has the same for applications without Spring, in
 * {@code META-INF/native-image}.
 */
final class KeepsakeRuntimeHints implements RuntimeHintsRegistrar {

    private static final String ROOT = "io.github.keepsake4j.";

    /** The records that Jackson reads and writes. */
    static final List<String> RECORDS = List.of(
            ROOT + "log.Lease",
            ROOT + "log.Summary",
            ROOT + "log.View",
            ROOT + "log.View$Run",
            ROOT + "log.jdbc.ViewJson$Runs",
            ROOT + "log.redis.Contents$Runs",
            ROOT + "log.s3.KeepsakeField",
            ROOT + "log.s3.KeepsakeField$Counted",
            ROOT + "log.s3.KeepsakeField$Totals",
            ROOT + "log.s3.RawJson$WithoutSequence",
            ROOT + "log.s3.Tombstones$Stored");

    /** What is looked for, and may be absent. */
    static final List<String> LOOKED_FOR = List.of(
            "org.apache.lucene.analysis.WordlistLoader",
            "org.tartarus.snowball.SnowballStemmer",
            "java.lang.Thread$Builder");

    static final List<String> RESOURCES = List.of(
            "io/github/keepsake4j/schema/**",
            "io/github/keepsake4j/redis/*",
            "com/knuddels/jtokkit/*",
            "org/apache/lucene/analysis/snowball/*");

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader loader) {
        RESOURCES.forEach(hints.resources()::registerPattern);
        RECORDS.forEach(record -> hints.reflection()
                .registerType(
                        TypeReference.of(record),
                        MemberCategory.INVOKE_DECLARED_CONSTRUCTORS,
                        MemberCategory.INVOKE_DECLARED_METHODS,
                        MemberCategory.DECLARED_FIELDS));
        LOOKED_FOR.forEach(type -> hints.reflection().registerType(TypeReference.of(type)));
        hints.reflection()
                .registerType(AiServices.class, type -> type.withField("context"))
                .registerType(Thread.class, type -> type.withMethod("ofVirtual", List.of(), ExecutableMode.INVOKE))
                .registerType(
                        TypeReference.of("java.lang.Thread$Builder"),
                        type -> type.withMethod("factory", List.of(), ExecutableMode.INVOKE));
        hints.proxies().registerJdkProxy(TokenStream.class).registerJdkProxy(MessageLog.class);
    }
}
