-- Prolongs a key that holds our value, whatever its data; the value is not written again.
-- KEYS[1] the key; ARGV[1] nonce; ARGV[2] PX in milliseconds
-- Returns 1 prolonged, 0 not ours.
local now = call('GET', KEYS[1])
if failed(now) then
  return now
end
if not ours(now, ARGV[1]) then
  return 0
end
return call('PEXPIRE', KEYS[1], ARGV[2])
