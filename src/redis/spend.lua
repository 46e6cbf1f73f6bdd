-- Decides requests on one or several limits of one identity, all or nothing: read all, decide, write all.
--
-- KEYS     one a limit, all with one hash tag
-- ARGV[1]  the instant to decide at, in microseconds since 1970; empty for the server's own clock, as always but in a
--          replay or a test, where it lies in the future, so that nothing expires before its time
-- then     a limit each:    "p d full"       a token bucket: p ticks a microsecond, d ticks a token, full ticks a full one
--                       or: "0 limit length" a fixed window: limit tokens in each length microseconds
-- then     a request each:  "cost"           takes so many tokens, or none
--                       or: "least most"     takes as many as are there, most at most; fewer than least are none
--
-- Returns, as doubles in little-endian bytes (a list of numbers costs both sides three times as much):
--   now; a state each: ticks missing from a full bucket and the instant at which they are
--                  or: tokens spent in the window and the instant at which it ends;
--   tokens taken each
--
-- A bucket is kept as "missing at p d full", a window as its count, with the end as the key's expiry. All numbers are whole
-- and below 2^53, where a Lua number is exact; who calls has checked that (terms.rs). `a % b` is exact there too.
-- A number that is an argument of a command is written out by the server with 17 digits, all of a whole one below 2^53; Lua's
-- own `..` would write 14.
-- Nothing is written where nothing was taken, but an expiry that was lost.

local function ceil_div(a, b)
  local up = a + b - 1
  return (up - up % b) / b
end

local function terms(text)
  local first, second, third = string.match(text, '^(%d+) (%d+) (%d+)$')
  return tonumber(first), tonumber(second), tonumber(third)
end

-- What is missing from a bucket at `now`, as of when, and its terms; nothing where `raw` is no bucket.
local function bucket(raw, scale, now)
  local missing, as_of, kept, p, d, full = string.match(raw, '^(%d+) (%d+) ((%d+) (%d+) (%d+))$')
  if not missing then
    return nil
  end
  missing, as_of, p, d, full = tonumber(missing), tonumber(as_of), tonumber(p), tonumber(d), tonumber(full)
  -- A clock that steps back stands still: what is missing is missing as of the latest instant seen. Time that has passed
  -- comes back at the rate at which it passed; `missing` is at most a full bucket, so no product here is more than a bucket
  -- and a microsecond.
  if as_of < now then
    local elapsed = now - as_of
    missing = elapsed < ceil_div(missing, p) and missing - elapsed * p or 0
    as_of = now
  end
  if kept ~= scale then
    -- Another budget than the one it was kept under: tokens in hand carry over, at most the new capacity, and of a part of a
    -- token what can be counted.
    local old_d = d
    local level = math.max(full - missing, 0)
    p, d, full = terms(scale)
    local part = level % old_d
    local whole = (level - part) / old_d
    local product = part * d
    local rest = product < 9007199254740992 and (product - product % old_d) / old_d or 0
    missing = whole < full / d and full - whole * d - rest or 0
  end
  return missing, as_of, p, d, full
end

-- Keeps a bucket until it is full: rounded up, so that its key expires no earlier.
local function keep(key, missing, as_of, p, scale)
  local expires = ceil_div(as_of + ceil_div(missing, p), 1000)
  redis.call('SET', key, string.format('%.0f %.0f ', missing, as_of) .. scale, 'PXAT', expires)
end

-- Puts back an expiry that was lost.
local function expire_again(key, missing, as_of, p)
  if redis.call('PTTL', key) == -1 then
    redis.call('PEXPIREAT', key, ceil_div(as_of + ceil_div(missing, p), 1000))
  end
end

local NO_BUCKET = 'ADMITTANCE the value of this key is not a token bucket'

local cost = #ARGV == 3 and tonumber(ARGV[3])
if cost and string.byte(ARGV[2]) ~= 48 then
  -- One cost of one bucket, as most calls are: what is below, without the tables, which cost as much as all commands.
  local key, scale = KEYS[1], ARGV[2]
  local raw = redis.call('GET', key)
  local now = tonumber(ARGV[1])
  if not now then
    local time = redis.call('TIME')
    now = time[1] * 1000000 + time[2]
  end
  local missing, as_of, p, d, full
  if raw then
    missing, as_of, p, d, full = bucket(raw, scale, now)
    if not missing then
      return redis.error_reply(NO_BUCKET)
    end
  else
    missing, as_of = 0, now
    p, d, full = terms(scale)
  end
  if missing + cost * d > full or cost == 0 then
    if raw then
      expire_again(key, missing, as_of, p)
    end
    cost = 0
  else
    missing = missing + cost * d
    keep(key, missing, as_of, p, scale)
  end
  return struct.pack('<dddd', now, missing, as_of, cost)
