package io.github.keepsake4j.testing;

import io.github.keepsake4j.chat.turns.Talk;
import io.github.keepsake4j.log.ForwardingMessageLog;
import io.github.keepsake4j.log.MessageLog;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.support.ParameterDeclarations;

/**
 * A test of what holds on each home. Its first parameter is the home, or a log or a {@link Talk} that is opened there for it.
 * {@code verify} runs it on some, and the landing build on the others.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Tag("homes")
@ArgumentsSource(Homes.Provider.class)
public @interface Homes {

    /** Which homes this run has. A test that only the landing build runs has all of them. */
    final class Provider implements ArgumentsProvider {
        @Override
        public Stream<? extends Arguments> provideArguments(
                ParameterDeclarations parameters, ExtensionContext context) {
            Stream<Home> homes = context.getTags().contains("landing") ? Stream.of(Home.values()) : Home.ofThisRun();
            Class<?> type = context.getRequiredTestMethod().getParameterTypes()[0];
            return homes.map(home -> Arguments.of(Named.of(home.name(), taken(type, home))));
        }

        /** The test's engine closes what can be closed. */
        private static Object taken(Class<?> type, Home home) {
            try {
                return type == MessageLog.class ? log(home.storage()) : type == Talk.class ? Talk.on(home) : home;
            } catch (Exception e) {
                throw new IllegalStateException(home.name(), e);
            }
        }

        private static MessageLog log(Home.Storage storage) {
            return new ForwardingMessageLog(storage.open()) {
                @Override
                public void close() {
                    super.close();
                    storage.close();
                }
            };
        }
    }
}
