-- Takes the owner out of the line, and if it has the lock gives that to the
-- first in line who can be told.
--
-- ARGV: nonce, owner, ttl in milliseconds, highest fence seen, channel on which
-- the owner waited or '' if it did not, 1 if Redis cannot tell whether anybody
-- listens on a channel.
-- Returns the nonce; 1 if the owner had the lock.
--
-- A waiter is given the lock for a third of its TTL. It renews it as soon as it
-- hears of it; if it has died, that is how long it stands in the way.

local nonce, owner, ttl, seen, channel, deaf = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]

if channel ~= '' then
  redis.call('ZREM', KEYS[3], ttl .. ' ' .. channel .. ' ' .. owner)
end
local value = redis.call('GET', KEYS[1])
if not is_owner(value, owner) then
  return {nonce, 0}
end

while true do
  -- This comes before any SET because a Redis whose memory is full refuses the
  -- first write of a script, but not the later ones.
  local waiter = redis.call('ZPOPMIN', KEYS[3])[1]
  if not waiter then
    break
  end
  local waiter_ttl, waiter_channel, waiter_owner = string.match(waiter, '^(%d+) (%S+) (%S+)$')
  value = new_value(waiter_owner, string.match(value, '^%d+'), seen)
  redis.call('SET', KEYS[1], value, 'PX', math.floor(waiter_ttl / 3))
  if redis.call('PUBLISH', waiter_channel, value .. ' ' .. KEYS[1]) > 0 or deaf == '1' then
    return {nonce, 1}
  end
end

redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[2], string.match(value, '^%d+'), 'PX', ttl)
return {nonce, 1}
