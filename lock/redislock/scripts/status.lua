-- Reads the lock.
--
-- ARGV: nonce.
-- Returns the nonce; the lock's value or nil; its TTL; the length of the line.

return {ARGV[1], redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1]), redis.call('ZCARD', KEYS[3])}
