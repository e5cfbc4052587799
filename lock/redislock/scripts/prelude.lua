-- What the scripts that grant a lock have in common.
--
-- KEYS[1] is the lock: "fence since owner", with a TTL, while somebody has it.
-- KEYS[2] is the highest fence given, with a TTL.
-- KEYS[3] is the line: "ttl channel owner" of each waiter, scored by its arrival.

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

-- Numbers up to 2^53 are exact, which as microseconds lasts until the year 2255.
local function decimal(n)
  return string.format('%.0f', n)
end

-- is_owner reports whether the lock's value names owner.
local function is_owner(value, owner)
  return value and string.sub(value, -#owner - 1) == ' ' .. owner
end

-- keep_for sees to it that key lives for at least ttl milliseconds.
local function keep_for(key, ttl)
  if redis.call('PTTL', key) < ttl then
    redis.call('PEXPIRE', key, ttl)
  end
end

-- grant gives the lock to owner for some milliseconds and returns its value. The
-- fence is remembered for at least ttl. seen is the highest fence that the
-- caller knows of.
local function grant(owner, milliseconds, ttl, seen)
  local previous = tonumber(redis.call('GET', KEYS[2]) or 0)
  local fence = decimal(math.max(previous + 1, now, seen + 1))
  local value = fence .. ' ' .. decimal(now) .. ' ' .. owner
  redis.call('SET', KEYS[1], value, 'PX', milliseconds)
  redis.call('SET', KEYS[2], fence, 'PX', ttl)
  return value
end
