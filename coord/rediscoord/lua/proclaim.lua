-- Replaces our value by another of ours and keeps the expiry. Several old values are
-- ours when the reply to an earlier proclamation was lost; the new one is among ours when
-- the reply to this one was.
-- KEYS[1] the key; ARGV[1] new value; ARGV[2..] old values
-- Returns 1 replaced or in place already, 0 not ours.
local now = call('GET', KEYS[1])
if failed(now) then
  return now
end
for _, ours in ipairs(ARGV) do
  if now == ours then
    local set = call('SET', KEYS[1], ARGV[1], 'KEEPTTL')
    if failed(set) then
      return set
    end
    return 1
  end
end
return 0
