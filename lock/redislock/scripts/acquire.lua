-- Takes the lock if it is free, or else joins the line.
--
-- ARGV: nonce, owner, ttl in milliseconds, highest fence seen, channel on which
-- the owner waits or '' if it does not wait.
-- Returns the nonce; 1 if the owner has the lock; the lock's value; its TTL.
--
-- Asking twice does no harm: an owner that has the lock is told so again, and
-- one that stands in line keeps its place.

local nonce, owner, ttl, seen, channel = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local state = redis.call('MGET', KEYS[1], KEYS[2])
local value = state[1]
if not value then
  value = new_value(owner, state[2] or 0, seen)
  if not redis.call('SET', KEYS[1], value, 'NX', 'PX', ttl) then
    return redis.error_reply('WRONGTYPE ' .. KEYS[1] .. ' is no lock')
  end
  if channel ~= '' then
    redis.call('ZREM', KEYS[3], ttl .. ' ' .. channel .. ' ' .. owner)
  end
  return {nonce, 1, value, ttl}
end

if is_owner(value, owner) then
  redis.call('PEXPIRE', KEYS[1], ttl)
  return {nonce, 1, value, ttl}
end

if channel ~= '' then
  redis.call('ZADD', KEYS[3], 'NX', string.format('%.0f', now()), ttl .. ' ' .. channel .. ' ' .. owner)
  if redis.call('PTTL', KEYS[3]) < tonumber(ttl) then -- others in line may need it for longer
    redis.call('PEXPIRE', KEYS[3], ttl)
  end
end
return {nonce, 0, value, redis.call('PTTL', KEYS[1])}
