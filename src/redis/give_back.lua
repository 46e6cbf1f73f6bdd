-- Gives back what is left of a lease, once: the lease's own key remembers that it was.
--
-- KEYS     the lease's key, then one a limit, all with one hash tag
-- ARGV[1]  the instant, as for spend.lua
-- ARGV[2]  tokens
-- ARGV[3]  the instant at which the lease was granted, and ARGV[4] the one until which it may be given back
-- then     a limit each, as for spend.lua
--
-- Returns 1 where the tokens were given back, 0 where it is too late or had been done.
--
-- Never past full, and never to a later window than the lease was taken from. A bucket that is not there is full.

local time = redis.call('TIME')
local clock = time[1] * 1000000 + time[2]
local now = tonumber(ARGV[1]) or clock
local tokens, granted, until_then = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
if now > until_then then
  return 0
end
local remembered = string.format('%.0f', (until_then - until_then % 1000) / 1000 + 1)
if not redis.call('SET', KEYS[1], '1', 'NX', 'PXAT', remembered) then
  return 0
end
for number = 2, #KEYS do
  local key, scale = KEYS[number], ARGV[number + 3]
  local p, d, length = string.match(scale, '^(%d+) (%d+) (%d+)$')
  p, d, length = tonumber(p), tonumber(d), tonumber(length)
  local raw = redis.call('GET', key)
  if raw and p > 0 then
    local missing, as_of, kept = string.match(raw, '^(%d+) (%d+) (%d+ %d+ %d+)$')
    -- Tokens of another budget than the lease was taken from are not counted in its ticks.
    if missing and kept == scale then
      missing = math.max(tonumber(missing) - tokens * d, 0)
      redis.call('SET', key, string.format('%.0f %s %s', missing, as_of, scale), 'KEEPTTL')
    end
  elseif raw and string.match(raw, '^%d+$') then
    local left = redis.call('PTTL', key)
    -- As in spend.lua, after the expiry was read.
    time = redis.call('TIME')
    clock = time[1] * 1000000 + time[2]
    local ends = ((clock - clock % 1000) / 1000 + left) * 1000
    ends = ends - ends % length
    -- The window that was under way when the lease was granted, and still is.
    if left >= 0 and ends > now and ends - length <= granted then
      redis.call('DECRBY', key, string.format('%.0f', math.min(tokens, tonumber(raw))))
    end
  end
end
return 1
