package io.github.keepsake4j.sql;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A statement whose parameters have names in its text, such as {@code :memory_key}. A value is given once and may occur
 * at many places: a distributed database finds the shard only if the condition on the key is written for each table.
 *
 * @param text the statement as JDBC takes it
 * @param places for each parameter in the text the index of its value
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
public record NamedSql(String text, int[] places) {

    /** A name behind one colon. Two colons are a cast. */
    private static final Pattern NAME = Pattern.compile("(?<!:):([a-z_]+)");

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
        Matcher name = NAME.matcher(sql);
        String text = name.replaceAll(found -> {
            int place = order.indexOf(found.group(1));
            if (place < 0) {
                throw new IllegalArgumentException("a statement names the unknown parameter " + found.group(1));
            }
            places.add(place);
            return "?";
        });
        return new NamedSql(text, places.stream().mapToInt(Integer::intValue).toArray());
    }

    /**
     * Returns the parameters in the order of the text.
     *
     * @param values the values in the order of the names
     * @return the values in the order of the text
     */
    public @Nullable Object[] bind(@Nullable Object... values) {
        @Nullable Object[] parameters = new @Nullable Object[places.length];
        for (int i = 0; i < places.length; i++) {
            parameters[i] = values[places[i]];
        }
        return parameters;
    }

    @Override
    public String toString() {
        return text;
    }
}
