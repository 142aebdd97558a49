-- renew.lua for one who does not know his fence, because the reply to his try was lost.
-- While the key is his, nobody else's win can have moved the counter.
-- KEYS[1] the key; KEYS[2] the counter; ARGV[1] value; ARGV[2] PX in milliseconds
-- Returns the fence (from 1 on) prolonged, 0 not ours.
local now = call('GET', KEYS[1])
if failed(now) then
  return now
end
if now ~= ARGV[1] then
  return 0
end
local fence = call('GET', KEYS[2])
if failed(fence) then
  return fence
end
fence = tonumber(fence or 0)
if not fence or fence < 1 then
  return {err = 'BADFENCE the counter of fences is gone'}
end
local prolonged = call('PEXPIRE', KEYS[1], ARGV[2])
if failed(prolonged) then
  return prolonged
end
return fence
