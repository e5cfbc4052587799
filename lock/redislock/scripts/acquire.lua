-- Takes the lock if it is free, or else joins the line.
--
-- ARGV: nonce, owner, ttl in milliseconds, highest fence seen or '', place in line
-- or '' if the owner does not wait.
-- Returns "nonce fence" if the owner has the lock now, and otherwise
-- "nonce ttl fence owner" of who has it.
--
-- Asking twice does no harm: an owner that has the lock is told so again, and
-- one that stands in line keeps its place.

local nonce, owner, ttl, seen, place = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local value = redis.call('GET', KEYS[1])
if not value or not string.find(value, ' ', 1, true) then
  local fence = next_fence(value or '', seen)
  redis.call('SET', KEYS[1], fence .. ' ' .. owner, 'PX', ttl)
  if place ~= '' then
    redis.call('ZREM', KEYS[2], place)
  end
  return nonce .. ' ' .. fence
end

if is_owner(value, owner) then
  redis.call('PEXPIRE', KEYS[1], ttl)
  return nonce .. ' ' .. string.match(value, '^%d+')
end

if place ~= '' then
  redis.call('ZADD', KEYS[2], 'NX', now(), place)
  if redis.call('PTTL', KEYS[2]) < tonumber(ttl) then -- others in line may need it for longer
    redis.call('PEXPIRE', KEYS[2], ttl)
  end
end
return nonce .. ' ' .. redis.call('PTTL', KEYS[1]) .. ' ' .. value
