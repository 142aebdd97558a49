-- Ends the ownership of one owner of a lock, if that owner still is as it was seen.
-- KEYS[1] the key; KEYS[2] the key beside it
-- ARGV[1] the part of the key that is the owner's; ARGV[2] guard; ARGV[3] permits
-- ARGV[4] the channel of free permits, or of those who wait in the list KEYS[2]
-- ARGV[5] on: what wakes those who wait when no owner is left: for each command the number of
-- its words, and the words
-- Returns 1 done, 0 it is not as it was seen, 2 done in part: a right is missing for the rest.
local key, beside, part, guard, channel = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[4]

-- fingerprint is made as Guard, FieldGuard and MemberGuard are.
local function fingerprint(...)
  local text = {}
  for i, word in ipairs({ key, ... }) do
    text[i] = #word .. ':' .. word
  end
  return redis.sha1hex(table.concat(text))
end

-- change sends a command that changes something, or wakes. It returns nothing, or what the
-- script has to return. The first that fails has changed nothing.
local changed = false
local function change(...)
  local got = call(...)
  if failed(got) then
    return changed and 2 or got
  end
  changed = changed or ... ~= 'PUBLISH'
end

-- What wakes is sent first: where a right for it is missing, nothing is done.
local function wake()
  local i = 5
  while i <= #ARGV do
    local words = tonumber(ARGV[i])
    local stop = change(unpack(ARGV, i + 1, i + words))
    if stop then
      return stop
    end
    i = i + words + 1
  end
  if part == 'field' and channel ~= '' then
    local waiters = call('LRANGE', beside, 0, 99)
    if failed(waiters) then
      return changed and 2 or waiters
    end
    for _, waiter in ipairs(waiters) do
      local stop = change('PUBLISH', channel .. ':' .. waiter, '0')
      if stop then
        return stop
      end
    end
  end
end

-- finish removes what is the owner's: all of the key where no other owner is left.
local function finish(left, ...)
  if left > 0 then
    return change(...)
  end
  return wake() or change('DEL', key)
end

if part == 'key' then
  local value = call('GET', key)
  if failed(value) then
    return value
  end
  if not value or fingerprint('value', value) ~= guard then
    return 0
  end
  return finish(0) or 1
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
    elseif fingerprint('field', all[i], all[i + 1]) == guard then
      owner = all[i]
    else
      left = left + 1
    end
  end
  if not owner then
    return 0
  end
  local stop = finish(left, 'HDEL', key, owner)
  if stop then
    return stop
  end
  if part == 'returned' then
    return change('LPUSH', beside, owner) or 1
  end
  if left > 0 and mode == 'write' and string.sub(owner, -6) == ':write' then
    return change('HSET', key, 'mode', 'read') or 1 -- what it reads stays its own
  end
  return 1
end

local set = part == 'permit' and beside or key
local all = call('ZRANGE', set, 0, -1)
if failed(all) then
  return all
end
local owned, left = {}, 0
for _, member in ipairs(all) do
  local permit = string.sub(member, 37, 37) == '_' and string.sub(member, 1, 36) or member
  if fingerprint('member', permit) == guard then
    owned[#owned + 1] = member
  elseif member ~= '__write__' then
    left = left + 1
  end
end
if #owned ~= tonumber(ARGV[3]) then
  return 0
end
if part == 'member' then
  return finish(left, 'ZREM', key, unpack(owned)) or 1
end
local free = call('GET', key)
if failed(free) then
  return free
end
return change('PUBLISH', channel, (tonumber(free or '0') or 0) + #owned)
  or change('ZREM', beside, unpack(owned))
  or change('INCRBY', key, #owned)
  or 1
