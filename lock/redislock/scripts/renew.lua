-- Extends the lock if the owner still has it.
--
-- ARGV: nonce, "fence owner", ttl in milliseconds, the new value or ''.
-- Returns "nonce 1" if the lease has the lock, and otherwise "nonce 0".
--
-- The fence is compared because a late copy of the owner's own request may have
-- taken the lock again after the lease had ended.

-- include prelude.lua

local nonce, lease, ttl, new = unpack(ARGV)

if not is_held_by(redis.call('GET', KEYS[1]) or '', lease) then
  return nonce .. ' 0'
end
redis.call('PEXPIRE', KEYS[1], ttl)
if new ~= '' then
  redis.call('SET', KEYS[1], new, 'PX', ttl)
end
return nonce .. ' 1'
