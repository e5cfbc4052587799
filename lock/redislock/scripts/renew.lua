-- Extends the lock if the owner still has it.
--
-- ARGV: nonce, owner, ttl in milliseconds.
-- Returns "nonce 1" if the owner has the lock, and otherwise "nonce 0".

if not is_owner(redis.call('GET', KEYS[1]), ARGV[2]) then
  return ARGV[1] .. ' 0'
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return ARGV[1] .. ' 1'
