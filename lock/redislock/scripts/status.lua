-- Reads the lock.
--
-- ARGV: nonce.
-- Returns "nonce waiters ttl value"; without the value if there is none.

local value = redis.call('GET', KEYS[1])
return ARGV[1] .. ' ' .. redis.call('ZCARD', KEYS[2]) .. ' ' .. redis.call('PTTL', KEYS[1]) .. ' ' .. (value or '')
