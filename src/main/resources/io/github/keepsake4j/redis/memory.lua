-- One memory. KEYS: the memory (a hash), the sequences of its views, the sequences that its summaries cover up to (sorted
-- sets). ARGV: the request as JSON, in which every number is text, and the texts of messages, which are never parsed here.
--
-- Fields of the hash:
--   .epoch .revision .count .tokens .head   the state; after an erasure only .epoch, .revision and .dead are left
--   .created .first .last .active           times; .active as text that sorts
--   .number, .dead                          the memory's number in its tenant's list, and its newest former number
--   .title .metadata .views .versions .names .days
--   n<seq>   parent, start of its run, depth, system message and user message in force, tokens; id and its parent's id
--   d<seq>   the message            o<seq>   its outcome       x<seq>   how it was made    q<seq>   the request it answers
--   i<id>    the sequence of an id  v<seq>   the view anchored there
--   s<version> a summary            c<seq>   the newest version that covers up to there
--   r<name>  the sequence in which a named branch ends         R<n>     the names of the named branches, from 1
--   D<n>     the days with usage, from 1                       U<day>, P<day>, Q<day>   input, output and cached tokens
--   l<name>  a lease: begin, microseconds, owner

-- Nearly the largest number that HINCRBY takes.
local MOST = 9.2e18

local memory, views, covers = KEYS[1], KEYS[2], KEYS[3]
local q = cjson.decode(ARGV[1])

-- An error, because nothing may be written then. The brackets are there whatever a server puts around them.
local function damaged(problem)
  error('KEEPSAKE_DAMAGED[' .. problem .. ']')
end

-- Calls a command on the hash.
local function hash(command, ...)
  return redis.call(command, memory, ...)
end

local function get(field)
  return hash('HGET', field)
end

local function set(...)
  hash('HSET', ...)
end

-- An empty text is none, and has no field.
local function keep(field, text)
  if text ~= '' then
    set(field, text)
  end
end

local function number(text, field, default)
  if not text then
    return default
  end
  local value = tonumber(text)
  if not value or value < 0 then
    damaged('the field ' .. field .. ' holds no number')
  end
  return value
end

