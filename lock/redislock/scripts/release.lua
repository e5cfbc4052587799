-- Takes the owner out of the line, and if it has the lock gives that to the
-- first in line who can be told.
--
-- ARGV: nonce, owner or the whole value of the lock, which is compared faster, ttl
-- in milliseconds, place in line or '' if the owner did not wait.
-- Returns "nonce 1" if the owner had the lock, and otherwise "nonce 0".
--
-- A waiter is given the lock for a third of its TTL. It renews it as soon as it
-- hears of it; if it has died, that is how long it stands in the way.

local nonce, held, ttl, place = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

if place ~= '' then
  redis.call('ZREM', KEYS[2], place)
end
local value = redis.call('GET', KEYS[1])
if value ~= held and not is_owner(value, held) then
  return nonce .. ' 0'
end
local fence = string.match(value, '^%d+')

while true do
  -- This comes before any SET because a Redis whose memory is full refuses the
  -- first write of a script, but not the later ones.
  local waiter = redis.call('ZPOPMIN', KEYS[2])[1]
  if not waiter then
    break
  end
  local deaf, waiter_ttl, channel, waiter_owner = string.match(waiter, '^(%d) (%d+) (%S+) (%S+)$')
  fence = next_fence(fence, '')
  value = fence .. ' ' .. waiter_owner
  redis.call('SET', KEYS[1], value, 'PX', math.floor(waiter_ttl / 3))
  if redis.call('PUBLISH', channel, value .. ' ' .. KEYS[1]) > 0 or deaf == '1' then
    return nonce .. ' 1'
  end
end

redis.call('SET', KEYS[1], fence, 'PX', ttl)
return nonce .. ' 1'
