-- Keepsake4j, version 1 of the schema for SQLite. Times are microseconds of UTC since 1970; memory_key is the
-- first 16 bytes of SHA-256 over the memory's canonical key.

CREATE TABLE keepsake_memory (
  number          INTEGER PRIMARY KEY AUTOINCREMENT, -- order of creation, for listing
  memory_key      BLOB    NOT NULL UNIQUE,
  tenant          TEXT,                              -- the ids are null in a tombstone
  app_id          TEXT,
  conversation_id TEXT,
  node_id         TEXT,
  title           TEXT,
  metadata        TEXT,                              -- JSON
  epoch           INTEGER NOT NULL,
  revision        INTEGER NOT NULL,
  last_seq        INTEGER NOT NULL,
  head_seq        INTEGER,
  tokens          INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  last_message_at INTEGER
);

CREATE INDEX keepsake_memory_by_tenant ON keepsake_memory (tenant, number);

-- What a row inherits from its parent (run_start, depth, path_tokens, system_seq, user_seq) makes a bounded read cost what it
-- returns: a run is a stretch of a branch whose sequence has no gaps.
CREATE TABLE keepsake_message (
  memory_key    BLOB    NOT NULL,
  seq           INTEGER NOT NULL,
  id            TEXT    NOT NULL,
  parent_seq    INTEGER,          -- null for a root, and where the parent is missing
  parent_id     TEXT,
  message       TEXT    NOT NULL, -- JSON
  tokens        INTEGER NOT NULL,
  token_counter TEXT    NOT NULL,
  created_at    INTEGER NOT NULL,
  run_start     INTEGER NOT NULL,
  depth         INTEGER NOT NULL,
  path_tokens   INTEGER NOT NULL,
  system_seq    INTEGER,          -- the newest system message up to here
  user_seq      INTEGER,          -- the newest user message up to here
  PRIMARY KEY (memory_key, seq),
  UNIQUE (memory_key, id)
);

CREATE INDEX keepsake_message_run ON keepsake_message (memory_key, seq, parent_seq) WHERE run_start = seq;

CREATE TABLE keepsake_view (
  memory_key BLOB    NOT NULL,
  anchor_seq INTEGER NOT NULL,
  view       TEXT    NOT NULL, -- JSON
  PRIMARY KEY (memory_key, anchor_seq)
);

CREATE TABLE keepsake_summary (
  memory_key        BLOB    NOT NULL,
  version           INTEGER NOT NULL,
  covers_seq        INTEGER NOT NULL,
  text              TEXT    NOT NULL, -- a JSON string
  tokens            INTEGER NOT NULL,
  token_counter     TEXT    NOT NULL,
  replaced_messages INTEGER NOT NULL,
  replaced_tokens   INTEGER NOT NULL,
  model             TEXT,
  created_at        INTEGER NOT NULL,
  PRIMARY KEY (memory_key, version)
);

CREATE INDEX keepsake_summary_by_message ON keepsake_summary (memory_key, covers_seq);

CREATE TABLE keepsake_lease (
  memory_key BLOB    NOT NULL,
  name       TEXT    NOT NULL,
  owner      TEXT    NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (memory_key, name)
);
