package io.github.keepsake4j.samples;

import dev.langchain4j.memory.chat.ChatMemoryProvider;
import dev.langchain4j.model.chat.ChatModel;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import java.nio.file.Path;
import javax.sql.DataSource;
import org.sqlite.SQLiteDataSource;

/** The code in the guide for containers with CDI, such as Quarkus. The annotations stand in for those of CDI. */
final class CdiExample {

    @interface ApplicationScoped {}

    @interface Singleton {}

    @interface Produces {}

    private CdiExample() {}

    static String run(ChatModel model, Path directory) {
        Memories memories = new Memories();
        ChatMemoryProvider provider = memories.chatMemoryProvider(memories.keepsake(new SQLiteDataSource()));
        return provider.get("alice").id() + " has a memory";
    }
}

// example begins
@CdiExample.ApplicationScoped
class Memories {

    @CdiExample.Produces
    @CdiExample.Singleton
    Keepsake keepsake(DataSource dataSource) {
        return Keepsake.builder()
                .messageLog(JdbcMessageLog.postgres(dataSource))
                .build();
    }

    @CdiExample.Produces
    @CdiExample.Singleton
    ChatMemoryProvider chatMemoryProvider(Keepsake keepsake) {
        return keepsake.chatMemoryProvider();
    }
}
// example ends
