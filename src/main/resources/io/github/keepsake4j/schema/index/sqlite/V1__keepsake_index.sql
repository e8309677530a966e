-- Keepsake4j, the schema of an index in SQLite. It is made from a log and can be dropped and made again.

-- One row. Each script raises version. One beside whose tables an older library would go wrong raises oldest_writer too, and
-- renames all tables, so that a library that runs meanwhile fails and looks here.
CREATE TABLE keepsake_index_schema (
  version       INTEGER NOT NULL PRIMARY KEY,
  oldest_writer INTEGER NOT NULL,
  CONSTRAINT keepsake_index_schema_raised_with_tables CHECK (oldest_writer = 3)
);

INSERT INTO keepsake_index_schema (version, oldest_writer) VALUES (3, 3);

-- By which words the terms were made; one row.
CREATE TABLE keepsake_index_words (
  one         INTEGER PRIMARY KEY CHECK (one = 1),
  fingerprint TEXT    NOT NULL
);

CREATE TABLE keepsake_index_tenant (
  number   INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant   TEXT    NOT NULL UNIQUE,
  messages INTEGER NOT NULL DEFAULT 0,
  length   INTEGER NOT NULL DEFAULT 0 -- the sum of the messages' lengths in terms
);

-- epoch and sequence tell how far the memory is indexed; memory_key is made as the log's.
CREATE TABLE keepsake_index_memory (
  number          INTEGER PRIMARY KEY AUTOINCREMENT,
  memory_key      BLOB    NOT NULL UNIQUE,
  tenant          INTEGER NOT NULL REFERENCES keepsake_index_tenant (number),
  app_id          TEXT,
  conversation_id TEXT    NOT NULL,
  node_id         TEXT,
  epoch           INTEGER NOT NULL,
  sequence        INTEGER NOT NULL,
  messages        INTEGER NOT NULL DEFAULT 0,
  length          INTEGER NOT NULL DEFAULT 0
);

CREATE INDEX keepsake_index_memory_by_tenant ON keepsake_index_memory (tenant, number);

-- In how many of a tenant's messages a term occurs.
CREATE TABLE keepsake_index_term (
  tenant   INTEGER NOT NULL,
  term     TEXT    NOT NULL,
  messages INTEGER NOT NULL,
  PRIMARY KEY (tenant, term)
) WITHOUT ROWID;

-- The messages of a stretch of a memory in which a term occurs, newest first, four bytes each. A segment is numbered by its
-- first sequence divided by 1,024. It covers 1,024 sequences until the memory has passed a multiple of 16,384; then 16 of them
-- become one, and 16 of these again at a multiple of 262,144.
CREATE TABLE keepsake_index_posting (
  tenant   INTEGER NOT NULL,
  term     TEXT    NOT NULL,
  memory   INTEGER NOT NULL,
  segment  INTEGER NOT NULL,
  messages INTEGER NOT NULL,
  postings BLOB    NOT NULL,
  PRIMARY KEY (tenant, term, memory, segment)
) WITHOUT ROWID;

CREATE INDEX keepsake_index_posting_by_memory ON keepsake_index_posting (memory, segment);

-- Models that make vectors of messages. model identifies a model and the dimension of its vectors; used is the last day, in days
-- since 1970, on which it added some.
CREATE TABLE keepsake_index_model (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  model  TEXT    NOT NULL UNIQUE,
  used   INTEGER NOT NULL
);

-- epoch and sequence tell how far the memory has vectors of a model; measured is the sequence at which weight and floor were
-- measured.
CREATE TABLE keepsake_index_vector_mark (
  memory   INTEGER NOT NULL,
  model    INTEGER NOT NULL,
  epoch    INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  weight   REAL    NOT NULL,
  floor    REAL    NOT NULL,
  measured INTEGER NOT NULL,
  PRIMARY KEY (memory, model)
) WITHOUT ROWID;

-- Vectors of messages, whose first sequence is in the key; newest is the time of the latest message, in milliseconds since 1970.
-- Each addition has a row of its own for each block of 128 sequences, until the mark has passed the block; then its rows become one.
CREATE TABLE keepsake_index_vector (
  memory   INTEGER NOT NULL,
  model    INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  newest   INTEGER NOT NULL,
  amount   INTEGER NOT NULL,
  vectors  BLOB    NOT NULL,
  PRIMARY KEY (memory, model, sequence)
) WITHOUT ROWID;
