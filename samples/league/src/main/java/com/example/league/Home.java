package com.example.league;

import java.nio.file.Path;
import javax.sql.DataSource;

/**
 * Where a subject keeps its messages.
 *
 * @param pool connections to a database of its own
 * @param file a file of its own, for a subject that needs no server
 */
record Home(DataSource pool, Path file) {}
