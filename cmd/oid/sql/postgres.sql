-- Functions for ObjectIds in PostgreSQL 14 or later, in columns of text (24 hexadecimal
-- digits) and of bytea (12 bytes). Anything else is NULL. Written by "oid sql --for postgres".

CREATE OR REPLACE FUNCTION objectid_hex(id text) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE WHEN id ~ '^[0-9A-Fa-f]{24}$' THEN lower(id) END;

CREATE OR REPLACE FUNCTION objectid_hex(id bytea) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE WHEN length(id) = 12 THEN encode(id, 'hex') END;

-- When the id was created.
CREATE OR REPLACE FUNCTION objectid_timestamp(id text) RETURNS timestamptz
    IMMUTABLE STRICT PARALLEL SAFE
    RETURN to_timestamp(('x' || left(objectid_hex(id), 8))::bit(32)::bigint);

CREATE OR REPLACE FUNCTION objectid_timestamp(id bytea) RETURNS timestamptz
    IMMUTABLE STRICT PARALLEL SAFE
    RETURN to_timestamp(('x' || left(objectid_hex(id), 8))::bit(32)::bigint);

-- The process value, as "oid inspect" shows it.
CREATE OR REPLACE FUNCTION objectid_process(id text) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE
    RETURN substr(objectid_hex(id), 9, 10);

CREATE OR REPLACE FUNCTION objectid_process(id bytea) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE
    RETURN substr(objectid_hex(id), 9, 10);

-- The counter, from 0 to 16777215.
CREATE OR REPLACE FUNCTION objectid_counter(id text) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE
    RETURN ('x' || right(objectid_hex(id), 6))::bit(24)::integer;

CREATE OR REPLACE FUNCTION objectid_counter(id bytea) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE
    RETURN ('x' || right(objectid_hex(id), 6))::bit(24)::integer;

-- The first id of a second, as a bound: _id >= objectid_from_timestamp(...). Times
-- before 1970 give the smallest id of all, times after 2106 the greatest.
CREATE OR REPLACE FUNCTION objectid_from_timestamp(t timestamptz) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE
        WHEN t < '1970-01-01 00:00:00+00' THEN repeat('0', 24)
        WHEN t >= '2106-02-07 06:28:16+00' THEN repeat('f', 24)
        ELSE lpad(to_hex(floor(extract(epoch FROM t))::bigint), 8, '0') || repeat('0', 16)
    END;

CREATE OR REPLACE FUNCTION objectid_binary_from_timestamp(t timestamptz) RETURNS bytea
    IMMUTABLE STRICT PARALLEL SAFE
    RETURN decode(objectid_from_timestamp(t), 'hex');
