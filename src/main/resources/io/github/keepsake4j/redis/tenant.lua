-- The list of a tenant's memories. KEYS: its memories (a hash), by number (a sorted set), by activity (a sorted set whose
-- members sort as text). ARGV: the request as JSON. A memory's field is its hash: number, time of activity, canonical key.

local memories, numbers, activity = KEYS[1], KEYS[2], KEYS[3]
local q = cjson.decode(ARGV[1])

local function entry(hash)
  local text = redis.call('HGET', memories, 'm' .. hash)
  if not text then
    return nil
  end
  local number, active, key = string.match(text, '^(%d+),(%w+),(.*)$')
  return { hash = hash, number = tonumber(number), active = active, key = key }
end

local function member(e)
  return e.active .. string.format('%016x', e.number) .. e.hash
end

local function remove(e)
  redis.call('HDEL', memories, 'm' .. e.hash)
  redis.call('ZREM', numbers, e.hash)
  redis.call('ZREM', activity, member(e))
end

local function put(e)
  redis.call('HSET', memories, 'm' .. e.hash, string.format('%.0f', e.number) .. ',' .. e.active .. ',' .. e.key)
  redis.call('ZADD', numbers, e.number, e.hash)
  redis.call('ZADD', activity, 0, member(e))
end

local function move(e, active)
  redis.call('ZREM', activity, member(e))
  e.active = active
  put(e)
end

local ops = {}

-- Gives a memory a number above its erased one, or returns its present number.
function ops.register()
  local e = entry(q.hash)
  if e and e.number > tonumber(q.above) then
    return { e.number }
  end
  if e then
    remove(e)
  end
  local number = math.max(tonumber(redis.call('HGET', memories, '.last') or 0), tonumber(q.above)) + 1
  redis.call('HSET', memories, '.last', string.format('%.0f', number))
  put({ hash = q.hash, number = number, active = q.active, key = q.key })
  return { number }
end

-- Moves memories to the front, or to where the first message of a described one belongs. One that is not listed is listed
-- again: its entry was evicted, or not replicated before a failover. (If it was erased meanwhile, a list finds that out.)
function ops.touch()
  for _, each in ipairs(q.memories) do
    local e = entry(each.hash)
    if not e then
      local last = tonumber(redis.call('HGET', memories, '.last') or 0)
      redis.call('HSET', memories, '.last', string.format('%.0f', math.max(last, tonumber(each.number))))
      put({ hash = each.hash, number = tonumber(each.number), active = each.active, key = each.key })
    elseif e.number == tonumber(each.number) and (each.active > e.active or each.from == e.active) then
      move(e, each.active)
    end
  end
  return {}
end

function ops.remove()
  local e = entry(q.hash)
  if e and e.number <= tonumber(q.number) then
    remove(e)
  end
  return {}
end

local function found()
  if q.behind then
    return redis.call('ZREVRANGEBYLEX', activity, q.behind == '' and '+' or '(' .. q.behind, '-', 'LIMIT', 0, q.limit)
  end
  return redis.call('ZREVRANGEBYSCORE', numbers, '(' .. q.number, '-inf', 'LIMIT', 0, q.limit)
end

-- A page behind a number, or behind a place by activity. The sorted sets outlive an eviction of the hash: members without
-- an entry are removed.
function ops.page()
  local page, stale
  repeat
    page, stale = {}, false
    for _, each in ipairs(found()) do
      local e = entry(q.behind and string.sub(each, #each - 47) or each)
      if e and (not q.behind or member(e) == each) then
        page[#page + 1] = { e.number, e.active, e.hash, e.key }
      else
        redis.call('ZREM', q.behind and activity or numbers, each)
        stale = true
      end
    end
  until not stale
  return page
end

return ops[q.op]()
