-- Functions that the scripts share. A script that handles its most frequent case first
-- includes them after that, so that this case does not pay for them.
--
-- KEYS[1] is the lock. Its value begins with the fence of the last lease:
--   "fence"                      free
--   "fence ! owner ttl"          reserved for a waiter, since the key got this TTL
--   "fence owner version ..."    held
-- A missing key is a free lock. The scripts and the TTL change the lock as follows:
--   acquire  free, or reserved for the owner  ->  held
--            reserved for another owner, and the reservation is over
--                                             ->  held, and the queue is emptied
--            held by the owner                ->  held, for another TTL
--   renew    held by the owner                ->  held, for another TTL
--   release  held by the owner, or reserved for the owner
--                                             ->  free if nobody waits, or else reserved
--                                                 for the first waiter
--            held by the owner, and the first waiter is in the process of the owner
--                                             ->  held by that waiter
--            held by the owner, the queue is empty, and a waiter in the process of the owner
--            has not asked yet                ->  held by that waiter
--   the end of the TTL                        ->  missing
-- KEYS[2] is the queue: a sorted set of waiters "channel owner", sorted by ticket.
-- KEYS[3] is "fence last other": the last fence, the waiter that asked last, and the waiter of
-- another channel that asked last, or ''. The key exists while anybody waits. So a script need
-- not look at the queue of a lock without waiters, and the fence outlives the lock's TTL.
--
-- Every key always has a TTL. Times are microseconds since 1970, as text with 16 digits until
-- the year 2286. So are fences, unless they are ahead of the clock.

local reservation = 150 -- milliseconds

local function now()
  local time = redis.call('TIME')
  return time[1] .. string.sub('000000' .. time[2], -6)
end

-- read splits the value of the lock into its fence and the text after the fence. Without a
-- value, the fence is the one in heard, the value of KEYS[3], or nil if there is none.
local function read(value, heard)
  local fence, rest = string.match(value or '', '^(%d+) ?(.*)$')
  if fence then
    return fence, rest
  end
  if value then
    return nil, value -- not the value of a lock: treat it as held by somebody unknown
  end
  return heard and string.match(heard, '^%d+'), ''
end

-- is_held_by reports whether text begins with words and a blank. text is a value and words is
-- "fence owner", or text is a value without its fence and words is the owner.
local function is_held_by(text, words)
  return string.sub(text, 1, #words + 1) == words .. ' '
end

-- reserved returns the owner for which the lock is reserved, and the TTL with which that began.
local function reserved(rest)
  return string.match(rest, '^! (%S+) (%d+)$')
end

-- last_heard returns the two waiters in heard, the value of KEYS[3].
local function last_heard(heard)
  local last, other = string.match(heard or '', '^%d+ (%S+ %S+) (.*)$')
  return last or '', other or ''
end

local function channel_of(waiter)
  return string.match(waiter, '^%S*')
end

-- hint publishes a message for waiters. Some servers refuse that within a script: untold then
-- has a line "channel message" for the client to publish, after a line break.
local untold = ''
local function hint(channel, message)
  local reply = redis.pcall('PUBLISH', channel, message)
  if type(reply) == 'table' then -- an error
    untold = untold .. '\n' .. channel .. ' ' .. message
  end
end

-- set writes the lock even if the memory of Redis is full. Redis then refuses a write that
-- needs memory, but only if it is the first write of a script: PEXPIRE needs no memory.
local function set(value, ttl)
  local reply = redis.pcall('SET', KEYS[1], value, 'PX', ttl)
  if reply.err then
    redis.call('PEXPIRE', KEYS[1], ttl)
    redis.call('SET', KEYS[1], value, 'PX', ttl)
  end
end
