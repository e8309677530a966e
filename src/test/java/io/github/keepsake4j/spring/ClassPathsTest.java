package io.github.keepsake4j.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.spring.bare.BareApplication;
import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Starts an application on class paths that lack what is optional. */
class ClassPathsTest {

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "spring-boot-actuator",
                "spring-boot-actuator spring-boot-health micrometer spring-jdbc spring-tx spring-boot-jdbc spring-boot-sql"
                        + " spring-boot-transaction spring-boot-persistence spring-boot-micrometer HikariCP postgresql sqlite-jdbc"
                        + " software/amazon redis/clients lucene picocli langchain4j-open-ai langchain4j-spring opentelemetry spring-boot-flyway flyway",
            })
    void what_is_optional_may_be_absent(String missing) throws Exception {
        try (URLClassLoader loader =
                new URLClassLoader(without(missing.split(" ")), ClassLoader.getPlatformClassLoader())) {
            ClassLoader before = Thread.currentThread().getContextClassLoader();
            Thread.currentThread().setContextClassLoader(loader);
            try {
                assertThat(loader.loadClass(BareApplication.class.getName())
                                .getMethod("chat", String.class)
                                .invoke(null, directory.resolve("chats").toString()))
                        .isEqualTo("file");
            } finally {
                Thread.currentThread().setContextClassLoader(before);
            }
        }
    }

    private static URL[] without(String... jars) throws MalformedURLException {
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        List<URL> urls = new ArrayList<>();
        for (String entry : classPath.split(File.pathSeparator)) {
            boolean isJar = entry.endsWith(".jar");
            if (!isJar || Stream.of(jars).noneMatch(jar -> entry.contains("/" + jar))) {
                urls.add(new File(entry).toURI().toURL());
            }
        }
        return urls.toArray(URL[]::new);
    }
}
