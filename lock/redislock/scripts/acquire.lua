-- Takes the lock for an owner if the lock is free. Otherwise an owner that waits joins the
-- queue.
--
-- ARGV:
--   nonce
--   new     the value of the lock once the owner has it: "guess owner ..."
--   ttl     in milliseconds
--   guess   the fence that the client expects: the highest one it has seen plus one, or 0
--   waiter  only if the owner waits: "channel owner"
--   ticket  only if the owner waits: its ticket, or '' if it has none yet
-- Returns
--   "nonce"                             the owner has the lock, with the fence guess
--   "nonce granted fence"               the owner has the lock, with another fence
--   "nonce refused wait ticket value"   the owner must ask again after wait milliseconds
-- Hints that Redis did not let the script publish follow "granted fence", see prelude.lua.
--
-- Asking twice is harmless: an owner that has the lock is told so again, and a waiter keeps
-- its ticket.

local nonce, new, ttl, guess, waiter, ticket = unpack(ARGV)
local value, heard
if waiter or guess == '0' then
  value, heard = unpack(redis.call('MGET', KEYS[1], KEYS[3]))
else
  value = redis.call('GET', KEYS[1])
end

-- The most frequent case: the lock is free and nobody waits, and guess is higher than the
-- last fence.
if value and #guess == #value and guess > value and not string.find(value, ' ', 1, true) then
  redis.call('SET', KEYS[1], new, 'PX', ttl)
  return nonce
end

-- include prelude.lua

if heard == nil then
  heard = redis.call('GET', KEYS[3])
end
local tail = string.sub(new, #guess + 1) -- new without its fence
local owner = string.match(tail, '^ (%S+)')
local fence, rest = read(value, heard)
if is_held_by(rest, owner) then
  set(fence .. tail, ttl)
  return nonce .. ' granted ' .. fence
end

local passed = false -- the reservation of another owner is over
if rest ~= '' then
  local first, since = reserved(rest)
  local wait = first ~= owner and redis.call('PTTL', KEYS[1])
  if wait and first then
    wait = wait - since + reservation
    if wait <= 0 or wait > reservation then -- longer if the clock was set back
      wait = nil
      passed = true
    end
  end
  if wait then
    if waiter then
      -- A newcomer extends the TTL of the queue only if an eighth of it has passed. PEXPIRE
      -- comes first because a Redis whose memory is full still accepts it.
      local left = redis.call('PTTL', KEYS[2])
      local extend = ticket ~= '' or left < ttl * 7 / 8
      local life = math.max(left, ttl)
      if ticket == '' then
        ticket = now()
      end
      if extend then
        redis.call('PEXPIRE', KEYS[2], life)
      end
      redis.call('ZADD', KEYS[2], 'NX', ticket, waiter)
      if left < 0 then -- the queue is new
        redis.call('PEXPIRE', KEYS[2], life)
      end
      local last, other = last_heard(heard)
      local same = channel_of(last) == channel_of(waiter)
      if not heard or not first and (extend or not same) then
        redis.call('SET', KEYS[3], (fence or '0') .. ' ' .. waiter .. ' ' .. (same and other or last), 'PX', life)
      end
    end
    return nonce .. ' refused ' .. wait .. ' ' .. (ticket or '') .. ' ' .. value
  end
end

if waiter and ticket ~= '' then
  redis.call('ZREM', KEYS[2], waiter)
end
fence = fence and string.format('%.0f', fence + 1) or now()
if #guess > #fence or (#guess == #fence and guess > fence) then
  fence = guess
end
if value then
  redis.call('SET', KEYS[1], fence .. tail, 'PX', ttl)
elseif not redis.call('SET', KEYS[1], fence .. tail, 'PX', ttl, 'NX') then
  redis.call('GET', KEYS[1]) -- fails: MGET has no value for a key of another type
end
if heard then
  redis.call('SET', KEYS[3], fence .. string.match(heard, ' .*$'), 'KEEPTTL')
  if waiter and ticket == '' then
    redis.call('ZREM', KEYS[2], waiter) -- it may have a ticket, if the reply was lost
  end
end

if passed then
  -- The first waiter, and others, may be dead. So the queue is emptied: waiters that are
  -- alive ask again, with their tickets.
  local told = {}
  for _, member in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
    local channel = channel_of(member)
    if not told[channel] then
      told[channel] = true
      hint(channel, 'all ' .. KEYS[1])
    end
  end
  redis.call('DEL', KEYS[2])
end
return nonce .. ' granted ' .. fence .. untold
