-- Takes the lock if it is free, or else joins the line.
--
-- ARGV: nonce, owner, ttl in milliseconds, highest fence seen, channel on which
-- the owner waits or '' if it does not wait.
-- Returns the nonce; 1 if the owner has the lock; the lock's value; its TTL.
--
-- Asking twice does no harm: an owner that has the lock is told so again, and
-- one that stands in line keeps its place.

local nonce, owner, ttl, seen, channel = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
local waiter = ttl .. ' ' .. channel .. ' ' .. owner

local value = redis.call('GET', KEYS[1])
if not value then
  value = grant(owner, ttl, ttl, seen)
  if channel ~= '' then
    redis.call('ZREM', KEYS[3], waiter)
  end
  return {nonce, 1, value, ttl}
end

if is_owner(value, owner) then
  redis.call('PEXPIRE', KEYS[1], ttl)
  keep_for(KEYS[2], ttl)
  return {nonce, 1, value, ttl}
end

if channel ~= '' then
  redis.call('ZADD', KEYS[3], 'NX', decimal(now), waiter)
  keep_for(KEYS[3], ttl)
end
return {nonce, 0, value, redis.call('PTTL', KEYS[1])}
