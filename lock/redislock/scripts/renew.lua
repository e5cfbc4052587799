-- Renews the lock if the lease still has it.
--
-- ARGV: nonce, lease ("fence owner"), ttl in milliseconds, and the new value of the lock, or ''
-- to keep the value.
-- Returns "nonce 1" if the lease has the lock, and otherwise "nonce 0".
--
-- The fence is compared too: a delayed copy of the owner's first request may have taken the
-- lock again after the lease had ended, and the lock then has another fence.

-- include prelude.lua

local nonce, lease, ttl, new = unpack(ARGV)

if not is_held_by(redis.call('GET', KEYS[1]) or '', lease) then
  return nonce .. ' 0'
end
if new == '' then
  redis.call('PEXPIRE', KEYS[1], ttl)
else
  set(new, ttl)
end
return nonce .. ' 1'
