-- The lists of a tenant's memories. KEYS: its memories (a hash), by number (a sorted set), by activity, and the lists by metadata
-- (two sorted sets whose members sort as text). ARGV: the request as JSON. The fields of a memory end in its hash: m has its number,
-- time of activity and canonical key, l has the ids of its lists by metadata. A member of these lists that begins with a
-- point has the metadata names for which they are complete.

local memories, numbers, activity, listed = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
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

-- The memory's members of the lists by metadata: for each list one by activity and one by number.
local function members(e)
  local all = {}
  for id in string.gmatch(redis.call('HGET', memories, 'l' .. e.hash) or '', '%x+') do
    all[#all + 1] = 'a' .. id .. member(e)
    all[#all + 1] = 'n' .. id .. string.format('%016x', e.number) .. e.hash
  end
  return all
end

local function unlist(e)
  for _, each in ipairs(members(e)) do
    redis.call('ZREM', listed, each)
  end
end

local function list(e)
  for _, each in ipairs(members(e)) do
    redis.call('ZADD', listed, 0, each)
  end
end

-- Puts a memory on other lists by metadata, or on more.
local function relist(e, ids, more)
  unlist(e)
  local field = 'l' .. e.hash
  local all = more and redis.call('HGET', memories, field) or ''
  for _, id in ipairs(ids or {}) do
    if not string.find(all, id, 1, true) then
      all = all .. id .. ','
    end
  end
  if all == '' then
    redis.call('HDEL', memories, field)
  else
    redis.call('HSET', memories, field, all)
  end
  list(e)
end

local function remove(e)
  relist(e)
  redis.call('HDEL', memories, 'm' .. e.hash)
  redis.call('ZREM', numbers, e.hash)
  redis.call('ZREM', activity, member(e))
end

local function put(e)
  redis.call('HSET', memories, 'm' .. e.hash, string.format('%.0f', e.number) .. ',' .. e.active .. ',' .. e.key)
  redis.call('ZADD', numbers, e.number, e.hash)
  redis.call('ZADD', activity, 0, member(e))
end

-- Whether no lists are complete or are being filled, or only those by these names. While they are filled, # and a token follow.
local function isComplete(names)
  local all = redis.call('ZLEXCOUNT', listed, '[.', '(/')
  return all == 0 or names and (redis.call('ZSCORE', listed, '.' .. names)
    or redis.call('ZLEXCOUNT', listed, '[.' .. names .. '#', '(.' .. names .. '$') == all)
end

local function complete(names)
  redis.call('ZREMRANGEBYLEX', listed, '[.', '(/')
  if names then
    redis.call('ZADD', listed, 0, '.' .. names)
  end
end

local function move(e, active)
  redis.call('ZREM', activity, member(e))
  unlist(e)
  e.active = active
  put(e)
  list(e)
end

local ops = {}

-- Gives a memory a number above its erased one, or returns its present number.
function ops.register()
  local e = entry(q.hash)
  if q.described and not isComplete(q.names) then
    complete()
  end
  if e and e.number > tonumber(q.above) then
    relist(e, q.lists, true)
    return { e.number }
  end
  if e then
    remove(e)
  end
  local last = redis.call('HGET', memories, '.last')
  if q.names and not last and redis.call('ZCARD', listed) == 0 then
    complete(q.names)
  end
  local number = math.max(tonumber(last or 0), tonumber(q.above)) + 1
  redis.call('HSET', memories, '.last', string.format('%.0f', number))
  e = { hash = q.hash, number = number, active = q.active, key = q.key }
  put(e)
  relist(e, q.lists)
  return { number }
end

-- Puts a memory on the lists by its metadata, or on more.
function ops.relist()
  local e = entry(q.hash)
  if e and e.number == tonumber(q.number) then
    relist(e, q.lists, q.more)
  end
  if not isComplete(q.names) then
    complete()
  end
  return {}
end

-- Before and after all memories are put on the lists by these names. In between, a writer with other names removes the token.
function ops.fill()
  complete(q.names .. '#' .. q.token)
  return {}
end

function ops.complete()
  if redis.call('ZSCORE', listed, '.' .. q.names .. '#' .. q.token) then
    complete(q.names)
  end
  return {}
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
      complete()
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
  if q.list then
    return redis.call('ZREVRANGEBYLEX', listed, '(' .. q.list .. (q.behind == '' and '\255' or q.behind), '[' .. q.list,
      'LIMIT', 0, q.limit)
  end
  if q.behind then
    return redis.call('ZREVRANGEBYLEX', activity, q.behind == '' and '+' or '(' .. q.behind, '-', 'LIMIT', 0, q.limit)
  end
  return redis.call('ZREVRANGEBYSCORE', numbers, '(' .. q.number, '-inf', 'LIMIT', 0, q.limit)
end

local function isOf(e, each)
  if q.list then
    for _, one in ipairs(members(e)) do
      if one == each then
        return true
      end
    end
    return false
  end
  return not q.behind or member(e) == each
end

-- A page behind a number, or behind a place by activity. The sorted sets outlive an eviction of the hash: members without
-- an entry are removed.
function ops.page()
  local page, stale
  if q.list and not redis.call('ZSCORE', listed, '.' .. q.names) then
    return { { -1, '', '', '' } }
  end
  repeat
    page, stale = {}, false
    for _, each in ipairs(found()) do
      local e = entry(q.behind and string.sub(each, #each - 47) or each)
      if e and isOf(e, each) then
        page[#page + 1] = { e.number, e.active, e.hash, e.key }
      else
        redis.call('ZREM', q.list and listed or q.behind and activity or numbers, each)
        stale = true
      end
    end
  until not stale
  return page
end

return ops[q.op]()
