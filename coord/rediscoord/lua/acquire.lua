-- Takes a key that does not exist, whatever type it had. Not re-entrant: the owner's
-- own second call misses too.
-- KEYS[1] the key; ARGV[1] value; ARGV[2] PX in milliseconds
-- Returns 1 taken, 0 missed.
local there = call('EXISTS', KEYS[1])
if failed(there) then
  return there
end
if there == 1 then
  return 0
end
local set = call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
if failed(set) then
  return set
end
return 1
