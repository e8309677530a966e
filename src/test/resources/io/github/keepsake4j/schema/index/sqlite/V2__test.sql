-- What the next release might add, for a test.
CREATE TABLE keepsake_index_extra (number integer PRIMARY KEY);
UPDATE keepsake_index_schema SET version = version + 1;
