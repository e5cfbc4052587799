-- Frees the lock if the owner has it, or passes on a reservation for the owner.
--
-- ARGV: nonce, "fence owner " of the lease, its fence, ttl in milliseconds, and only if
-- there is one: the waiter "channel owner" that leaves the queue or '', and the first
-- waiter of the lease's process: "channel owner", the value of the lock when it holds it,
-- and its ttl. The fence is 0 if the owner has no lease.
-- Returns "nonce" if the owner had the lock, "nonce passed" if that waiter has it now,
-- and otherwise "nonce 0".
--
-- Another first waiter is told to ask, and for a moment nobody else can take the lock.
-- A waiter of another process is told to ask after that moment, in case the process
-- of the first is dead.

local nonce, lease, last_fence, ttl, leaving, successor, new, life = unpack(ARGV)
local found = redis.call('MGET', KEYS[1], KEYS[3])
local value, heard = found[1], found[2]

-- The lease has the lock, and nobody waits or its process has the first waiter. Where
-- the memory of Redis is full, the rest of the script does what is needed.
if value and string.find(value, lease, 1, true) == 1 then
  if not heard then
    if not redis.pcall('SET', KEYS[1], last_fence, 'PX', ttl).err then
      return nonce
    end
  elseif successor and redis.call('ZRANGE', KEYS[2], 0, 0)[1] == successor and
      not redis.pcall('SET', KEYS[1], new, 'PX', life).err then
    redis.call('ZREM', KEYS[2], successor)
    redis.call('SET', KEYS[3], string.match(new, '^%d+') .. string.match(heard, ' .*$'), 'KEEPTTL')
    return nonce .. ' passed'
  end
end

-- include prelude.lua

-- tell_later tells a waiter of another process than that of first to ask when the
-- reservation for first is over: one of the two last heard of or, where neither
-- will do, the last in the queue.
local function tell_later(first)
  local function tell(other)
    if channel_of(other) == channel_of(first) then
      return false
    end
    redis.call('PUBLISH', channel_of(other), 'later ' .. string.match(other, '%S+$') .. ' ' .. reservation)
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
    tell_later(first) -- the one that leaves may have been told
  end
  return nonce .. ' 0'
end
local reply = had and nonce or nonce .. ' 0'

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
redis.call('PUBLISH', channel, 'ask ' .. waiter)
tell_later(first)
return reply
