-- Keepsake4j, the schema for PostgreSQL 14 and newer. Run it by hand, by Flyway or by the library when it is
-- told to. Times are microseconds of UTC since 1970. memory_key is 12 bytes of SHA-256 over the tenant and 12 bytes of
-- SHA-256 over the memory's canonical key: the first 12 bytes tell the tenant, and every table can be sharded by the key.

-- One row. Each script raises version. One beside whose tables an older library would go wrong raises oldest_writer too, and
-- renames all tables, so that a library that runs meanwhile fails and looks here.
CREATE TABLE keepsake_schema (
  version       integer PRIMARY KEY,
  oldest_writer integer NOT NULL,
  CONSTRAINT keepsake_schema_raised_with_tables CHECK (oldest_writer = 3)
);

INSERT INTO keepsake_schema (version, oldest_writer) VALUES (3, 3);

CREATE SEQUENCE keepsake_memory_number;

-- The head's values are kept here too, so that an append under the head needs no row but this one: behind the wait for
-- this row's lock, a statement sees the newest version of it, but not the messages that were committed meanwhile.
-- head_view_seq is the newest view on the head's branch, head_covers_seq the message up to which the newest summary on it
-- covers. head_runs has the runs of that branch below the head's own, newest first, each as three numbers: its first and its
-- last sequence, and what its sequences are above its depths. There are up to eight; an older one is found in the messages.
-- summaries grows when a summary is added or the branch is counted anew, so that a writer sees that this came between.
-- The prev_ columns are what the head was before the newest append, which RETURNING cannot tell before PostgreSQL 18.
-- No index covers a column that each append changes, and pages are left half empty, so that updates stay in the page (HOT).
-- active_at is the time of the newest message when the memory was last moved to the front of its lists by activity: an append
-- changes it only if the minute has changed. It, number and lists say where the memory is in keepsake_listed.
CREATE TABLE keepsake_memory (
  memory_key       bytea  PRIMARY KEY,
  number           bigint NOT NULL DEFAULT nextval('keepsake_memory_number'), -- order of creation, for listing
  tenant           text,                                                      -- the ids are null in a tombstone
  app_id           text,
  conversation_id  text,
  node_id          text,
  title            text,
  metadata         text,                                                      -- JSON
  lists            bigint[],
  epoch            bigint NOT NULL,
  revision         bigint NOT NULL,
  prev_active_at   bigint,                                                    -- null in an append that created the row
  active_at        bigint NOT NULL DEFAULT 0,
  last_seq         bigint NOT NULL,
  tokens           bigint NOT NULL,
  created_at       bigint NOT NULL,                                           -- of an imported memory, its first message's
  stored_at        bigint NOT NULL DEFAULT 0,
  last_message_at  bigint,
  head_seq         bigint,
  head_run_start   bigint,
  head_depth       bigint,
  head_path_tokens bigint,
  head_system_seq  bigint,
  head_user_seq    bigint,
  head_view_seq    bigint,
  head_covers_seq  bigint,
  summaries        bigint NOT NULL DEFAULT 0,
  head_id          text,
  prev_head_seq    bigint,
  prev_system_seq  bigint,
  prev_user_seq    bigint,
  prev_head_id     text,
  head_runs        bigint[],
  CONSTRAINT keepsake_memory_sound CHECK ((head_seq IS NULL) = (head_id IS NULL) AND head_seq <= last_seq)
) WITH (fillfactor = 50);

CREATE INDEX keepsake_memory_nodes ON keepsake_memory (tenant, conversation_id) WHERE node_id IS NOT NULL;

-- The lists of memories: of a tenant, and of each value of a metadata name that is declared. A list's id is 63 bits of a hash of
-- these. Its place is the memory's active_at. The list in order of creation has the negative id, and the place 0. A table of its own,
-- because an append that moves a memory would otherwise write all indexes of the memory's row, and with one index, because it writes
-- each index of this row. So a memory's rows are found by its lists, active_at and number. The tie is 64 bits of the memory's key, in
-- the index instead of the key. Pages are left half empty, so that a row that moves stays in its page.
CREATE TABLE keepsake_listed (
  memory_key bytea  NOT NULL,
  list       bigint NOT NULL,
  place      bigint NOT NULL,
  number     bigint NOT NULL,
  tie        bigint NOT NULL
) WITH (fillfactor = 50);

CREATE INDEX keepsake_listed_in_order ON keepsake_listed (list, place, number, tie);

-- For publications, which need a key of rows that change. Without logical replication it costs nothing.
ALTER TABLE keepsake_listed REPLICA IDENTITY FULL;

-- The metadata names that have lists, and when these were complete, or 0.
CREATE TABLE keepsake_listed_name (
  name      text   PRIMARY KEY,
  listed_at bigint NOT NULL
);

-- A CHECK is read and prepared for each append, about two microseconds for each comparison. So there are only those that keep
-- reads finite; all others are checked by the library as it reads. Null passes a CHECK.

