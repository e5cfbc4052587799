-- Reads the lock.
--
-- ARGV: nonce.
-- Returns "nonce waiters ttl value": the length of the queue, the TTL in milliseconds, and the
-- value of the lock, or nothing in its place if the key is missing.

local value = redis.call('GET', KEYS[1])
return ARGV[1] .. ' ' .. redis.call('ZCARD', KEYS[2]) .. ' ' .. redis.call('PTTL', KEYS[1]) .. ' ' .. (value or '')
