package io.github.keepsake4j.cli;

import io.github.keepsake4j.log.Damage;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Damage as JSON, and as text for people. */
final class DamageFields {

    private DamageFields() {}

    static List<Map<String, @Nullable Object>> of(List<Damage> damage) {
        return damage.stream().map(DamageFields::of).toList();
    }

    private static Map<String, @Nullable Object> of(Damage damage) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("kind", name(damage));
        fields.put("sequence", damage.sequence());
        fields.put("message_id", damage.messageId());
        fields.put("problem", damage.problem());
        return fields;
    }

    static String text(Damage damage) {
        String where = damage.sequence() == null ? "" : " " + damage.sequence();
        return Printable.line("  " + name(damage) + where + ": " + damage.problem());
    }

    private static String name(Damage damage) {
        return damage.kind().name().toLowerCase(Locale.ROOT);
    }
}
