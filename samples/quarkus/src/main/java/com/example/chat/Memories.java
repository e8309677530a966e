package com.example.chat;

import dev.langchain4j.memory.chat.ChatMemoryProvider;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.MessageLogs;
import io.github.keepsake4j.log.MessageLog;
import io.quarkus.arc.properties.IfBuildProperty;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.nio.file.Path;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** All AI services use the provider. Without one, Quarkus puts its windows over the store. */
@Singleton
public class Memories {

    @Produces
    @Singleton
    MessageLog messageLog(@ConfigProperty(name = "chat.file") Path file) {
        return MessageLogs.sqlite(file);
    }

    void close(@Disposes MessageLog log) {
        log.close();
    }

    @Produces
    @Singleton
    Keepsake keepsake(MessageLog log) {
        return Keepsake.builder().messageLog(log).maxMessages(20).build();
    }

    @Produces
    @Singleton
    @IfBuildProperty(name = "chat.memory", stringValue = "keepsake4j")
    ChatMemoryProvider chatMemoryProvider(Keepsake keepsake) {
        return keepsake.chatMemoryProvider();
    }

    @Produces
    @Singleton
    @IfBuildProperty(name = "chat.memory", stringValue = "windows")
    ChatMemoryStore chatMemoryStore(Keepsake keepsake) {
        return keepsake.chatMemoryStore();
    }
}