end

local limits = {}
for number, key in ipairs(KEYS) do
  local raw = redis.call('GET', key)
  local left = raw and string.byte(ARGV[number + 1]) == 48 and redis.call('PTTL', key)
  limits[number] = { raw = raw, left = left, key = key }
end

-- After the expiries were read. Some servers count them from a clock that runs on within a script: an instant from before
-- would put a window's end into the window before, and that window would begin anew.
local time = redis.call('TIME')
local clock = time[1] * 1000000 + time[2]
local now = tonumber(ARGV[1]) or clock

for number, limit in ipairs(limits) do
  local raw, left = limit.raw, limit.left
  limit.scale = ARGV[number + 1]
  limit.p, limit.d, limit.full = terms(limit.scale)
  if limit.p > 0 then
    limit.missing, limit.as_of = 0, now
    if raw then
      limit.missing, limit.as_of = bucket(raw, limit.scale, now)
      if not limit.missing then
        return redis.error_reply(NO_BUCKET)
      end
    end
  else
    local length = limit.full
    local till = now - now % length + length
    limit.spent = 0
    if raw then
      local spent = string.match(raw, '^%d+$')
      if not spent then
        return redis.error_reply('ADMITTANCE the value of this key is not a count')
      end
      if left == -1 then
        limit.live, limit.lost = true, true
        limit.spent = tonumber(spent)
      else
        -- The key outlives its window by up to a millisecond (an expiry that has come would delete it at once), and what
        -- its expiry is counted from may lag behind the clock: the end is the whole window at or before.
        limit.live = true
        local ends = ((clock - clock % 1000) / 1000 + left) * 1000
        ends = ends - ends % length
        if ends > now then
          till = ends
          limit.spent = tonumber(spent)
        else
          limit.live = false
        end
      end
    end
    limit.till = till
  end
end

local taken = {}
for request = #KEYS + 2, #ARGV do
  local least, most = tonumber(ARGV[request]), nil
  if least then
    most = least
  else
    least, most = string.match(ARGV[request], '^(%d+) (%d+)$')
    least, most = tonumber(least), tonumber(most)
  end
  local grant = most
  for _, limit in ipairs(limits) do
    local there
    if limit.p > 0 then
      local level = limit.full - limit.missing
      there = (level - level % limit.d) / limit.d
    else
      there = limit.d - limit.spent
    end
    grant = math.min(grant, there)
  end
  if grant < least or grant < 0 then
    grant = 0
  end
  taken[#taken + 1] = grant
  if grant > 0 then
    for _, limit in ipairs(limits) do
      limit.takes = (limit.takes or 0) + grant
      if limit.p > 0 then
        limit.missing = limit.missing + grant * limit.d
      else
        limit.spent = limit.spent + grant
      end
    end
  end
end

local reply = { now }
for _, limit in ipairs(limits) do
  if limit.p > 0 then
    if limit.takes then
      keep(limit.key, limit.missing, limit.as_of, limit.p, limit.scale)
    elseif limit.raw then
      expire_again(limit.key, limit.missing, limit.as_of, limit.p)
    end
    reply[#reply + 1] = limit.missing
    reply[#reply + 1] = limit.as_of
  else
    local expires = limit.till / 1000
    if limit.takes and limit.live then
      redis.call('INCRBY', limit.key, limit.takes)
    elseif limit.takes then
      redis.call('SET', limit.key, limit.takes, 'PXAT', expires)
    end
    if limit.lost then
      redis.call('PEXPIREAT', limit.key, expires)
    end
    reply[#reply + 1] = limit.spent
    reply[#reply + 1] = limit.till
  end
end
for _, grant in ipairs(taken) do
  reply[#reply + 1] = grant
end
return struct.pack('<' .. string.rep('d', #reply), unpack(reply))
