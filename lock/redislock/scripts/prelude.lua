-- What the scripts have in common.
--
-- KEYS[1] is the lock: "fence owner" while somebody has it, and "fence", that of
-- the last holder, for one TTL after it was given back. It always has a TTL.
-- KEYS[2] is the line: a place "deaf ttl channel owner" for each waiter, scored by
-- its arrival. deaf is 1 if Redis cannot tell whether anybody listens on the
-- channel.
--
-- A fence is at least the time in microseconds: 16 digits until the year 2286, so
-- that fences compare as text. Making numbers of them is slow, and exact only up
-- to 2^53.

-- now returns the time in microseconds.
local function now()
  local time = redis.call('TIME')
  return time[1] .. string.sub('000000' .. time[2], -6)
end

-- is_owner reports whether the lock's value names owner.
local function is_owner(value, owner)
  return value and string.sub(value, -#owner - 1) == ' ' .. owner
end

-- next_fence returns the fence after previous and seen, texts that may be ''.
local function next_fence(previous, seen)
  local fence = now()
  if fence > previous and fence > seen then
    return fence
  end
  return string.format('%.0f', math.max(tonumber(previous) or 0, tonumber(seen) or 0) + 1)
end
