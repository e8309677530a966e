package io.github.keepsake4j.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.support.ParameterDeclarations;

/** A test of what holds on each home. {@code verify} runs it on some, and the landing build on the others. */
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
            return homes.map(Arguments::of);
        }
    }
}
