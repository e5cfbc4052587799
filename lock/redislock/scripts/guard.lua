-- Writes a guarded value unless its key has seen a higher fence.
--
-- KEYS[1] is a hash with the fields fence and value.
-- ARGV: fence, value.
-- Returns '' after the write, or else the higher fence that the key has seen.

local seen = redis.call('HGET', KEYS[1], 'fence')
-- Fences are decimal numbers without leading zeros, so the longer one is the greater.
if seen and (#seen > #ARGV[1] or (#seen == #ARGV[1] and seen > ARGV[1])) then
  return seen
end
redis.call('HSET', KEYS[1], 'fence', ARGV[1], 'value', ARGV[2])
return ''
