-- Deletes a key that holds our value, whatever its data.
-- KEYS[1] the key; ARGV[1] nonce
-- Returns 1 deleted, 0 not ours.
local now = call('GET', KEYS[1])
if failed(now) then
  return now
end
if not ours(now, ARGV[1]) then
  return 0
end
return call('DEL', KEYS[1])
