-- A view of a table for SQLite 3.38 or later, with what the ObjectIds in a column hold:
-- objectid_timestamp (in UTC), objectid_process, objectid_counter and objectid_hex. The ids
-- are text of 24 hexadecimal digits or blobs of 12 bytes; of anything else the view has NULL.
-- SQLite has no functions in SQL. The first id of a second from 1970 to 2106, as a bound, is
--   objectid_from_timestamp:         printf('%08x0000000000000000', unixepoch(TIME))
--   objectid_binary_from_timestamp:  unhex(printf('%08x0000000000000000', unixepoch(TIME)))
-- for text and for blobs; unhex needs SQLite 3.41. Written by "oid sql --for sqlite".

DROP VIEW IF EXISTS "TABLE_objectid";
CREATE VIEW "TABLE_objectid" AS
SELECT *,
    datetime(
        (instr('123456789abcdef', substr(objectid_hex, 1, 1)) << 28)
        | (instr('123456789abcdef', substr(objectid_hex, 2, 1)) << 24)
        | (instr('123456789abcdef', substr(objectid_hex, 3, 1)) << 20)
        | (instr('123456789abcdef', substr(objectid_hex, 4, 1)) << 16)
        | (instr('123456789abcdef', substr(objectid_hex, 5, 1)) << 12)
        | (instr('123456789abcdef', substr(objectid_hex, 6, 1)) << 8)
        | (instr('123456789abcdef', substr(objectid_hex, 7, 1)) << 4)
        | (instr('123456789abcdef', substr(objectid_hex, 8, 1)) << 0),
        'unixepoch') AS objectid_timestamp,
    substr(objectid_hex, 9, 10) AS objectid_process,
        (instr('123456789abcdef', substr(objectid_hex, 19, 1)) << 20)
        | (instr('123456789abcdef', substr(objectid_hex, 20, 1)) << 16)
        | (instr('123456789abcdef', substr(objectid_hex, 21, 1)) << 12)
        | (instr('123456789abcdef', substr(objectid_hex, 22, 1)) << 8)
        | (instr('123456789abcdef', substr(objectid_hex, 23, 1)) << 4)
        | (instr('123456789abcdef', substr(objectid_hex, 24, 1)) << 0)
        AS objectid_counter
FROM (
    SELECT *,
        CASE
            WHEN typeof("COLUMN") = 'blob' AND length("COLUMN") = 12 THEN lower(hex("COLUMN"))
            WHEN typeof("COLUMN") = 'text' AND length("COLUMN") = 24 AND "COLUMN" NOT GLOB '*[^0-9A-Fa-f]*' THEN lower("COLUMN")
        END AS objectid_hex
    FROM "TABLE"
);
