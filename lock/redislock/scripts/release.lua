-- Releases the lock if an owner has it, or hands on a reservation for that owner.
--
-- ARGV:
--   nonce
--   lease       "fence owner " of the lease; the fence is 0 if the owner has none
--   last_fence  that fence
--   ttl         in milliseconds
--   leaving     optional: the waiter "channel owner" that leaves the queue, or ''
--   successor   optional: the first waiter of the owner's process, "channel owner"; it may not
--               be in the queue
--   new         the value of the lock once successor has it
--   life        the ttl of successor
-- Returns
--   "nonce", or "nonce 1"
--                   the owner had the lock
--   "nonce passed"  the owner had the lock, and successor has it now
--   "nonce 0"       the owner did not have the lock
-- Hints that Redis did not let the script publish follow the 0 or 1, see prelude.lua.
--
-- If the first waiter is not successor, the lock is reserved for the first waiter, which gets
-- a hint to ask. The first waiter may be dead, so a waiter of another process gets a hint to
-- ask when the reservation is over.

local nonce, lease, last_fence, ttl, leaving, successor, new, life = unpack(ARGV)
local found = redis.call('MGET', KEYS[1], KEYS[3])
local value, heard = found[1], found[2]

-- The most frequent cases: the lease has the lock, and nobody is in the queue or successor is
-- the first waiter. If the memory of Redis is full, the rest of the script handles them.
if value and string.find(value, lease, 1, true) == 1 then
  local pass = successor and (not heard or redis.call('ZRANGE', KEYS[2], 0, 0)[1] == successor)
  if pass and not redis.pcall('SET', KEYS[1], new, 'PX', life).err then
    if heard then
      redis.call('ZREM', KEYS[2], successor)
      redis.call('SET', KEYS[3], string.match(new, '^%d+') .. string.match(heard, ' .*$'), 'KEEPTTL')
    end
    return nonce .. ' passed'
  elseif not heard and not redis.pcall('SET', KEYS[1], last_fence, 'PX', ttl).err then
    return nonce
  end
end

-- include prelude.lua

-- tell_later makes a waiter of another process than first ask when the reservation for first
-- is over. It prefers the two waiters that asked last to others at the end of the queue.
local function tell_later(first)
  local function tell(other)
    if channel_of(other) == channel_of(first) then
      return false
    end
    hint(channel_of(other), 'later ' .. string.match(other, '%S+$') .. ' ' .. reservation)
    return true
  end
  local last, before = last_heard(heard)
  if before == '' and channel_of(last) == channel_of(first) then
    return -- all waiters belong to one process
  end
  for _, other in ipairs({last, before}) do
    if other ~= '' and redis.call('ZSCORE', KEYS[2], other) and tell(other) then
      return
    end
  end
  for _, other in ipairs(redis.call('ZREVRANGE', KEYS[2], 0, 99)) do
    if tell(other) then
      return
    end
  end
end

if leaving == '' then
  leaving = nil
end
if leaving then
  redis.call('ZREM', KEYS[2], leaving)
end
local owner = string.match(lease, '^%d+ (%S+)')
local fence, rest = read(value, heard)
local had = is_held_by(rest, owner)
if not had and reserved(rest) ~= owner then
  local first = leaving and reserved(rest) and redis.call('ZRANGE', KEYS[2], 0, 0)[1]
  if first then
    tell_later(first) -- the hint may have gone to the waiter that leaves
  end
  return nonce .. ' 0' .. untold
end
local reply = nonce .. (had and ' 1' or ' 0')

local first = heard and redis.call('ZRANGE', KEYS[2], 0, 0)[1]
if not first then
  if heard then
    redis.call('DEL', KEYS[3])
  end
  set(fence, ttl)
  return reply
end

local channel, waiter = string.match(first, '^(%S+) (%S+)$')
set(fence .. ' ! ' .. waiter .. ' ' .. ttl, ttl)
hint(channel, 'ask ' .. waiter)
tell_later(first)
return reply .. untold
