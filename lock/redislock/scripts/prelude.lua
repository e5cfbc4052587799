-- What the scripts have in common.
--
-- KEYS[1] is the lock: "fence since owner", with a TTL, while somebody has it.
-- KEYS[2] is the fence of the last holder that gave the lock back, with a TTL.
-- KEYS[3] is the line: "ttl channel owner" of each waiter, scored by its arrival.
--
-- Numbers are exact up to 2^53, which as microseconds lasts until the year 2255.
-- Those that come in as text are handed on as text: that is faster.

local function now()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

-- is_owner reports whether the lock's value names owner.
local function is_owner(value, owner)
  return value and string.sub(value, -#owner - 1) == ' ' .. owner
end

-- new_value returns the lock's value for its next owner. previous is the fence
-- before, and seen the highest that the caller knows of any lock.
local function new_value(owner, previous, seen)
  local time = now()
  local since = string.format('%.0f', time)
  local above = math.max(previous, seen)
  if above < time then
    return since .. ' ' .. since .. ' ' .. owner
  end
  return string.format('%.0f', above + 1) .. ' ' .. since .. ' ' .. owner
end
