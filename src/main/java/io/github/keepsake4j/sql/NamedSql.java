package io.github.keepsake4j.sql;

import java.sql.Types;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A statement whose parameters have names in its text, such as {@code :memory_key}. A value is given once and may occur
 * at many places: a distributed database finds the shard only if the condition on the key is written for each table. A
 * null has the type to which the text casts it, because the driver prepares a statement again for each other list of types.
 *
 * @param text the statement as JDBC takes it
 * @param places for each parameter in the text the index of its value
 * @param types for each parameter in the text its type, as in {@link Types}, or {@link Types#NULL} if it is not cast
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
public record NamedSql(String text, int[] places, int[] types) {

    /**
     * A null of a type.
     *
     * @param type the type, as in {@link Types}
     */
    public record Null(int type) {}

    private static final Map<String, Integer> TYPES =
            Map.of("bigint", Types.BIGINT, "text", Types.VARCHAR, "integer", Types.INTEGER);

    /** A name behind one colon. Two colons are a cast. */
    private static final Pattern NAME = Pattern.compile("(?<!:):([a-z_]+)(?=(?:::([a-z]+)(?!\\[))?)");

    /**
     * Prepares a statement whose values are given in the order of the names.
     *
     * @param sql the text with names
     * @param names the names, with a space between two
     * @return the statement
     */
    public static NamedSql of(String sql, String names) {
        List<String> order = List.of(names.split(" "));
        List<Integer> places = new ArrayList<>();
        int[] cast = new int[order.size()];
        Matcher name = NAME.matcher(sql);
        String text = name.replaceAll(found -> {
            int place = order.indexOf(found.group(1));
            if (place < 0) {
                throw new IllegalArgumentException("a statement names the unknown parameter " + found.group(1));
            }
            places.add(place);
            if (found.group(2) != null) {
                cast[place] = TYPES.getOrDefault(found.group(2), Types.NULL);
            }
            return "?";
        });
        return new NamedSql(
                text,
                places.stream().mapToInt(Integer::intValue).toArray(),
                places.stream().mapToInt(place -> cast[place]).toArray());
    }

    /**
     * Returns the parameters in the order of the text.
     *
     * @param values the values in the order of the names
     * @return the values in the order of the text, with a {@link Null} in place of each null whose type is known
     */
    public @Nullable Object[] bind(@Nullable Object... values) {
        @Nullable Object[] parameters = new @Nullable Object[places.length];
        for (int i = 0; i < places.length; i++) {
            Object value = values[places[i]];
            parameters[i] = value == null && types[i] != Types.NULL ? new Null(types[i]) : value;
        }
        return parameters;
    }

    @Override
    public String toString() {
        return text;
    }
}
