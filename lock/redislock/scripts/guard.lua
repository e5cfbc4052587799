-- Sets a guarded value if the resource has seen no higher fence.
--
-- KEYS[1] is a hash with the fields fence and value.
-- ARGV: fence, value.
-- Returns the highest fence seen so far if it is higher, or else ''.

local seen = redis.call('HGET', KEYS[1], 'fence')
-- Fences are decimal numbers without leading zeros: the longer is the greater.
if seen and (#seen > #ARGV[1] or (#seen == #ARGV[1] and seen > ARGV[1])) then
  return seen
end
redis.call('HSET', KEYS[1], 'fence', ARGV[1], 'value', ARGV[2])
return ''
