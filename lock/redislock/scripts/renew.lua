-- Extends the lock if the owner still has it.
--
-- ARGV: nonce, owner, ttl in milliseconds.
-- Returns the nonce; 1 if the owner has the lock.

local nonce, owner, ttl = ARGV[1], ARGV[2], tonumber(ARGV[3])
if not is_owner(redis.call('GET', KEYS[1]), owner) then
  return {nonce, 0}
end
redis.call('PEXPIRE', KEYS[1], ttl)
keep_for(KEYS[2], ttl)
return {nonce, 1}
