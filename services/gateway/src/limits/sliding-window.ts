/**
 * Lua script that accepts or refuses a call of one key. The list has the accepted calls of the last window, oldest first,
 * as microseconds of Redis' clock (about 10 bytes each). A call is accepted while the list has fewer than the limit, so no
 * period as long as the window ever has more. Refused calls are not counted.
 *
 * rate-limiter-flexible passes points, seconds and limit, and expects the number of calls (limit + 1 for a refusal) and the
 * milliseconds until a slot is free.
 */
export const slidingWindowScript = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local window = ARGV[2] * 1000000
local limit = tonumber(ARGV[3])
local oldest = redis.call('LINDEX', KEYS[1], 0)
while oldest and tonumber(oldest) <= now - window do
  redis.call('LPOP', KEYS[1])
  oldest = redis.call('LINDEX', KEYS[1], 0)
end
local count = redis.call('LLEN', KEYS[1])
if count < limit then
  redis.call('RPUSH', KEYS[1], string.format('%.0f', now))
  redis.call('PEXPIRE', KEYS[1], ARGV[2] * 1000)
  return { count + 1, math.ceil(((oldest or now) + window - now) / 1000) }
end
local freed = redis.call('LINDEX', KEYS[1], count - limit) or now
return { limit + 1, math.ceil((freed + window - now) / 1000) }
`;

/**
 * Lua script that adds calls that a gateway accepted without Redis. Arguments: the window in seconds, then the age of each
 * call in microseconds. Keeps the list in order, which the script above relies on.
 */
export const addMissedScript = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local moments = redis.call('LRANGE', KEYS[1], 0, -1)
for index = 2, #ARGV do moments[#moments + 1] = string.format('%.0f', now - ARGV[index]) end
table.sort(moments, function(one, other) return tonumber(one) < tonumber(other) end)
redis.call('DEL', KEYS[1])
for _, moment in ipairs(moments) do redis.call('RPUSH', KEYS[1], moment) end
redis.call('PEXPIRE', KEYS[1], ARGV[1] * 1000)
`;
