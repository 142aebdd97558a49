-- Takes a key that does not exist, whatever type it had. Not re-entrant: the owner's
-- own second call misses too.
-- KEYS[1] the key; ARGV[1] value; ARGV[2] PX in milliseconds
-- Returns 1 taken, 0 missed.
if redis.call('EXISTS', KEYS[1]) == 1 then
  return 0
end
local set = redis.pcall('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
if set.err then
  return set
end
return 1
