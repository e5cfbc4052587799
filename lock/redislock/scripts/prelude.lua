-- What the scripts have in common. A script with a shortcut for the most frequent case
-- includes it after that, which then costs none of this.
--
-- KEYS[1] is the lock. It begins with the fence of the last grant, and then says:
--   "fence"                      free
--   "fence ! owner ttl"          free, but reserved for a waiter since its TTL began
--   "fence owner version ..."    held
-- Without a value it is as free. The scripts and the TTL change it so:
--   acquire  free, or reserved for the owner  ->  held
--            reserved for another, for longer than the reservation
--                                             ->  held, and the queue is emptied
--            held by the owner                ->  held, for another TTL
--   renew    held by the owner                ->  held, for another TTL
--   release  held by the owner, or reserved for it
--                                             ->  free if nobody waits, or else reserved
--                                                 for the first waiter
--            held, and the first waiter is of the process that releases
--                                             ->  held by that waiter
--   the end of the TTL                        ->  no value
-- KEYS[2] is the queue: a sorted set of waiters "channel owner", by ticket.
-- KEYS[3] is "fence waiter waiter": the last fence, the waiter last heard of, and
-- the one last heard of on another channel or ''. It exists if anybody waits, so
-- that a lock without waiters costs no look at the queue, and keeps the fence when
-- the lock expires.
--
-- Every key always has a TTL. Times are texts of microseconds since 1970, and so
-- are fences, unless they are ahead of the clock: 16 digits until the year 2286.

local reservation = 150 -- milliseconds

local function now()
  local time = redis.call('TIME')
  return time[1] .. string.sub('000000' .. time[2], -6)
end

-- read returns the fence of the lock's value and the text after that. The fence is
-- the one in heard if there is no value, and nil if nothing remembers it.
local function read(value, heard)
  local fence, rest = string.match(value or '', '^(%d+) ?(.*)$')
  if fence then
    return fence, rest
  end
  if value then
    return nil, value -- not a lock: held by something unknown
  end
  return heard and string.match(heard, '^%d+'), ''
end

-- is_held_by reports whether a text begins with the words of another: that after
-- the fence with the owner, or a whole value with "fence owner".
local function is_held_by(text, words)
  return string.sub(text, 1, #words + 1) == words .. ' '
end

-- reserved returns the owner for which a lock is reserved, and the TTL then.
local function reserved(rest)
  return string.match(rest, '^! (%S+) (%d+)$')
end

-- last_heard returns the two waiters of KEYS[3].
local function last_heard(heard)
  local last, other = string.match(heard or '', '^%d+ (%S+ %S+) (.*)$')
  return last or '', other or ''
end

local function channel_of(waiter)
  return string.match(waiter, '^%S*')
end

-- set writes the lock even if the memory of Redis is full. Redis then refuses the
-- first write of a script, but only if it is one that needs memory.
local function set(value, ttl)
  local reply = redis.pcall('SET', KEYS[1], value, 'PX', ttl)
  if reply.err then
    redis.call('PEXPIRE', KEYS[1], ttl)
    redis.call('SET', KEYS[1], value, 'PX', ttl)
  end
end
