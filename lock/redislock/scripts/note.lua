-- Reads the note of a lock, or replaces it if a lease still has the lock.
--
-- KEYS[1] is the lock, KEYS[2] its note.
-- To read, ARGV is nonce. Returns "nonce time note", with the time in microseconds.
-- To replace, ARGV is nonce, lease ("fence owner"), note and its life in milliseconds.
-- Returns "nonce 1" if the lease has the lock, and otherwise "nonce 0".

local nonce, lease, note, life = unpack(ARGV)

-- include prelude.lua

if lease then
  if not is_held_by(redis.call('GET', KEYS[1]) or '', lease) then
    return nonce .. ' 0'
  end
  redis.call('SET', KEYS[2], note, 'PX', life)
  return nonce .. ' 1'
end
return nonce .. ' ' .. now() .. ' ' .. (redis.call('GET', KEYS[2]) or '')
