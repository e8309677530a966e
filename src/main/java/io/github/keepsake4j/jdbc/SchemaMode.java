package io.github.keepsake4j.jdbc;

/** The databases in which the library creates and upgrades its tables itself. */
public enum SchemaMode {
    /**
     * In every database. Safe when many instances start at once. The database's user needs the permission to create
     * tables.
     */
    ALWAYS,

    /** In embedded databases only (SQLite). For others the version is checked, and an error names the missing script. */
    EMBEDDED,

    /** In none: the version is checked, and an error names the missing script. */
    NEVER
}
