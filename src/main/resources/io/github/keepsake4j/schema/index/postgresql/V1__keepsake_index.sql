-- Keepsake4j, the schema of an index in PostgreSQL 14 and newer. It is made from a log and can be dropped and
-- made again. Run it by hand, by Flyway or by the library when it is told to.

-- One row. Each script raises version. One beside whose tables an older library would go wrong raises oldest_writer too, and
-- renames all tables, so that a library that runs meanwhile fails and looks here.
CREATE TABLE keepsake_index_schema (
  version       integer PRIMARY KEY,
  oldest_writer integer NOT NULL,
  CONSTRAINT keepsake_index_schema_raised_with_tables CHECK (oldest_writer = 3)
);

INSERT INTO keepsake_index_schema (version, oldest_writer) VALUES (3, 3);

-- By which words the terms were made; one row.
CREATE TABLE keepsake_index_words (
  one         integer PRIMARY KEY CHECK (one = 1),
  fingerprint text    NOT NULL
);

-- A writer locks its tenant's row first. So writers of one tenant take turns, and no two of them wait for each other.
CREATE TABLE keepsake_index_tenant (
  number   integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant   text    NOT NULL UNIQUE,
  messages bigint  NOT NULL DEFAULT 0,
  length   bigint  NOT NULL DEFAULT 0 -- the sum of the messages' lengths in terms
) WITH (fillfactor = 50);

-- epoch and sequence tell how far the memory is indexed; memory_key is made as the log's.
CREATE TABLE keepsake_index_memory (
  number          integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant          integer NOT NULL,
  memory_key      bytea   NOT NULL UNIQUE,
  app_id          text,
  conversation_id text    NOT NULL,
  node_id         text,
  epoch           bigint  NOT NULL,
  sequence        bigint  NOT NULL,
  messages        bigint  NOT NULL DEFAULT 0,
  length          bigint  NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

CREATE INDEX keepsake_index_memory_by_tenant ON keepsake_index_memory (tenant, number);

-- In how many of a tenant's messages a term occurs.
CREATE TABLE keepsake_index_term (
  tenant   integer NOT NULL,
  term     text    COLLATE "C" NOT NULL,
  messages bigint  NOT NULL,
  PRIMARY KEY (tenant, term)
) WITH (fillfactor = 70);

-- The messages of a stretch of a memory in which a term occurs, newest first, four bytes each. A segment is numbered by its
-- first sequence divided by 1,024. It covers 1,024 sequences until the memory has passed a multiple of 16,384; then 16 of them
-- become one, and 16 of these again at a multiple of 262,144.
CREATE TABLE keepsake_index_posting (
  tenant   integer NOT NULL,
  memory   integer NOT NULL,
  segment  integer NOT NULL,
  messages integer NOT NULL,
  term     text    COLLATE "C" NOT NULL,
  postings bytea   NOT NULL,
  PRIMARY KEY (tenant, term, memory, segment)
) WITH (fillfactor = 80);

-- A part of the postings is read without the rest.
ALTER TABLE keepsake_index_posting ALTER COLUMN postings SET STORAGE EXTERNAL;

CREATE INDEX keepsake_index_posting_by_memory ON keepsake_index_posting (memory, segment);

-- Models that make vectors of messages. model identifies a model and the dimension of its vectors; used is the last day, in days
-- since 1970, on which it added some.
CREATE TABLE keepsake_index_model (
  number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  model  text    NOT NULL UNIQUE,
  used   bigint  NOT NULL
);

-- epoch and sequence tell how far the memory has vectors of a model; measured is the sequence at which weight and floor were
-- measured.
CREATE TABLE keepsake_index_vector_mark (
  memory   integer          NOT NULL,
  model    integer          NOT NULL,
  epoch    bigint           NOT NULL,
  sequence bigint           NOT NULL,
  weight   double precision NOT NULL,
  floor    double precision NOT NULL,
  measured bigint           NOT NULL,
  PRIMARY KEY (memory, model)
) WITH (fillfactor = 50);

-- Vectors of messages, whose first sequence is in the key; newest is the time of the latest message, in milliseconds since 1970.
-- Each addition has a row of its own for each block of 128 sequences, until the mark has passed the block; then its rows become one.
CREATE TABLE keepsake_index_vector (
  memory   integer NOT NULL,
  model    integer NOT NULL,
  sequence bigint  NOT NULL,
  newest   bigint  NOT NULL,
  amount   integer NOT NULL,
  vectors  bytea   NOT NULL,
  PRIMARY KEY (memory, model, sequence)
);

-- Components look random, so compression would only take time.
ALTER TABLE keepsake_index_vector ALTER COLUMN vectors SET STORAGE EXTERNAL;

-- Statistics have values of a column in a table of their own, where they would stay after an erasure. So there are none of terms,
-- names and vectors.
ALTER TABLE keepsake_index_tenant ALTER COLUMN tenant SET STATISTICS 0;
ALTER TABLE keepsake_index_memory
  ALTER COLUMN app_id SET STATISTICS 0, ALTER COLUMN conversation_id SET STATISTICS 0, ALTER COLUMN node_id SET STATISTICS 0;
ALTER TABLE keepsake_index_term ALTER COLUMN term SET STATISTICS 0;
ALTER TABLE keepsake_index_posting ALTER COLUMN term SET STATISTICS 0;
ALTER TABLE keepsake_index_vector ALTER COLUMN vectors SET STATISTICS 0;
