-- Keepsake4j, the schema of memories that are made, in PostgreSQL 14 and newer. Run it by hand, by Flyway or by
-- the library when it is told to. memory_key is made as the log's.

-- One row. Each script raises version. One beside whose tables an older library would go wrong raises oldest_writer too, and
-- renames all tables, so that a library that runs meanwhile fails and looks here.
CREATE TABLE keepsake_made_schema (
  version       integer PRIMARY KEY,
  oldest_writer integer NOT NULL,
  CONSTRAINT keepsake_made_schema_raised_with_tables CHECK (oldest_writer = 3)
);

INSERT INTO keepsake_made_schema (version, oldest_writer) VALUES (3, 3);

-- A writer locks this row first. It stays when the memories are erased, so that no creator that began before adds some; it
-- holds no id.
CREATE TABLE keepsake_made_progress (
  memory_key  bytea  NOT NULL,
  kind        text   NOT NULL,
  revision    bigint NOT NULL,
  head        bigint NOT NULL,
  fingerprint text   NOT NULL, -- by which words keepsake_made_word was made
  PRIMARY KEY (memory_key, kind)
) WITH (fillfactor = 50);

-- Whose memories there are, for a clean-up. Erased with them.
CREATE TABLE keepsake_made_discussion (
  memory_key bytea PRIMARY KEY,
  discussion text  NOT NULL
);

-- The passages that were processed.
CREATE TABLE keepsake_made_step (
  memory_key   bytea  NOT NULL,
  kind         text   NOT NULL,
  number       bigint NOT NULL,
  parent       bigint NOT NULL,
  message_hash text   NOT NULL, -- SHA-256 of the last message's text
  after_hash   text   NOT NULL, -- chained over all messages before the passage
  up_to_hash   text   NOT NULL, -- chained over all messages to its end
  messages     integer NOT NULL,
  message_ids  text   NOT NULL,
  processed_at text   NOT NULL, -- empty if it is tried again
  failures     integer NOT NULL, -- tries that failed; 0 if it was processed
  PRIMARY KEY (memory_key, kind, number)
);

CREATE INDEX keepsake_made_step_by_end ON keepsake_made_step (memory_key, kind, up_to_hash);

CREATE TABLE keepsake_made_memory (
  memory_key    bytea   NOT NULL,
  kind          text    NOT NULL,
  number        bigint  NOT NULL,
  memory_id     text    NOT NULL,
  memory_text   text    NOT NULL, -- what a model wrote, not the messages
  date_added    text    NOT NULL,
  metadata_json text    NOT NULL,
  step          bigint  NOT NULL, -- 0 for a memory that was made by hand
  shown         integer NOT NULL, -- 1 if it is on the path to the head and current
  trust         integer NOT NULL, -- 0 user, 1 assistant, 2 tool, 3 retrieved
  pinned        integer NOT NULL, -- 1 if it is always shown
  PRIMARY KEY (memory_key, kind, number),
  UNIQUE (memory_key, memory_id)
) WITH (fillfactor = 80);

CREATE INDEX keepsake_made_memory_shown ON keepsake_made_memory (memory_key, kind, shown, number);
CREATE INDEX keepsake_made_memory_by_step ON keepsake_made_memory (memory_key, kind, step);
CREATE INDEX keepsake_made_memory_pinned ON keepsake_made_memory (memory_key, number) WHERE pinned = 1;

-- The words of the facts that are shown.
CREATE TABLE keepsake_made_word (
  memory_key bytea  NOT NULL,
  term       text   COLLATE "C" NOT NULL,
  number     bigint NOT NULL,
  weight     double precision NOT NULL,
  PRIMARY KEY (memory_key, term, number)
);

CREATE INDEX keepsake_made_word_by_memory ON keepsake_made_word (memory_key, number);

CREATE TABLE keepsake_made_lease (
  memory_key bytea       NOT NULL,
  name       text        NOT NULL,
  owner      text        NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (memory_key, name)
);

-- Statistics have values of a column in a table of their own, where they would stay after an erasure. So there are none of texts
-- and words.
ALTER TABLE keepsake_made_memory
  ALTER COLUMN memory_text SET STATISTICS 0, ALTER COLUMN metadata_json SET STATISTICS 0;
ALTER TABLE keepsake_made_word ALTER COLUMN term SET STATISTICS 0;
ALTER TABLE keepsake_made_discussion ALTER COLUMN discussion SET STATISTICS 0;
