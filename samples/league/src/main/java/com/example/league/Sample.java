package com.example.league;

import java.util.stream.Collectors;

/**
 * What was measured of one subject in one place of the tables.
 *
 * @param table what was measured
 * @param row the case
 * @param subject whose
 * @param values the samples
 */
record Sample(String table, String row, String subject, Measure values) {

    String csv() {
        return String.join(";", table, row, subject)
                + ";"
                + values.samples().mapToObj(Long::toString).collect(Collectors.joining(","));
    }
}
