package io.github.keepsake4j.log;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.ArchConfiguration;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.github.keepsake4j.backend.ObservedLog;
import io.github.keepsake4j.backend.PlannedTreeLog;
import io.github.keepsake4j.backend.TreeMessageLog;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** A call that a decorator forwards unnoticed may leave erased text in an index. So all that is forwarded is listed here. */
class ForwardingMessageLogTest {

    private static final Map<Class<?>, Set<String>> FORWARDED = Map.of(
            ObservedLog.class,
            Set.of(
                    "acquireLease",
                    "backend",
                    "branches",
                    "check",
                    "close",
                    "details",
                    "find",
                    "flush",
                    "history",
                    "list",
                    "nodes",
                    "onBranch",
                    "read",
                    "releaseLease",
                    "repair"),
            named("io.github.keepsake4j.transfer.ImportingLog"),
            Set.of(
                    "acquireLease",
                    "backend",
                    "check",
                    "close",
                    "erase",
                    "eraseIfIdle",
                    "flush",
                    "list",
                    "nodes",
                    "releaseLease",
                    "repair"),
            named("io.github.keepsake4j.DescribingLog"),
            Set.of(
                    "acquireLease",
                    "backend",
                    "branches",
                    "check",
                    "close",
                    "details",
                    "erase",
                    "eraseIfIdle",
                    "find",
                    "flush",
                    "history",
                    "list",
                    "nodes",
                    "onBranch",
                    "releaseLease",
                    "removeTombstones",
                    "repair"));

    private static final List<Method> PORT = Arrays.stream(MessageLog.class.getMethods())
            .filter(method -> !Modifier.isStatic(method.getModifiers()))
            .toList();

    /** The library's own classes. Those of others are not asked for, and take most of the time. */
    private static final JavaClasses MAIN = ArchConfiguration.withThreadLocalScope(configuration -> {
        configuration.setResolveMissingDependenciesFromClassPath(false);
        return new ClassFileImporter()
                .withImportOption(location -> !location.contains("/test-classes/"))
                .importPackages("io.github.keepsake4j");
    });

    private static Class<?> named(String name) {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void the_port_has_twenty_methods_and_a_backend_writes_twenty_things() {
        assertThat(PORT).hasSize(20);
        long written = PORT.stream().filter(method -> !method.isDefault()).count();
        assertThat(written + Change.class.getPermittedSubclasses().length).isEqualTo(20);
        assertThat(Change.Kinds.class.getMethods()).hasSameSizeAs(Change.class.getPermittedSubclasses());
    }

    @Test
    void each_call_is_forwarded_as_it_is() throws Exception {
        for (Method method : PORT) {
            List<Object> calls = new ArrayList<>();
            Object answer = method.getReturnType() == boolean.class
                    ? Boolean.TRUE
                    : method.getReturnType() == long.class ? (Object) 7L : null;
            MessageLog behind = (MessageLog) Proxy.newProxyInstance(
                    MessageLog.class.getClassLoader(),
                    new Class<?>[] {MessageLog.class},
                    (proxy, called, arguments) -> {
                        calls.add(called.getName());
                        calls.addAll(arguments == null ? List.of() : Arrays.asList(arguments));
                        return answer;
                    });
            Object[] arguments = Arrays.stream(method.getParameterTypes())
                    .map(type -> type == String.class ? "argument" : null)
                    .toArray();
            assertThat(method.invoke(new ForwardingMessageLog(behind) {}, arguments))
                    .as(method.getName())
                    .isEqualTo(answer);
            List<Object> expected = new ArrayList<>(List.of(method.getName()));
            expected.addAll(Arrays.asList(arguments));
            assertThat(calls).isEqualTo(expected);
        }
    }

    @Test
    void each_decorator_forwards_what_is_listed() {
        FORWARDED.forEach((decorator, forwarded) -> {
            Set<String> inherited = PORT.stream()
                    .filter(method -> Arrays.stream(decorator.getDeclaredMethods())
                            .noneMatch(own -> own.getName().equals(method.getName())
                                    && Arrays.equals(own.getParameterTypes(), method.getParameterTypes())))
                    .map(Method::getName)
                    .collect(Collectors.toCollection(TreeSet::new));
            assertThat(inherited).as(decorator.getName()).isEqualTo(new TreeSet<>(forwarded));
        });
    }

    @Test
    void every_log_is_a_backend_or_a_listed_decorator() {
        assertThat(names(MAIN.get(ForwardingMessageLog.class).getAllSubclasses()))
                .isEqualTo(FORWARDED.keySet().stream().map(Class::getName).collect(Collectors.toSet()));
        Set<String> others = names(MAIN.get(MessageLog.class).getAllSubclasses());
        others.removeAll(names(MAIN.get(ForwardingMessageLog.class).getAllSubclasses()));
        others.removeIf(name -> name.matches("io\\.github\\.keepsake4j\\.log\\.\\w+\\.\\w+MessageLog"));
        assertThat(others)
                .containsExactlyInAnyOrder(
                        ForwardingMessageLog.class.getName(),
                        PlannedTreeLog.class.getName(),
                        TreeMessageLog.class.getName());
    }

    private static Set<String> names(Set<JavaClass> classes) {
        return classes.stream().map(JavaClass::getName).collect(Collectors.toSet());
    }
}
