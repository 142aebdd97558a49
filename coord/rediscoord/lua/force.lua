-- Ends the ownership of one owner of a lock, if that owner still is as it was seen.
-- KEYS[1] the key; KEYS[2] the key beside it
-- ARGV[1] the part of the key that is the owner's; ARGV[2] guard; ARGV[3] permits
-- ARGV[4] the channel of free permits, or of those who wait in the list KEYS[2]
-- ARGV[5] on: what wakes those who wait when no owner is left: for each command the number of
-- its words, and the words
-- Returns 1 done, 0 it is not as it was seen.
local key, beside, part, guard, channel = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[4]

-- What wakes is sent first: where a right for it is missing, nothing is done.
local function wake()
  local i = 5
  while i <= #ARGV do
    local words = tonumber(ARGV[i])
    local got = call(unpack(ARGV, i + 1, i + words))
    if failed(got) then
      return got
    end
    i = i + words + 1
  end
  if part == 'field' and channel ~= '' then
    local waiters = call('LRANGE', beside, 0, 99)
    if failed(waiters) then
      return waiters
    end
    for _, waiter in ipairs(waiters) do
      local got = call('PUBLISH', channel .. ':' .. waiter, '0')
      if failed(got) then
        return got
      end
    end
  end
end

-- finish removes what is the owner's: all of the key where no other owner is left.
local function finish(left, ...)
  if left > 0 then
    local got = call(...)
    return failed(got) and got or 1
  end
  return wake() or call('DEL', key)
end

if part == 'key' then
  local value = call('GET', key)
  if failed(value) then
    return value
  end
  return value and redis.sha1hex(value) == guard and finish(0) or 0
end

if part == 'field' or part == 'returned' then
  local all = call('HGETALL', key)
  if failed(all) then
    return all
  end
  local owner, left, mode = nil, 0, nil
  for i = 1, #all, 2 do
    if all[i] == 'mode' then
      mode = all[i + 1]
    elseif redis.sha1hex(all[i] .. '=' .. all[i + 1]) == guard then
      owner = all[i]
    else
      left = left + 1
    end
  end
  if not owner then
    return 0
  end
  if part == 'returned' then
    local got = call('LPUSH', beside, owner)
    if failed(got) then
      return got
    end
  elseif left > 0 and mode == 'write' and string.sub(owner, -6) == ':write' then
    local got = call('HSET', key, 'mode', 'read') -- what it reads stays its own
    if failed(got) then
      return got
    end
  end
  return finish(left, 'HDEL', key, owner)
end

local set = part == 'permit' and beside or key
local all = call('ZRANGE', set, 0, -1)
if failed(all) then
  return all
end
local owned, left = {}, 0
for _, member in ipairs(all) do
  local permit = string.sub(member, 37, 37) == '_' and string.sub(member, 1, 36) or member
  if redis.sha1hex(permit) == guard then
    owned[#owned + 1] = member
  elseif member ~= '__write__' then
    left = left + 1
  end
end
if #owned ~= tonumber(ARGV[3]) then
  return 0
end
if part == 'member' then
  return finish(left, 'ZREM', key, unpack(owned))
end
local free = call('INCRBY', key, #owned)
if failed(free) then
  return free
end
local got = call('ZREM', beside, unpack(owned))
if failed(got) then
  return got
end
got = call('PUBLISH', channel, free)
return failed(got) and got or 1
