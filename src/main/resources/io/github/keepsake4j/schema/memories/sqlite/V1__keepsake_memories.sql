-- Keepsake4j, the schema of the facts of one discussion in SQLite. memories, memories_fts and
-- vector_memory_tracker can be read by other programs: memories_fts has plain words and the ids of memories as its rowid.
-- The columns behind metadata_json and timestamp are the library's own.

-- One row. Each script raises version. One beside whose tables an older library would go wrong raises oldest_writer too, and
-- renames all tables, so that a library that runs meanwhile fails and looks here.
CREATE TABLE keepsake_made_schema (
  version       INTEGER NOT NULL PRIMARY KEY,
  oldest_writer INTEGER NOT NULL,
  CONSTRAINT keepsake_made_schema_raised_with_tables CHECK (oldest_writer = 3)
);

INSERT INTO keepsake_made_schema (version, oldest_writer) VALUES (3, 3);

CREATE TABLE memories (
  id            INTEGER PRIMARY KEY,
  discussion_id TEXT    NOT NULL,
  memory_text   TEXT    NOT NULL, -- what a model wrote, not the messages
  date_added    TEXT    NOT NULL,
  metadata_json TEXT    NOT NULL,
  memory_id     TEXT    NOT NULL UNIQUE,
  kind          TEXT    NOT NULL,
  step          INTEGER NOT NULL, -- the row of vector_memory_tracker, or 0 for a memory that was made by hand
  shown         INTEGER NOT NULL, -- 1 if it is in memories_fts and in keepsake_word
  trust         INTEGER NOT NULL, -- 0 user, 1 assistant, 2 tool, 3 retrieved
  pinned        INTEGER NOT NULL  -- 1 if it is always shown
);

CREATE INDEX memories_by_step ON memories (step);
CREATE INDEX memories_shown ON memories (kind, shown, id);

CREATE VIRTUAL TABLE memories_fts USING fts5 (
  title, summary, entities, key_phrases, memory_text, tokenize = 'porter'
);

-- A title counts most, as in the library's own search.
INSERT INTO memories_fts (memories_fts, rank) VALUES ('rank', 'bm25(3.0, 2.0, 2.0, 3.0, 1.0)');

-- The row with the newest timestamp is the last message that was processed. A passage that is tried again has none.
CREATE TABLE vector_memory_tracker (
  id            INTEGER PRIMARY KEY,
  discussion_id TEXT    NOT NULL,
  message_hash  TEXT    NOT NULL, -- SHA-256 of the message's text
  timestamp     TEXT    NOT NULL,
  kind          TEXT    NOT NULL,
  parent        INTEGER NOT NULL,
  after_hash    TEXT    NOT NULL, -- chained over all messages before the passage
  up_to_hash    TEXT    NOT NULL, -- chained over all messages to its end
  messages      INTEGER NOT NULL,
  message_ids   TEXT    NOT NULL,
  failures      INTEGER NOT NULL  -- tries that failed; 0 if it was processed
);

-- The library's own words, which also find Chinese and parts of words.
CREATE TABLE keepsake_word (
  term   TEXT    NOT NULL,
  memory INTEGER NOT NULL,
  weight REAL    NOT NULL,
  PRIMARY KEY (term, memory)
) WITHOUT ROWID;

CREATE INDEX keepsake_word_by_memory ON keepsake_word (memory);

CREATE TABLE keepsake_progress (
  discussion_id TEXT    NOT NULL,
  kind          TEXT    NOT NULL,
  revision      INTEGER NOT NULL,
  head          INTEGER NOT NULL,
  fingerprint   TEXT    NOT NULL, -- by which words keepsake_word was made
  PRIMARY KEY (discussion_id, kind)
) WITHOUT ROWID;
