-- acquire.lua with a fence. The counter grows before the key is set, so that a counter
-- that cannot grow leaves no key behind.
-- KEYS[1] the key; KEYS[2] the counter; ARGV[1] value; ARGV[2] PX in milliseconds
-- Returns the fence (from 1 on) taken, 0 missed.
local there = call('EXISTS', KEYS[1])
if failed(there) then
  return there
end
if there == 1 then
  return 0
end
local fence = call('INCR', KEYS[2])
if failed(fence) then
  return fence
end
if fence < 1 then
  return {err = 'BADFENCE the counter of fences is negative'}
end
local set = call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
if failed(set) then
  return set
end
return fence
