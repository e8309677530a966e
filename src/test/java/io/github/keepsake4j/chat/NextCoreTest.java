package io.github.keepsake4j.chat;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The classes as they were compiled against LangChain4j 1.19, loaded with the core of 1.20 and called through its
 * interfaces: the asynchronous methods are found, though nothing says that they override anything.
 */
class NextCoreTest {

    @Test
    void the_asynchronous_methods_of_the_next_core_are_ours() throws Exception {
        try (URLClassLoader loader =
                new URLClassLoader(classPath().toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            Class<?> driver = loader.loadClass("io.github.keepsake4j.chat.NextCoreDriver");

            assertThat(driver.getMethod("run").invoke(null))
                    .isEqualTo("langchain4j-core-1.20.0.jar added [1] set [1, 2] shown 2 kept 2");
        }
    }

    private static List<URL> classPath() throws Exception {
        List<URL> urls = new ArrayList<>();
        try (Stream<Path> jars = Files.list(Path.of("target", "next-core"))) {
            for (Path jar : jars.toList()) {
                urls.add(jar.toUri().toURL());
            }
        }
        assertThat(urls).hasSize(1);
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        for (String entry : classPath.split(File.pathSeparator)) {
            if (!entry.contains("langchain4j-core-")) {
                urls.add(Path.of(entry).toUri().toURL());
            }
        }
        return urls;
    }
}
