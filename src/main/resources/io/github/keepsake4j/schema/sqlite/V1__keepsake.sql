-- Keepsake4j, the schema for SQLite. Times are microseconds of UTC since 1970; memory_key is the
-- first 16 bytes of SHA-256 over the memory's canonical key.

-- One row. Each script raises version. One beside whose tables an older library would go wrong raises oldest_writer too, and
-- renames all tables, so that a library that runs meanwhile fails and looks here.
CREATE TABLE keepsake_schema (
  version       INTEGER NOT NULL PRIMARY KEY,
  oldest_writer INTEGER NOT NULL,
  CONSTRAINT keepsake_schema_raised_with_tables CHECK (oldest_writer = 3)
);

INSERT INTO keepsake_schema (version, oldest_writer) VALUES (3, 3);

-- active_at is the time of the newest message when the memory was last moved to the front of its lists by activity: an append
-- changes it only if the minute has changed. It, number and lists say where the memory is in keepsake_listed.
CREATE TABLE keepsake_memory (
  number          INTEGER PRIMARY KEY AUTOINCREMENT, -- order of creation, for listing
  memory_key      BLOB    NOT NULL UNIQUE,
  tenant          TEXT,                              -- the ids are null in a tombstone
  app_id          TEXT,
  conversation_id TEXT,
  node_id         TEXT,
  title           TEXT,
  metadata        TEXT,                              -- JSON
  lists           TEXT,                              -- a JSON array
  epoch           INTEGER NOT NULL,
  revision        INTEGER NOT NULL,
  last_seq        INTEGER NOT NULL,
  head_seq        INTEGER,
  head_id         TEXT,
  tokens          INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,                  -- of an imported memory, its first message's
  stored_at       INTEGER NOT NULL DEFAULT 0,
  active_at       INTEGER NOT NULL DEFAULT 0,
  last_message_at INTEGER,
  CHECK (epoch >= 1 AND revision >= 1 AND last_seq >= 0 AND tokens >= 0),
  CHECK ((head_seq IS NULL) = (head_id IS NULL) AND (head_seq IS NULL OR head_seq BETWEEN 1 AND last_seq)),
  CHECK (typeof(last_seq) = 'integer' AND typeof(head_seq) IN ('integer', 'null') AND typeof(tokens) = 'integer')
);

CREATE INDEX keepsake_memory_nodes ON keepsake_memory (tenant, conversation_id) WHERE node_id IS NOT NULL;

-- The lists of memories: of a tenant, and of each value of a metadata name that is declared. A list's id is 63 bits of a hash of
-- these. Its place is the memory's active_at. The list in order of creation has the negative id, and the place 0.
CREATE TABLE keepsake_listed (
  list   INTEGER NOT NULL,
  place  INTEGER NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (list, place, number)
) WITHOUT ROWID;

-- The metadata names that have lists, and when these were complete, or 0.
CREATE TABLE keepsake_listed_name (
  name      TEXT    NOT NULL PRIMARY KEY,
  listed_at INTEGER NOT NULL
);

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
  outcome       TEXT,             -- how it ended if it did not end well
  made          TEXT,             -- what an answer was made from, and the tokens used
  request       TEXT,             -- the whole request that was answered, where it is kept; JSON
  PRIMARY KEY (memory_key, seq),
  UNIQUE (memory_key, id),
  CHECK (seq >= 1 AND tokens >= 0 AND path_tokens >= tokens),
  CHECK (parent_seq IS NULL OR parent_seq BETWEEN 1 AND seq - 1),
  CHECK (run_start BETWEEN 1 AND seq AND depth BETWEEN seq - run_start + 1 AND seq),
  CHECK (system_seq BETWEEN 1 AND seq), -- null passes
  CHECK (user_seq BETWEEN 1 AND seq),
  CHECK (typeof(seq) = 'integer' AND typeof(parent_seq) IN ('integer', 'null') AND typeof(tokens) = 'integer'
    AND typeof(run_start) = 'integer' AND typeof(depth) = 'integer' AND typeof(path_tokens) = 'integer')
);

CREATE INDEX keepsake_message_run ON keepsake_message (memory_key, seq, parent_seq) WHERE run_start = seq;

CREATE TABLE keepsake_view (
  memory_key BLOB    NOT NULL,
  anchor_seq INTEGER NOT NULL,
  anchor_id  TEXT    NOT NULL,
  view       TEXT    NOT NULL, -- JSON
  PRIMARY KEY (memory_key, anchor_seq),
  CHECK (anchor_seq >= 1)
);

CREATE TABLE keepsake_summary (
  memory_key        BLOB    NOT NULL,
  version           INTEGER NOT NULL,
  covers_seq        INTEGER NOT NULL,
  covers_id         TEXT    NOT NULL,
  text              TEXT    NOT NULL, -- a JSON string
  tokens            INTEGER NOT NULL,
  token_counter     TEXT    NOT NULL,
  replaced_messages INTEGER NOT NULL,
  replaced_tokens   INTEGER NOT NULL,
  model             TEXT,
  created_at        INTEGER NOT NULL,
  PRIMARY KEY (memory_key, version),
  CHECK (version >= 1 AND covers_seq >= 1 AND tokens >= 0 AND replaced_messages >= 0 AND replaced_tokens >= 0)
);

CREATE INDEX keepsake_summary_by_message ON keepsake_summary (memory_key, covers_seq);

-- The newest messages of named branches.
CREATE TABLE keepsake_reference (
  memory_key BLOB    NOT NULL,
  name       TEXT    NOT NULL,
  seq        INTEGER NOT NULL,
  id         TEXT    NOT NULL,
  PRIMARY KEY (memory_key, name),
  CHECK (seq >= 1)
);

-- Tokens that a memory's answers used, by days of UTC since 1970.
CREATE TABLE keepsake_usage (
  memory_key    BLOB    NOT NULL,
  day           INTEGER NOT NULL,
  tenant        TEXT    NOT NULL,
  input_tokens  INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cached_tokens INTEGER NOT NULL,
  PRIMARY KEY (memory_key, day)
);

CREATE INDEX keepsake_usage_by_tenant ON keepsake_usage (tenant, day);

CREATE TABLE keepsake_lease (
  memory_key BLOB    NOT NULL,
  name       TEXT    NOT NULL,
  owner      TEXT    NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (memory_key, name)
);
