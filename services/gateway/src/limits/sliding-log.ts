/**
 * One key's accepted calls of the last window, oldest first, as microseconds of Redis' own clock. A call is accepted
 * while fewer than the limit are in it, so no window, wherever it begins, ever holds more; refused calls are not
 * counted. Costs about 10 bytes per accepted call of the last minute.
 *
 * Called by rate-limiter-flexible with points, seconds, limit; answers with what it expects: calls so far (limit + 1 for
 * a refusal) and milliseconds until a slot frees.
 */
export const slidingLogScript = `
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
 * Adds calls that a gateway accepted while it could not ask Redis. Called with the window in seconds, then the age of
 * each call in microseconds. The list stays in order, which the script above relies on.
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
