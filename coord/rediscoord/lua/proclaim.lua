-- Replaces our value by another of ours and keeps the expiry. The old value is compared as a whole,
-- so that a proclamation that arrives late undoes no later one, unless that one brought the very
-- text back that this one was to replace; the new one is there already where its reply was lost.
-- KEYS[1] the key; ARGV[1] nonce; ARGV[2] new value; ARGV[3] old value
-- Returns 1 replaced or in place, 2 another value of ours, 0 not ours.
local now = call('GET', KEYS[1])
if failed(now) then
  return now
end
if not ours(now, ARGV[1]) then
  return 0
end
if now ~= ARGV[2] and now ~= ARGV[3] then
  return 2
end
local set = call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
if failed(set) then
  return set
end
return 1
