package io.github.keepsake4j.component;

import io.github.keepsake4j.testing.Home;
import org.junit.jupiter.api.Nested;

/** What the component promises, on every backend. */
class MemoryComponentTest {

    @Nested
    class InMemory extends MemoryComponentContract {
        InMemory() {
            super("in_memory", Home.IN_MEMORY);
        }
    }

    @Nested
    class Sqlite extends MemoryComponentContract {
        Sqlite() {
            super("sqlite", Home.SQLITE);
        }
    }

    @Nested
    class File extends MemoryComponentContract {
        File() {
            super("file", Home.FILES);
        }
    }

    @Nested
    class Postgresql extends MemoryComponentContract {
        Postgresql() {
            super("postgresql", Home.POSTGRESQL);
        }
    }

    @Nested
    class S3 extends MemoryComponentContract {
        S3() {
            super("s3", Home.S3);
        }
    }

    @Nested
    class S3InTurnMode extends MemoryComponentContract {
        S3InTurnMode() {
            super("s3", Home.S3_TURNS);
        }
    }
}
