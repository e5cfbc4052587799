-- Frees the lock if the owner has it, or passes on a reservation for the owner.
--
-- ARGV: nonce, the lease's fence or '', owner, ttl in milliseconds, the waiter
-- "channel owner" that leaves the queue or ''.
-- Returns "nonce 1" if the owner had the lock, and otherwise "nonce 0".
--
-- The first waiter is told to ask, and for a moment nobody else can take the lock.
-- The waiter of another process that was last heard of is told to ask after that
-- moment, in case the process of the first is dead.

local nonce, lease, owner, ttl, leaving = unpack(ARGV)
local found = redis.call('MGET', KEYS[1], KEYS[3])
local value, heard = found[1], found[2]

-- The owner has the lock and nobody waits.
if value and not heard and string.find(value, lease .. ' ' .. owner .. ' ', 1, true) == 1 and
    not redis.pcall('SET', KEYS[1], lease, 'PX', ttl).err then
  return nonce .. ' 1'
end

-- include prelude.lua

if leaving ~= '' then
  redis.call('ZREM', KEYS[2], leaving)
end
local fence, rest = read(value, heard)
local had = is_held_by(rest, owner)
if not had and reserved(rest) ~= owner then
  return nonce .. ' 0'
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
set(fence .. ' ! ' .. waiter .. ' ' .. string.format('%.0f', now() + reservation), ttl)
redis.call('PUBLISH', channel, 'ask ' .. waiter)
for _, other in ipairs({last_heard(heard)}) do
  if other ~= '' and channel_of(other) ~= channel and redis.call('ZSCORE', KEYS[2], other) then
    redis.call('PUBLISH', channel_of(other), 'later ' .. string.match(other, '%S+$') .. ' ' .. math.ceil(reservation / 1000))
    break
  end
end
return reply
