package io.github.keepsake4j.workflow;

import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.message.InvalidInputException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MemoryConfigTest {

    @Test
    void a16_the_mode_is_conversation_unless_it_is_said() {
        assertThat(MemoryConfig.fromJson(null)).isNull();
        assertThat(MemoryConfig.fromJson(Map.of())).isEqualTo(MemoryConfig.of(MemoryMode.CONVERSATION));
        Map<String, Object> nulls = new HashMap<>();
        for (String name : new String[] {"mode", "role_prefix", "window", "query_prompt_template"}) {
            nulls.put(name, null);
        }
        assertThat(MemoryConfig.fromJson(nulls)).isEqualTo(MemoryConfig.of(MemoryMode.CONVERSATION));
        assertThat(MemoryConfig.fromJson(Map.of("mode", "node", "unknown", 1)).mode())
                .isEqualTo(MemoryMode.NODE);
    }

    @Test
    void a16_a_wrong_value_is_an_error_that_names_it() {
        for (Map.Entry<String, Map<String, Object>> wrong : Map.<String, Map<String, Object>>of(
                        "mode", Map.of("mode", "other"),
                        "role_prefix", Map.of("role_prefix", "x"),
                        "role_prefix.user", Map.of("role_prefix", Map.of("user", 1)),
                        "window.size", Map.of("window", Map.of("size", 1.5)),
                        "window.enabled", Map.of("window", Map.of("enabled", "yes")),
                        "query_prompt_template", Map.of("query_prompt_template", 1))
                .entrySet()) {
            assertThrown(InvalidInputException.class, () -> MemoryConfig.fromJson(wrong.getValue()))
                    .hasMessageStartingWith(wrong.getKey() + ":");
        }
    }

    @Test
    void a16_the_window_is_the_message_limit_when_it_is_enabled() {
        assertThat(MemoryConfig.fromJson(Map.of("window", Map.of("enabled", true, "size", 7)))
                        .messageLimit())
                .isEqualTo(7);
        assertThat(MemoryConfig.fromJson(Map.of("window", Map.of("enabled", true, "size", (1L << 32) + 1)))
                        .messageLimit())
                .isGreaterThanOrEqualTo(500);
        assertThat(MemoryConfig.fromJson(Map.of("window", Map.of("enabled", false, "size", 7)))
                        .messageLimit())
                .isNull();
        assertThat(MemoryConfig.fromJson(Map.of("window", Map.of("size", 7))).messageLimit())
                .isNull();
    }

    @Test
    void a16_what_is_written_as_json_has_the_names_that_are_read_and_reads_back_equal() {
        MemoryConfig all = new MemoryConfig(
                MemoryMode.NODE,
                new MemoryConfig.RolePrefix("U", null),
                new MemoryConfig.Window(true, 7),
                "{{#sys.query#}}!");
        assertThat(all.toJson())
                .isEqualTo(Map.of(
                        "mode",
                        "node",
                        "role_prefix",
                        Map.of("user", "U"),
                        "window",
                        Map.of("enabled", true, "size", 7),
                        "query_prompt_template",
                        "{{#sys.query#}}!"));
        assertThat(MemoryConfig.of(MemoryMode.CONVERSATION).toJson()).isEqualTo(Map.of("mode", "conversation"));
        for (MemoryConfig config : List.of(
                all,
                MemoryConfig.of(MemoryMode.CONVERSATION),
                new MemoryConfig(
                        MemoryMode.NODE, MemoryConfig.RolePrefix.STANDARD, new MemoryConfig.Window(false, null), ""))) {
            assertThat(MemoryConfig.fromJson(config.toJson())).isEqualTo(config);
        }
    }

    @Test
    void a16_a_template_is_filled_literally_and_once() {
        MemoryConfig config = MemoryConfig.fromJson(
                Map.of("query_prompt_template", "{{#sys.query#}} in {{#start.lang#}}, {{ query }}, {{#x.y#}} $1"));
        assertThat(config.renderQuery("{{#start.lang#}} \\ $2", Map.of("start.lang", "{{query}}")))
                .isEqualTo("{{#start.lang#}} \\ $2 in {{query}}, {{#start.lang#}} \\ $2, {{#x.y#}} $1");
        Map<String, String> without = new HashMap<>();
        without.put("start.lang", null);
        assertThat(config.renderQuery("q", without)).isEqualTo("q in {{#start.lang#}}, q, {{#x.y#}} $1");
        assertThat(MemoryConfig.of(MemoryMode.NODE).renderQuery("q")).isEqualTo("q");
        assertThat(MemoryConfig.fromJson(Map.of("query_prompt_template", " ")).renderQuery("q"))
                .isEqualTo("q");
    }
}
