-- Functions for ObjectIds in ClickHouse, in columns of String (24 hexadecimal digits, or the
-- 12 bytes) and of FixedString(12). Anything else is NULL. Times are DateTime in UTC. Written
-- by "oid sql --for clickhouse".

CREATE OR REPLACE FUNCTION objectid_hex AS (id) ->
    multiIf(length(id) = 12, lower(hex(id)), match(toString(id), '^[0-9A-Fa-f]{24}$'), lower(toString(id)), NULL);

-- When the id was created, in UTC.
CREATE OR REPLACE FUNCTION objectid_timestamp AS (id) ->
    toDateTime(reinterpretAsUInt32(reverse(unhex(substring(objectid_hex(id), 1, 8)))), 'UTC');

-- The process value, as "oid inspect" shows it.
CREATE OR REPLACE FUNCTION objectid_process AS (id) ->
    substring(objectid_hex(id), 9, 10);

-- The counter, from 0 to 16777215.
CREATE OR REPLACE FUNCTION objectid_counter AS (id) ->
    reinterpretAsUInt32(reverse(unhex(substring(objectid_hex(id), 19, 6))));

-- The first id of a second, as a bound: _id >= objectid_from_timestamp(...), with a
-- DateTime64 or DateTime. Times before 1970 give the smallest id of all, times after 2106
-- the greatest.
CREATE OR REPLACE FUNCTION objectid_from_timestamp AS (t) ->
    multiIf(
        toUnixTimestamp64Milli(toDateTime64(t, 3, 'UTC')) < 0, repeat('0', 24),
        toUnixTimestamp64Milli(toDateTime64(t, 3, 'UTC')) >= 4294967296000, repeat('f', 24),
        concat(leftPad(lower(hex(toUInt32(intDiv(toUnixTimestamp64Milli(toDateTime64(t, 3, 'UTC')), 1000)))), 8, '0'), repeat('0', 16)));

CREATE OR REPLACE FUNCTION objectid_binary_from_timestamp AS (t) ->
    toFixedString(unhex(objectid_from_timestamp(t)), 12);
