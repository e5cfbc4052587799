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

local nonce, owner, ttl, seen, channel, deaf = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5], ARGV[6]

if channel ~= '' then
  redis.call('ZREM', KEYS[3], ttl .. ' ' .. channel .. ' ' .. owner)
end
if not is_owner(redis.call('GET', KEYS[1]), owner) then
  return {nonce, 0}
end

while true do
  -- This comes before any SET because a Redis whose memory is full refuses the
  -- first write of a script, but not the later ones.
  local first = redis.call('ZPOPMIN', KEYS[3])
  if #first == 0 then
    break
  end
  local waiter_ttl, waiter_channel, waiter = string.match(first[1], '^(%d+) (%S+) (%S+)$')
  local value = grant(waiter, math.floor(waiter_ttl / 3), tonumber(waiter_ttl), seen)
  if redis.call('PUBLISH', waiter_channel, value .. ' ' .. KEYS[1]) > 0 or deaf == '1' then
    return {nonce, 1}
  end
end

redis.call('DEL', KEYS[1])
keep_for(KEYS[2], ttl)
return {nonce, 1}
