-- Macros for ObjectIds in DuckDB, in columns of VARCHAR (24 hexadecimal digits) and of BLOB
-- (12 bytes). Anything else is NULL. Times are TIMESTAMP in UTC. Written by
-- "oid sql --for duckdb".

CREATE OR REPLACE MACRO objectid_hex(id) AS
    nullif(regexp_extract(lower(CASE WHEN typeof(id) = 'BLOB' THEN hex(id) ELSE id::VARCHAR END), '^[0-9a-f]{24}$'), '');

-- When the id was created, in UTC.
CREATE OR REPLACE MACRO objectid_timestamp(id) AS
    make_timestamp(('0x' || left(objectid_hex(id), 8))::BIGINT * 1000000);

-- The process value, as "oid inspect" shows it.
CREATE OR REPLACE MACRO objectid_process(id) AS
    substr(objectid_hex(id), 9, 10);

-- The counter, from 0 to 16777215.
CREATE OR REPLACE MACRO objectid_counter(id) AS
    ('0x' || right(objectid_hex(id), 6))::INTEGER;

-- The first id of a second, as a bound: _id >= objectid_from_timestamp(...), with a time
-- in UTC. Times before 1970 give the smallest id of all, times after 2106 the greatest.
CREATE OR REPLACE MACRO objectid_from_timestamp(t) AS
    CASE
        WHEN t::TIMESTAMP < '1970-01-01'::TIMESTAMP THEN repeat('0', 24)
        WHEN t::TIMESTAMP >= '2106-02-07 06:28:16'::TIMESTAMP THEN repeat('f', 24)
        ELSE printf('%08x', epoch_us(t::TIMESTAMP) // 1000000) || repeat('0', 16)
    END;

CREATE OR REPLACE MACRO objectid_binary_from_timestamp(t) AS
    unhex(objectid_from_timestamp(t));
