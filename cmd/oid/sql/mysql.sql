-- Functions for ObjectIds in MySQL and MariaDB, in columns of text (24 hexadecimal digits)
-- and of BINARY(12). Anything else is NULL. Times are DATETIME in UTC: FROM_UNIXTIME of
-- many versions ends in 2038. Written by "oid sql --for mysql".

DROP FUNCTION IF EXISTS objectid_hex;
CREATE FUNCTION objectid_hex(id VARBINARY(255)) RETURNS VARCHAR(24) CHARACTER SET ascii
    DETERMINISTIC NO SQL
    RETURN CASE
        WHEN LENGTH(id) = 12 THEN LOWER(HEX(id))
        WHEN LENGTH(id) = 24 AND CONVERT(id USING latin1) REGEXP '^[0-9A-Fa-f]{24}$' THEN LOWER(CONVERT(id USING latin1))
    END;

-- When the id was created, in UTC.
DROP FUNCTION IF EXISTS objectid_timestamp;
CREATE FUNCTION objectid_timestamp(id VARBINARY(255)) RETURNS DATETIME
    DETERMINISTIC NO SQL
    RETURN TIMESTAMP('1970-01-01') + INTERVAL CAST(CONV(LEFT(objectid_hex(id), 8), 16, 10) AS UNSIGNED) SECOND;

-- The process value, as "oid inspect" shows it.
DROP FUNCTION IF EXISTS objectid_process;
CREATE FUNCTION objectid_process(id VARBINARY(255)) RETURNS VARCHAR(10) CHARACTER SET ascii
    DETERMINISTIC NO SQL
    RETURN SUBSTR(objectid_hex(id), 9, 10);

-- The counter, from 0 to 16777215.
DROP FUNCTION IF EXISTS objectid_counter;
CREATE FUNCTION objectid_counter(id VARBINARY(255)) RETURNS INT UNSIGNED
    DETERMINISTIC NO SQL
    RETURN CAST(CONV(RIGHT(objectid_hex(id), 6), 16, 10) AS UNSIGNED);

-- The first id of a second, as a bound: _id >= objectid_from_timestamp(...), with a time
-- in UTC. Times before 1970 give the smallest id of all, times after 2106 the greatest.
DROP FUNCTION IF EXISTS objectid_from_timestamp;
CREATE FUNCTION objectid_from_timestamp(t DATETIME(6)) RETURNS VARCHAR(24) CHARACTER SET ascii
    DETERMINISTIC NO SQL
    RETURN CASE
        WHEN t < TIMESTAMP('1970-01-01') THEN REPEAT('0', 24)
        WHEN t >= TIMESTAMP('2106-02-07 06:28:16') THEN REPEAT('f', 24)
        WHEN t IS NOT NULL THEN CONCAT(LOWER(LPAD(HEX(TIMESTAMPDIFF(SECOND, '1970-01-01', t)), 8, '0')), REPEAT('0', 16))
    END;

DROP FUNCTION IF EXISTS objectid_binary_from_timestamp;
CREATE FUNCTION objectid_binary_from_timestamp(t DATETIME(6)) RETURNS BINARY(12)
    DETERMINISTIC NO SQL
    RETURN UNHEX(objectid_from_timestamp(t));
