package io.github.keepsake4j.spring;

import static io.github.keepsake4j.spring.Contexts.chatted;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.spring.bare.BareApplication;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.BeanWrapper;
import org.springframework.beans.BeanWrapperImpl;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Health, metrics, observations and the endpoint, with everything that Spring Boot itself configures. */
class ActuatorTest {

    @TempDir
    Path directory;

    private ApplicationContextRunner app() {
        return new ApplicationContextRunner()
                .withUserConfiguration(BareApplication.class)
                .withPropertyValues(
                        "spring.datasource.url=jdbc:sqlite:" + directory.resolve("chat.db"),
                        "management.endpoints.web.exposure.include=*",
                        Contexts.WITHOUT_OTHERS);
    }

    @Test
    void health_asks_the_logs_that_are_open_and_opens_none() throws Exception {
        app().run(context -> {
            assertThat(health(context)).isEqualTo("UNKNOWN {memories=not in use}");
            assertThat(context.getBean(MemoriesInUse.class).logs()).isEmpty();
            context.getBean(Keepsake.class);
            assertThat(health(context)).isEqualTo("UP {keepsakeMessageLog=sqlite}");
            context.getBean(MessageLog.class).close();
            assertThat(health(context)).startsWith("DOWN {error=io.github.keepsake4j.message.StorageClosedException");
        });
        app().withPropertyValues("management.health.keepsake.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean("keepsakeHealthIndicator"));
    }

    /** Boot 3 and Boot 4 have types of their own for it. */
    private static String health(AssertableApplicationContext context) throws ReflectiveOperationException {
        Object indicator = context.getBean("keepsakeHealthIndicator");
        var method = indicator.getClass().getMethod("health");
        method.setAccessible(true);
        BeanWrapper health = new BeanWrapperImpl(method.invoke(indicator));
        return health.getPropertyValue("status") + " " + health.getPropertyValue("details");
    }

    @Test
    void appends_and_calls_are_counted_and_timed_without_the_name_of_a_memory() {
        app().run(context -> {
            assertThat(chatted(context)).isEqualTo("sqlite");
            MeterRegistry registry = context.getBean(MeterRegistry.class);
            assertThat(registry.get("keepsake.appends")
                            .tag("backend", "sqlite")
                            .counter()
                            .count())
                    .isEqualTo(1);
            assertThat(registry.get("keepsake.log")
                            .tags("operation", "append", "backend", "sqlite")
                            .timer()
                            .count())
                    .isEqualTo(1);
            assertThat(registry.getMeters().stream()
                            .filter(meter -> meter.getId().getName().startsWith("keepsake"))
                            .toString())
                    .doesNotContain("alice");
        });
    }

    @Test
    void the_endpoint_counts_and_checks_and_shows_no_text() {
        app().run(context -> {
            KeepsakeEndpoint endpoint = context.getBean(KeepsakeEndpoint.class);
            assertThat(endpoint.report(null).logs()).isEmpty();
            assertThat(check(endpoint, "alice", null)).isNull();
            Keepsake keepsake = context.getBean(Keepsake.class);
            keepsake.chatMemory("alice").add(UserMessage.from("My name is Alice."));
            keepsake.chatMemory("bob").add(UserMessage.from("My name is Bob."));

            KeepsakeEndpoint.Counts counts = endpoint.report(null).logs().get("keepsakeMessageLog");
            assertThat(counts.backend()).isEqualTo("sqlite");
            assertThat(counts.memories()).isEqualTo(2);
            assertThat(counts.messages()).isEqualTo(2);
            assertThat(counts.complete()).isTrue();
            assertThat(counts.damaged()).isEmpty();
            assertThat(endpoint.report("other").logs().get("keepsakeMessageLog").memories())
                    .isZero();
            assertThat(check(endpoint, "alice", null)).isEqualTo(new KeepsakeEndpoint.Checked(true, List.of()));
            assertThat(check(endpoint, "nobody", null)).isEqualTo(new KeepsakeEndpoint.Checked(false, List.of()));
            assertThat(endpoint.report(null).toString()).doesNotContain("My name");
        });
        app().withPropertyValues("management.endpoint.keepsake.access=NONE")
                .run(context -> assertThat(context).doesNotHaveBean(KeepsakeEndpoint.class));
    }

    /** Spring Boot checks the parameters before it calls the endpoint, in the same way for the web. */
    @Test
    void the_endpoint_needs_no_tenant() {
        app().withPropertyValues("spring.jmx.enabled=true", "management.endpoints.jmx.exposure.include=keepsake")
                .run(context -> {
                    context.getBean(Keepsake.class).chatMemory("alice").add(UserMessage.from("Hello."));
                    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
                    ObjectName endpoint = server.queryNames(
                                    new ObjectName("org.springframework.boot:type=Endpoint,name=Keepsake,*"), null)
                            .iterator()
                            .next();
                    assertThat(server.invoke(endpoint, "check", new Object[] {"alice", null}, new String[0]))
                            .hasToString("{known=true, damaged=[]}");
                    assertThat(server.invoke(endpoint, "report", new Object[] {null}, new String[0])
                                    .toString())
                            .contains("tenant=default", "memories=1");
                });
    }

    private static KeepsakeEndpoint.Checked check(KeepsakeEndpoint endpoint, String path, String tenant) {
        return endpoint.check(path.split("/"), tenant);
    }

    @Test
    void the_endpoint_checks_a_memory_of_another_tenant_and_of_a_node_by_its_key() {
        app().run(context -> {
            KeepsakeEndpoint endpoint = context.getBean(KeepsakeEndpoint.class);
            Keepsake keepsake = context.getBean(Keepsake.class);
            for (MemoryKey key :
                    List.of(ConversationKey.of("acme", "a b/c"), NodeKey.of("acme", "app", "a b/c", "writer"))) {
                keepsake.chatMemory(key).add(UserMessage.from("Hello."));
                assertThat(check(endpoint, key.canonical(), null).known()).isTrue();
            }
            assertThat(endpoint.check(new String[0], null)).isNull();
            assertThat(check(endpoint, "a b/c", "acme").known()).isTrue();
            assertThat(check(endpoint, "a b/c", null).known()).isFalse();
            assertThat(check(endpoint, "a b/c", "globex").known()).isFalse();
            assertThat(check(endpoint, "conversation/globex/a b%2Fc", null).known())
                    .isFalse();
        });
    }
}