-- The sorted sets only index fields of the hash. A set that was evicted alone is rebuilt, and a set that an evicted hash
-- left behind is removed.
local function remake(set, prefix, expected)
  local isThere = redis.call('EXISTS', set) == 1
  if isThere and expected == 0 then
    redis.call('DEL', set)
  elseif expected > 0 and not isThere then
    local cursor, found = '0', {}
    repeat
      local part = hash('HSCAN', cursor, 'MATCH', prefix .. '*', 'COUNT', 1000)
      cursor = part[1]
      for i = 1, #part[2], 2 do
        found[#found + 1] = string.match(part[2][i], '^.(%d+)$')
      end
    until cursor == '0'
    if #found == 0 then
      damaged('the fields ' .. prefix .. ' are gone')
    end
    for _, seq in ipairs(found) do
      redis.call('ZADD', set, seq, seq)
    end
    local ttl = redis.call('PTTL', memory)
    if ttl > 0 then
      redis.call('PEXPIRE', set, ttl)
    end
  end
end

local function state()
  local s = hash('HMGET', '.epoch', '.revision', '.count', '.head', '.number', '.dead', '.views', '.versions', '.created')
  local m = { created = s[9] }
  for i, name in ipairs({ 'epoch', 'revision', 'count', 'head', 'number', 'dead', 'views', 'versions' }) do
    m[name] = number(s[i], '.' .. name, i <= 2 and 1 or 0)
  end
  if m.head > m.count then
    damaged('the head is behind the newest message')
  end
  remake(views, 'v', m.views)
  remake(covers, 'c', m.versions)
  return m
end

local function parsed(seq, row)
  if not row then
    damaged('message ' .. seq .. ' is not there')
  end
  local parent, run, depth, system, user, tokens, length, rest =
    string.match(row, '^(%d+),(%d+),(%d+),(%d+),(%d+),(%d+),(%d+):(.*)$')
  if not parent then
    damaged('the place of message ' .. seq .. ' cannot be read')
  end
  local n = {
    seq = seq, parent = tonumber(parent), run = tonumber(run), depth = tonumber(depth), system = tonumber(system),
    user = tonumber(user), tokens = tonumber(tokens), id = string.sub(rest, 1, tonumber(length)),
    parentId = string.sub(rest, tonumber(length) + 1)
  }
  if n.parent >= seq or n.run > seq or n.run < 1 or n.depth < 1 or n.depth > seq or n.system > seq or n.user > seq
    or (n.run < seq and n.parent ~= seq - 1) then
    damaged('the place of message ' .. seq .. ' in the tree contradicts itself')
  end
  return n
end

local function node(seq)
  return parsed(seq, get('n' .. seq))
end

local function find(id)
  local seq = get('i' .. id)
  return seq and number(seq, 'i', 0)
end

-- The end of a named branch, or the head if there is no branch of that name. 0 means none.
local function finish(m, reference)
  local seq = reference and get('r' .. reference)
  return seq and number(seq, 'r', 0) or m.head
end

local function id(seq)
  return seq > 0 and node(seq).id or ''
end

local function needed(text, n)
  return text or damaged('the text of message ' .. n.id .. ' is not there')
end

-- A message of an answer, and how it was made if requested.
local function message(n)
  local texts = hash('HMGET', 'd' .. n.seq, 'o' .. n.seq)
  local answer =
    { n.seq, n.id, n.parentId, n.tokens, needed(texts[1], n), texts[2] or '', n.parent, n.depth }
  if q.made then
    answer[9], answer[10] = get('x' .. n.seq) or '', get('q' .. n.seq) or ''
  end
  return answer
end

-- The messages at sequences; 0 means none.
local function messages(sequences)
  local found = {}
  for _, seq in ipairs(sequences) do
    if seq > 0 then
      found[#found + 1] = message(node(seq))
    end
  end
  return found
end

local function sequences(ids)
  local found = {}
  for i, each in ipairs(ids or {}) do
    found[i] = find(each) or 0
  end
  return found
end

local function runBegin(n)
  return n.run == n.seq and n or node(n.run)
end

local function runBefore(n)
  local begin = runBegin(n)
  return begin.parent > 0 and node(begin.parent) or nil, begin
end

local function isOnBranch(seq, n)
  while n and n.run > seq do
    n = runBefore(n)
  end
  return n and n.seq >= seq
end

-- The newest of a sorted set's sequences on a branch, or 0. Within a run, without gaps, everything is on the branch.
local function newest(set, n)
  while n do
    local found = redis.call('ZREVRANGEBYSCORE', set, n.seq, '-inf', 'LIMIT', 0, 1)[1]
    if not found then
      return 0
    end
    if tonumber(found) >= n.run then
      return tonumber(found)
    end
    n = runBefore(n)
  end
  return 0
end

local function position(m, finished)
  return { 'position', m.epoch, m.revision, finished }
end

-- A memory is registered in its tenant's list before it is created, so that no list misses one.
local function isUnregistered(m)
  return not m.created and (not q.number or tonumber(q.number) <= m.dead)
end

local function create(m)
  if not m.created then
    set('.epoch', m.epoch, '.revision', m.revision, '.created', q.now, '.number', q.number, '.active', q.active)
    keep('.metadata', q.metadata or '')
  end
end

local function name(reference, seq)
  if hash('HSET', 'r' .. reference, seq) == 1 then
    set('R' .. hash('HINCRBY', '.names', 1), reference)
  end
end

local function raise(m)
  m.revision = m.revision + 1
  set('.epoch', m.epoch, '.revision', m.revision)
end

local function addUsage(day, usage)
  if hash('HSETNX', 'Q' .. day, 0) == 1 then
    set('D' .. hash('HINCRBY', '.days', 1), day)
  end
  for i, field in ipairs({ 'U', 'P', 'Q' }) do
    -- An error in the middle of a script would leave half of a change.
    if tonumber(get(field .. day) or 0) + tonumber(usage[i]) < MOST then
      hash('HINCRBY', field .. day, usage[i])
    else
      set(field .. day, '9223372036854775807')
    end
  end
end

local ops = {}

-- ARGV from 2: for each message its id, kind, tokens, text, outcome, how it was made, and the request.
function ops.append(m)
  local before = finish(m, q.reference)
  local beforeId = id(before)
  local ids = {}
  for i = 2, #ARGV, 7 do
    ids[#ids + 1] = ARGV[i]
  end
  local stored = messages(sequences(ids))
  if #stored > 0 then
    return { 'stored', m.epoch, m.revision, beforeId, stored }
  end
  if (q.revision and tonumber(q.revision) ~= m.revision) or (q.expects and q.expected ~= beforeId) then
    return position(m, beforeId)
  end
  local parent, parentId = before, beforeId
  if q.parent == 'root' then
    parent, parentId = 0, ''
  elseif q.parent == 'before' then
    parent, parentId = m.count, id(m.count)
  elseif q.parent == 'of' then
    parent, parentId = find(q.parentId) or 0, q.parentId
    if parent == 0 and not q.importing then
      return { 'parent' }
    end
  end
  if q.anchor and not find(q.anchor) then
    return { 'unknown', 'view anchor', q.anchor }
  end
  for _, each in ipairs(q.names or {}) do
    if not find(each) then
      return { 'unknown', 'view', each }
    end
  end
  if #ARGV == 1 and before == 0 then
    return { 'empty' }
  end
  if #ARGV > 1 and isUnregistered(m) then
    return { 'unregistered', m.dead }
  end
  local n = parent > 0 and node(parent) or nil
  local raises = q.view or (#ARGV > 1 and parentId ~= beforeId)
  local described = m.created and m.count == 0 and get('.active') or ''

  -- From here on it is written.
  local seq, tokens, last = m.count, 0, beforeId
  if #ARGV > 1 then
    hash('HINCRBY', '.tokens', q.tokens)
    create(m)
    for i = 2, #ARGV, 7 do
      seq = seq + 1
      local kind = ARGV[i + 1]
      n = {
        seq = seq,
        parent = n and n.seq or 0,
        run = n and n.seq == seq - 1 and n.run or seq,
        depth = n and n.depth + 1 or 1,
        system = kind == 'SYSTEM' and seq or n and n.system or 0,
        user = kind == 'USER' and seq or n and n.user or 0
      }
      last = ARGV[i]
      set('n' .. seq, n.parent .. ',' .. n.run .. ',' .. n.depth .. ',' .. n.system .. ',' .. n.user .. ','
        .. ARGV[i + 2] .. ',' .. #last .. ':' .. last .. parentId, 'i' .. last, seq, 'd' .. seq, ARGV[i + 3])
      keep('o' .. seq, ARGV[i + 4])
      keep('x' .. seq, ARGV[i + 5])
      keep('q' .. seq, ARGV[i + 6])
      parentId = last
    end
    set('.count', seq)
    if m.count == 0 then
      set('.first', q.first)
    end
    if m.count == 0 or q.active > get('.active') then
      set('.last', q.last, '.active', q.active)
    end
    for day, usage in pairs(q.usage or {}) do
      addUsage(day, usage)
    end
    if not q.reference then
      set('.head', seq)
    else
      name(q.reference, seq)
    end
  end
  if raises then
    raise(m)
  end
  if q.view then
    local anchor = q.anchor and find(q.anchor) or (#ARGV > 1 and seq or before)
    -- Behind the head from before, which the view may name without knowing it.
    set('v' .. anchor, beforeId .. '\0' .. q.view)
    redis.call('ZADD', views, anchor, anchor)
    set('.views', redis.call('ZCARD', views))
  end
  return { 'done', m.epoch, m.revision, beforeId, last, #ARGV > 1 and seq or 0, get('.active') or '', described,
    get('.number') or '0' }
end

local function rows(n, floor, most, mostTokens)
  local found, tokens, next = {}, 0, n and n.seq or 0
  while next > floor and #found < most and tokens < mostTokens do
    n = next == n.seq and n or node(next)
    found[#found + 1] = message(n)
    tokens = tokens + n.tokens
    next = n.parent
  end
  return found, next, tokens
end

-- Goes from run to run back to the beginning of the branch. The depth shows which of a run's messages are among the first.
local function oldest(n, first, last)
  local found = {}
  while n and n.depth >= first and last >= first do
    local before, begin = runBefore(n)
    for depth = math.min(n.depth, last), math.max(begin.depth, first), -1 do
      found[#found + 1] = message(node(begin.seq + depth - begin.depth))
    end
    n = before
  end
  return found
end

function ops.read(m)
  local ended = finish(m, q.reference)
  local start = ended
  if q.from then
    start = find(q.from)
    if not start then
      return { 'unknown', 'messageId', q.from }
    end
  end
  if start == 0 then
    return { 'none', m.epoch, m.revision, m.dead, m.created and 1 or 0 }
  end
  local n = node(start)
  local behind, first = 0, 1
  if q.after then
    behind = find(q.after)
    if not behind then
      return { 'unknown', 'after', q.after }
    end
    if not isOnBranch(behind, n) then
      return { 'noAncestor' }
    end
    first = node(behind).depth + 1
  end
  local covered = q.toSummary and m.versions > 0 and newest(covers, n) or 0
  local floor = math.max(behind, covered)
  local found, next, tokens = rows(n, floor, tonumber(q.most), tonumber(q.mostTokens))
  local seen = {}
  for _, each in ipairs(found) do
    seen[each[1]] = true
  end
  local inForce = {}
  for i, seq in ipairs({ n.system, n.user }) do
    inForce[i] = seq <= behind and { 0 } or (seen[seq] and { seq } or { seq, message(node(seq)) })
  end
  local view = m.views > 0 and newest(views, n) or 0
  local summary = covered > 0 and get('c' .. covered) or '0'
  return {
    'tail', m.epoch, m.revision, id(ended), found, next, tokens, floor,
    oldest(n, first, first + tonumber(q.oldest) - 1), inForce[1], inForce[2],
    view > 0 and { view, id(view), get('v' .. view) or '' } or { 0 },
    covered > 0 and { summary, get('s' .. summary) or '' } or { 0 }
  }
end

-- The rest of a branch that was read in part. The messages behind it never change, except by an erasure.
function ops.more(m)
  local found, next, tokens =
    rows(node(tonumber(q.start)), tonumber(q.floor), tonumber(q.most), tonumber(q.mostTokens))
  return { 'more', found, next, tokens }
end

function ops.find()
  return messages(sequences(q.ids))
end

function ops.findAt(m)
  local there = {}
  for _, each in ipairs(q.sequences or {}) do
    local seq = tonumber(each)
    there[#there + 1] = seq <= m.count and seq or 0
  end
  return messages(there)
end

function ops.onBranch(m)
  local found, head = {}, m.head > 0 and node(m.head)
  for _, each in ipairs(q.sequences or {}) do
    local seq = tonumber(each)
    if head and seq >= 1 and isOnBranch(seq, head) then
      found[#found + 1] = each
    end
  end
  return found
end

function ops.history(m)
  local sequence, most = tonumber(q.sequence), tonumber(q.most)
  local to = q.forward and math.min(m.count, sequence + most) or math.max(0, math.min(sequence - 1, m.count))
  local from = q.forward and sequence or math.max(0, to - most)
  local page = {}
  for seq = from + 1, to do
    page[#page + 1] = seq
  end
  return messages(page)
end

-- A name that a repair dropped may have been used again, and then exists twice.
local function names()
  local all, told = {}, {}
  for i = 1, number(get('.names'), '.names', 0) do
    local reference = get('R' .. i)
    local seq = reference and not told[reference] and get('r' .. reference)
    if seq then
      told[reference] = true
      all[#all + 1] = { reference, number(seq, 'r', 0) }
    end
  end
  return all
end

-- Goes through the runs by their numbers. A run's end is a leaf if no other run begins under it.
function ops.branches(m)
  local parents, leaves, ends, runs, seq = {}, {}, {}, {}, m.count
  while seq > 0 do
    local n = node(seq)
    local begin = runBegin(n)
    -- It may be gone, without harm to the run.
    local row = begin.parent > 0 and get('n' .. (begin.parent + 1))
    local beside = row and parsed(begin.parent + 1, row)
    parents[begin.parent] = true
    ends[#ends + 1] = n
    runs[#runs + 1] = { begin.seq, begin.id, begin.parent, beside and beside.run < beside.seq and beside.id or '' }
    seq = begin.seq - 1
  end
  for _, n in ipairs(ends) do
    if not parents[n.seq] then
      local text = needed(get('d' .. n.seq), n)
      leaves[#leaves + 1] = { n.seq, n.id, n.depth, string.match(text, '^[^\n]*'), get('o' .. n.seq) or '' }
    end
  end
  return { leaves, m.head, names(), runs }
end

function ops.moveHead(m, seq)
  local before = m.head > 0 and id(m.head) or q.id
  raise(m)
  set('.head', seq)
  return { 'done', before }
end

function ops.moveBranch(_, seq)
  name(q.reference, seq)
end

function ops.outcome(m, seq)
  if (get('o' .. seq) or '') ~= ARGV[2] then
    raise(m)
    hash('HDEL', 'o' .. seq)
    keep('o' .. seq, ARGV[2])
  end
end

-- Keeps the metadata if none are given.
function ops.describe(m)
  if isUnregistered(m) then
    return { 'unregistered', m.dead }
  end
  create(m)
  hash('HDEL', '.title')
  if q.title then
    set('.title', q.title)
  end
  keep('.metadata', ARGV[2])
end

-- Replaces the metadata if they are as the caller has read them.
function ops.setMetadata(m)
  if isUnregistered(m) then
    return { 'unregistered', m.dead }
  end
  if (get('.metadata') or '') ~= ARGV[2] then
    return { 'changed' }
  end
  create(m)
  set('.metadata', ARGV[3])
end

local function usage()
  local days = {}
  for i = 1, number(get('.days'), '.days', 0) do
    local day = get('D' .. i)
    local s = hash('HMGET', 'U' .. day, 'P' .. day, 'Q' .. day)
    days[i] = { day, s[1], s[2], s[3] }
  end
  return days
end

function ops.info(m)
  if not m.created then
    return { 'none' }
  end
  local s = hash('HMGET', '.title', '.metadata', '.tokens', '.first', '.last')
  return { 'done', m.number, m.created, m.count, s[3] or '0', s[4] or '', s[5] or '', s[2] or '',
    s[1] and { s[1] } or {}, q.usage and usage() or {} }
end

local parts = {}

parts.INFO = ops.info

function parts.VIEWS()
  local anchored = {}
  for i, seq in ipairs(redis.call('ZRANGE', views, 0, -1)) do
    anchored[i] = { seq, id(tonumber(seq)), get('v' .. seq) or '' }
  end
  return anchored
end

function parts.BRANCHES()
  local named = names()
  for _, each in ipairs(named) do
    each[2] = id(each[2])
  end
  return named
end

function parts.SUMMARIES(m)
  local all = {}
  for version = 1, m.versions do
    local text = get('s' .. version)
    if text then
      all[#all + 1] = { version, text }
    end
  end
  return all
end

function ops.details(m)
  local answer = { { 'none' }, {}, {}, {} }
  for i, part in ipairs({ 'INFO', 'VIEWS', 'BRANCHES', 'SUMMARIES' }) do
    for _, wanted in ipairs(q.parts or {}) do
      if wanted == part then
        answer[i] = parts[part](m)
      end
    end
  end
  return answer
end

-- Takes back a number from a memory that does not exist. A registration that is under way gets another one.
function ops.disown(m)
  if m.created then
    return { 'there' }
  end
  set('.epoch', m.epoch, '.revision', m.revision, '.dead', math.max(m.dead, tonumber(q.number)))
end

function ops.putSummary(m, seq)
  local version = m.versions + 1
  if tonumber(q.version) > 0 and tonumber(q.version) < version then
    return
  end
  set('s' .. version, ARGV[2], 'c' .. seq, version, '.versions', version)
  redis.call('ZADD', covers, seq, seq)
end

-- By the clock of the server, which all processes share.
function ops.acquire()
  local time = redis.call('TIME')
  local now = time[1] .. string.format('%06d', tonumber(time[2]))
  local held = get('l' .. q.name)
  if held then
    local begin, lasts, owner = string.match(held, '^(%-?%d+),(%d+),(.*)$')
    if owner ~= q.owner and tonumber(begin) + tonumber(lasts) > tonumber(now) then
      return { 'held' }
    end
  end
  set('l' .. q.name, now .. ',' .. q.lasts .. ',' .. q.owner)
  return { 'done', now }
end

function ops.release()
  local held = get('l' .. q.name)
  if held and string.match(held, '^%-?%d+,%d+,(.*)$') == q.owner then
    hash('HDEL', 'l' .. q.name)
  end
end

-- Also works for a damaged memory. With a count, only if nothing was appended since.
function ops.erase()
  if q.count
    and (tonumber(get('.count') or 0) ~= tonumber(q.count) or tonumber(get('.epoch') or 1) ~= tonumber(q.epoch))
  then
    return { 'changed' }
  end
  local s = hash('HMGET', '.epoch', '.revision', '.number', '.dead')
  local epoch = (tonumber(s[1] or 1) or 1) + 1
  local dead = math.max(tonumber(s[3] or 0) or 0, tonumber(s[4] or 0) or 0)
  hash('UNLINK', views, covers)
  set('.epoch', epoch, '.revision', (tonumber(s[2] or 1) or 1) + 1, '.dead', dead)
  return { 'done', epoch, dead }
end

-- The reads of a check, in parts. They assume nothing.
function ops.raw(m)
  local found = {}
  for seq = tonumber(q.first), math.min(m.count, tonumber(q.last)) do
    local s = hash('HMGET', 'n' .. seq, 'd' .. seq, 'o' .. seq)
    local _, length, rest = string.match(s[1] or '', '^([%d,]+),(%d+):(.*)$')
    local its = length and string.sub(rest, 1, tonumber(length)) or ''
    found[#found + 1] = { seq, s[1] or '', its, s[2] or '', s[3] or '', get('i' .. its) or '0' }
  end
  return found
end

function ops.beside(m)
  local anchored = {}
  for i, seq in ipairs(redis.call('ZRANGE', views, 0, -1)) do
    anchored[i] = { seq, get('v' .. seq) or '' }
  end
  return { m.epoch, m.revision, m.count, m.head, anchored, names() }
end

function ops.sequences()
  return sequences(q.ids)
end

function ops.repair(m)
  if tonumber(q.revision) ~= m.revision or tonumber(q.count) ~= m.count then
    return { 'changed' }
  end
  raise(m)
  if q.head then
    set('.head', q.head)
  end
  for _, seq in ipairs(q.unreadable or {}) do
    set('o' .. seq, q.mark, 'd' .. seq, get('d' .. seq) or '')
  end
  for _, seq in ipairs(q.views or {}) do
    hash('HDEL', 'v' .. seq)
    redis.call('ZREM', views, seq)
  end
  set('.views', redis.call('ZCARD', views))
  for reference, seq in pairs(q.names or {}) do
    -- A branch may have been moved since, without a new revision.
    if get('r' .. reference) == seq then
      hash('HDEL', 'r' .. reference)
    end
  end
end

local anyState = { erase = true, acquire = true, release = true }
-- The operations with the sequence of an id, by the caller's name of that id.
local takesId = { moveHead = 'messageId', moveBranch = 'messageId', outcome = 'messageId', putSummary = 'coversUpTo' }

local function answered()
  if anyState[q.op] then
    return ops[q.op]()
  end
  local m = state()
  if q.epoch and tonumber(q.epoch) ~= m.epoch then
    return { 'erased', m.epoch }
  end
  local seq = takesId[q.op] and find(q.id)
  if takesId[q.op] and not seq then
    return { 'unknown', takesId[q.op], q.id }
  end
  return ops[q.op](m, seq)
end

local answer = answered() or { 'done' }
if q.ttl then
  for _, key in ipairs(KEYS) do
    redis.call('PEXPIRE', key, q.ttl)
  end
end
return answer
