-- Keepsake4j on Citus: distributes the tables by memory, so that each statement goes to one shard. Run it once, after the
-- schema's scripts, on the coordinator of a database that has the extension citus. The tables may have rows. All rows of
-- one memory lie together, and memories of one tenant lie on many shards.

SELECT create_distributed_table('keepsake_memory', 'memory_key');
SELECT create_distributed_table('keepsake_listed', 'memory_key', colocate_with => 'keepsake_memory');
SELECT create_distributed_table('keepsake_message', 'memory_key', colocate_with => 'keepsake_memory');
SELECT create_distributed_table('keepsake_view', 'memory_key', colocate_with => 'keepsake_memory');
SELECT create_distributed_table('keepsake_summary', 'memory_key', colocate_with => 'keepsake_memory');
SELECT create_distributed_table('keepsake_reference', 'memory_key', colocate_with => 'keepsake_memory');
SELECT create_distributed_table('keepsake_usage', 'memory_key', colocate_with => 'keepsake_memory');
SELECT create_distributed_table('keepsake_lease', 'memory_key', colocate_with => 'keepsake_memory');
SELECT create_reference_table('keepsake_schema');
SELECT create_reference_table('keepsake_listed_name');
