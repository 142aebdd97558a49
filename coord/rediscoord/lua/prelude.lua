-- Stands before every script. call is redis.pcall, except that a right which the user
-- lacks is answered with its own error code, which Redis gives only outside of scripts.
local function call(...)
  local got = redis.pcall(...)
  if type(got) == 'table' and got.err and redis.acl_check_cmd and not redis.acl_check_cmd(...) then
    return {err = 'NOPERM the user may not use ' .. select(1, ...) .. ' on this key'}
  end
  return got
end
local function failed(got)
  return type(got) == 'table' and got.err
end
-- ours reports whether a value is the nonce, or the nonce, a blank and data.
local function ours(value, nonce)
  return value == nonce or value and string.sub(value, 1, #nonce + 1) == nonce .. ' '
end
