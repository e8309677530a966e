package io.github.keepsake4j.samples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** All Java code of README and the guide compiles with its imports and prints what the documents say. */
class DocumentCodeTest {

    @TempDir
    Path directory;

    static List<Path> documents() throws IOException {
        return ReadmeTest.documents();
    }

    @ParameterizedTest
    @MethodSource("documents")
    void the_code_of_a_document_runs_and_prints_what_the_document_shows(Path document) throws Exception {
        String written = new DocumentCode(document, directory).withOutputs();

        assertThat(written).as(document.toString()).isEqualTo(Files.readString(document));
    }
}