-- What a row inherits from its parent (run_start, depth, path_tokens, system_seq, user_seq) makes a bounded read cost what it
-- returns: a run is a stretch of a branch whose sequence has no gaps.
CREATE TABLE keepsake_message (
  memory_key    bytea   NOT NULL,
  seq           bigint  NOT NULL,
  parent_seq    bigint,          -- null for a root, and where the parent is missing
  created_at    bigint  NOT NULL,
  run_start     bigint  NOT NULL,
  depth         bigint  NOT NULL,
  path_tokens   bigint  NOT NULL,
  system_seq    bigint,          -- the newest system message up to here
  user_seq      bigint,          -- the newest user message up to here
  tokens        integer NOT NULL,
  id            text    NOT NULL,
  parent_id     text,
  token_counter text    NOT NULL,
  runs          bigint[],         -- at a run's start, as head_runs above
  message       text    NOT NULL, -- JSON
  outcome       text,             -- how it ended if it did not end well
  made          text,             -- what an answer was made from, and the tokens used
  request       text,             -- the whole request that was answered, where it is kept; JSON
  PRIMARY KEY (memory_key, seq),
  CONSTRAINT keepsake_message_id UNIQUE (memory_key, id),
  CONSTRAINT keepsake_message_sound CHECK (parent_seq < seq AND run_start <= seq AND depth >= 1 AND tokens >= 0)
);

CREATE INDEX keepsake_message_run ON keepsake_message (memory_key, seq, parent_seq) WHERE run_start = seq;

CREATE TABLE keepsake_view (
  memory_key bytea  NOT NULL,
  anchor_seq bigint NOT NULL,
  anchor_id  text   NOT NULL,
  view       text   NOT NULL, -- JSON
  PRIMARY KEY (memory_key, anchor_seq),
  CONSTRAINT keepsake_view_anchor CHECK (anchor_seq >= 1)
);

CREATE TABLE keepsake_summary (
  memory_key        bytea   NOT NULL,
  version           bigint  NOT NULL,
  covers_seq        bigint  NOT NULL,
  tokens            integer NOT NULL,
  replaced_messages bigint  NOT NULL,
  replaced_tokens   bigint  NOT NULL,
  created_at        bigint  NOT NULL,
  covers_id         text    NOT NULL,
  token_counter     text    NOT NULL,
  model             text,
  text              text    NOT NULL, -- a JSON string
  PRIMARY KEY (memory_key, version),
  CONSTRAINT keepsake_summary_numbers CHECK (
    version >= 1 AND covers_seq >= 1 AND tokens >= 0 AND replaced_messages >= 0 AND replaced_tokens >= 0)
);

CREATE INDEX keepsake_summary_by_message ON keepsake_summary (memory_key, covers_seq, version);

-- The newest messages of named branches.
CREATE TABLE keepsake_reference (
  memory_key bytea  NOT NULL,
  seq        bigint NOT NULL,
  name       text   NOT NULL,
  id         text   NOT NULL,
  PRIMARY KEY (memory_key, name)
);

-- Tokens that a memory's answers used, by days of UTC since 1970. An append changes no column that an index covers, and pages
-- are left half empty, so that updates stay in the page (HOT).
CREATE TABLE keepsake_usage (
  memory_key    bytea  NOT NULL,
  day           bigint NOT NULL,
  input_tokens  bigint NOT NULL,
  output_tokens bigint NOT NULL,
  cached_tokens bigint NOT NULL,
  tenant        text   NOT NULL,
  PRIMARY KEY (memory_key, day)
) WITH (fillfactor = 50);

CREATE INDEX keepsake_usage_by_tenant ON keepsake_usage (tenant, day);

CREATE TABLE keepsake_lease (
  memory_key bytea  NOT NULL,
  name       text   NOT NULL,
  owner      text   NOT NULL,
  expires_at bigint NOT NULL,
  PRIMARY KEY (memory_key, name)
);

-- The planner would take a memory for two hundredths of the table, and would plan each statement anew for each memory where
-- memories differ in size. With a fixed share it takes one plan for all.
ALTER TABLE keepsake_message ALTER COLUMN memory_key SET (n_distinct = -0.01);
ALTER TABLE keepsake_view ALTER COLUMN memory_key SET (n_distinct = -0.01);
ALTER TABLE keepsake_summary ALTER COLUMN memory_key SET (n_distinct = -0.01);

-- Statistics have values of a column in a table of their own, where they would stay after an erasure. So there are none of texts,
-- and of names that the application chose but the tenant's.
ALTER TABLE keepsake_memory
  ALTER COLUMN app_id SET STATISTICS 0, ALTER COLUMN conversation_id SET STATISTICS 0, ALTER COLUMN node_id SET STATISTICS 0,
  ALTER COLUMN title SET STATISTICS 0, ALTER COLUMN metadata SET STATISTICS 0, ALTER COLUMN lists SET STATISTICS 0;
ALTER TABLE keepsake_message
  ALTER COLUMN message SET STATISTICS 0, ALTER COLUMN outcome SET STATISTICS 0, ALTER COLUMN made SET STATISTICS 0,
  ALTER COLUMN request SET STATISTICS 0;
ALTER TABLE keepsake_view ALTER COLUMN view SET STATISTICS 0;
ALTER TABLE keepsake_summary ALTER COLUMN text SET STATISTICS 0;
ALTER TABLE keepsake_listed_name ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE keepsake_reference ALTER COLUMN name SET STATISTICS 0;
