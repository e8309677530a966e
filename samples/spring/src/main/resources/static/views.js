// The views to the right of the chat. Each one has a label, and draws itself for the conversation.

import {$, Problem, ask, attempt, button, content, cut, h, inWords, json, number, path, plural, say, svg,
  text} from './dom.js';
import {short, unseen} from './chat.js';

const MOST_LINES = 100;
const PARTS = {SYSTEM: 'Instructions', SUMMARY: 'Summary', MEMORIES: 'Long-term memories', TURNS: 'Chat',
  TOOLS: 'Tool results', RECALLED: 'Recalled'};
const STRATEGIES = {'': 'As configured', messages: 'Newest messages', turns: 'Newest turns', tokens: 'Newest tokens',
  summary: 'Summary of old messages'};
const MOST = {messages: 'At most ', turns: 'At most ', tokens: 'Tokens at most ', summary: 'Summarize from '};
const WHO = {USER: 'You', AI: 'Model', TOOL_EXECUTION_RESULT: 'Tool', SYSTEM: 'Instructions'};
const ENDS = {STOP: 'Normally', TOOL_EXECUTION: 'With a tool call', LENGTH: 'At its greatest length'};
const KINDS = {FACT: 'Fact', SUMMARY: 'Summary', CHUNK: 'Excerpt'};
/** The least trusted source of a memory. */
const TRUST = {USER: 'from your words alone', ASSISTANT: 'its sources include the model’s words',
  TOOL: 'its sources include a tool’s result', RETRIEVED: 'its sources include recalled text'};

/** A bar of parts. Each part is wide as its share. */
function bar(parts, label) {
  const total = Math.max(1, parts.reduce((sum, part) => sum + part.size, 0));
  const seen = parts.filter(part => part.size > 0);
  const drawn = h('div', {class: 'bar', 'aria-hidden': 'true'});
  for (const part of seen) {
    const piece = h('span', {class: part.style});
    piece.style.flexGrow = part.size / total;
    drawn.append(piece);
  }
  return h('figure', {'aria-label': label}, drawn, h('figcaption', {}, seen.map(part =>
    h('span', {class: 'key'}, h('i', {class: part.style, 'aria-hidden': 'true'}),
      `${part.name} ${number(part.size)}`))));
}

const parts = tokens => Object.entries(PARTS).map(([part, name]) =>
  ({name, size: tokens[part] ?? 0, style: part.toLowerCase()}));

/** How many messages a request has, beside what the memory adds. */
const counted = (messages, summary, memories) => plural(messages, 'message')
  + (summary && memories ? ', a summary and long-term memories' : summary ? ' and a summary'
    : memories ? ' and long-term memories' : '');

function line(each, actions) {
  const notes = [each.reason && unseen(each.reason), each.shortened && short(each.said.type),
    each.due && 'Would be summarized'].filter(note => note);
  const {type} = each.said;
  const who = ['SUMMARY', 'MEMORIES', 'SYSTEM'].includes(each.part) ? PARTS[each.part] : WHO[type] ?? type;
  const style = each.reason ? 'hidden' : (each.part === 'TURNS' ? type : each.part).toLowerCase();
  return h('li', {class: style, 'data-id': each.said.id},
    h('div', {class: 'top'}, h('h3', {}, who), h('small', {}, plural(each.said.tokens, 'token')),
      notes.length > 0 && h('span', {class: 'mark'}, notes.join(', '))),
    content(each.said), each.cut && button('Show in chat', () => actions.reveal(each.said.id)));
}

/** The next request: what the model would see, and what it would not see, and why. */
const seen = {
  label: 'Model sees',
  about: 'What the model would get before your next question. A token is a piece of text, often a word.',
  async draw(page, actions) {
    const chosen = page.strategy;
    const request = chosen
      ? await json('GET', `${path(page.id, 'request')}?strategy=${chosen.name}&size=${chosen.size}`)
      : page.newest.request;
    actions.chat.mark(request);
    const used = Object.values(request.tokens).reduce((sum, each) => sum + each, 0);
    const sizes = parts(request.tokens);
    if (request.limit) {
      sizes.push({name: 'Free', size: Math.max(0, request.limit - used), style: 'free'});
    }
    const shown = request.lines.filter(each => !each.reason);
    const hidden = request.lines.length - shown.length;
    const added = ['SUMMARY', 'MEMORIES'].map(part => shown.some(each => each.part === part));
    const lines = request.lines.slice(-MOST_LINES);
    const left = request.lines.length - lines.length;
    return [
      whatIf(page, actions),
      h('p', {id: 'sum'}, `It would see ${counted(shown.length - added.filter(is => is).length, ...added)} with ${
        plural(used, 'token')}. `
        + (hidden === 0 && !request.olderUnread && !request.summarizedUpTo ? 'None is hidden.' : '')
        + (hidden > 0 ? `${plural(hidden, 'other')} would be hidden.` : '')
        + (request.summarizedUpTo ? ' The summary stands for older ones.' : '')
        + (request.olderUnread && !request.summarizedUpTo ? ' Older ones do not fit and were not read.' : '')
        + (request.overflow ? ' The newest question and its answer alone are over the limit.' : '')),
      bar(sizes, 'Tokens of the next request'),
      h('p', {class: 'about'}, page.newest.recall
        ? `Your question is added, and older messages that recall finds for it: at most ${plural(page.newest.recall,
          'token')}. Which ones is known only then. “Why” will show them.`
        : 'Your question is added.'),
      chosen?.name === 'summary' && !request.dueUpTo && h('p', {}, 'No summary is due yet.'),
      request.dueUpTo && h('p', {id: 'due'}, `A summary would now cover ${plural(
        request.lines.filter(each => each.due).length, 'message')}. The figures above are those before it. `
        + 'Nothing is stored by trying.'),
      left > 0 && h('p', {}, `${plural(left, 'older message')} not listed here.`),
      h('ol', {class: 'lines', 'aria-label': 'Messages of the next request'}, lines.map(each => line(each, actions))),
    ].filter(part => part);
  },
};

function whatIf(page, actions) {
  const choice = h('select', {id: 'strategy', onchange: () => choose()},
    Object.entries(STRATEGIES).map(([name, label]) => h('option', {value: name}, label)));
  choice.value = page.strategy?.name ?? '';
  const most = choice.value === 'tokens' ? 4000 : 100;
  const size = h('input', {id: 'size', type: 'range', min: choice.value === 'tokens' ? 50 : 2, max: most,
    value: page.strategy?.size ?? 20, disabled: !page.strategy, oninput: () => {
      shown.textContent = size.value;
      clearTimeout(page.timer);
      page.timer = setTimeout(() => choose(Number(size.value)), 100);
    }});
  const shown = h('output', {for: 'size'}, page.strategy ? String(page.strategy.size) : '');
  const choose = n => {
    const name = choice.value;
    page.strategy = name ? {name, size: n ?? (name === 'tokens' ? 1000 : 20)} : null;
    actions.render();
  };
  return h('fieldset', {class: 'row'}, h('legend', {}, 'What if it saw only …?'), h('label', {}, 'Shown: ', choice),
    page.strategy && h('label', {}, MOST[choice.value], size), shown, choice.value === 'summary' && 'messages',
    page.newest.configured && h('small', {id: 'configured'}, `As configured: ${page.newest.configured}.`));
}

/** The parts of a request in their order, as they were sent. */
function sent(seen) {
  const form = each => JSON.stringify([each.type, each.sent ?? each.text, each.calls,
    seen.shortened.includes(each.id)]);
  const isFirst = each => each.type === 'SYSTEM';
  const notes = [seen.summary, ...seen.memories.map(each => each.id)];
  return [...seen.messages.filter(isFirst).map(form), ...notes.filter(each => each),
    ...seen.messages.filter(each => !isFirst(each)).map(form)];
}

/** Why an answer is as it is: what the model was shown for it. */
const why = {
  label: 'Why',
  about: 'What the model got for one of its answers.',
  async draw(page, actions) {
    const answers = actions.chat.all('AI');
    const id = page.answer ?? answers.at(-1)?.id;
    if (!id) {
      return [h('p', {}, 'There is no answer yet.')];
    }
    const at = answers.findIndex(each => each.id === id);
    const [now, before] = await Promise.all([id, answers[at - 1]?.id].map(each =>
      each && json('GET', path(page.id, 'messages', each, 'seen'))));
    const slider = answers.length > 1 && at >= 0 && h('input', {id: 'turn', type: 'range', min: 1, max: answers.length,
      value: at + 1, oninput: event => actions.show('why', answers[event.target.value - 1].id)});
    const all = [
      slider && h('fieldset', {class: 'row'}, h('legend', {}, 'Which answer?'), h('label', {}, 'Answer ', slider),
        h('output', {for: 'turn'}, `${at + 1} of ${answers.length}`)),
      h('blockquote', {}, content(now.answer)),
      h('dl', {class: 'facts'},
        fact('Model', now.model), fact('Ended', ENDS[now.finish] ?? now.finish),
        fact('Tokens', now.usage && `${number(now.usage.input)} read, ${number(now.usage.output)} written`
          + (now.usage.cached ? `; the provider had ${number(now.usage.cached)} in its cache` : ''))),
    ];
    if (!now.known) {
      return [...all, h('p', {}, 'It is not known what the model saw for this answer.')].filter(part => part);
    }
    all.push(h('h3', {}, 'The parts of the request, in tokens (about)'),
      bar(parts(now.tokens), 'Tokens of the request'));
    const shortened = new Set(now.shortened);
    let left = [];
    if (before?.known) {
      const ids = new Set(now.messages.map(each => each.id));
      left = before.messages.filter(each => !ids.has(each.id));
      let prefix = 0;
      const [one, other] = [before, now].map(sent);
      while (prefix < one.length && one[prefix] === other[prefix]) {
        prefix++;
      }
      all.push(h('p', {id: 'prefix'}, prefix === 0
        ? 'The request begins otherwise than the one before, so a provider’s cache cannot serve it.'
        : prefix === one.length
        ? 'The request begins with the whole one before, so a provider’s cache can serve that part.'
        : `The request begins with the same ${prefix === 1 ? 'part' : `${prefix} parts`} as the one before. `
          + 'A provider’s cache can serve no more than that.'));
    }
    const earlier = actions.chat.unseen(id, new Set(now.messages.map(each => each.id)));
    if (earlier.length + left.length > 0) {
      all.push(h('p', {id: 'unseen'}, `Not sent: ${plural(Math.max(earlier.length, left.length), 'earlier message')}`
        + (now.summary ? ', which the summary stands for' : '') + '. '
        + (left.length > 0 ? `For the answer before, the model still saw ${left.length === 1 ? 'this one'
          : left.length < earlier.length ? `the last ${number(left.length)} of them` : 'them'}:` : '')),
        left.length > 0 && h('ol', {class: 'lines', 'aria-label': 'Messages that were no longer sent'}, left.map(each =>
          heard(each, false, 'hidden'))));
    }
    const system = now.summary && h('section', {}, h('h3', {}, 'Summary'), text(now.summary, 'p'));
    const memories = now.memories.length > 0 && h('section', {}, h('h3', {}, 'Long-term memories'), h('ul', {},
      now.memories.map(each => text(each.text ?? 'A memory that is gone', 'li'))));
    const recalled = page.newest.recall > 0 && h('section', {}, h('h3', {}, 'Recalled for this question'),
      now.recalled ? text(now.recalled, 'p') : h('p', {}, 'Nothing.'));
    return [...all, system, memories, recalled,
      now.altered && h('p', {}, 'The application changed the request after the memory had made it.'),
      h('h3', {}, `The model saw ${counted(now.messages.length, now.summary, now.memories.length > 0)}`),
      h('ol', {class: 'lines', id: 'saw', 'aria-label': 'Messages that the model saw'},
        now.messages.slice(-MOST_LINES).map(each => heard(each, shortened.has(each.id), ''))),
      now.request && h('details', {}, h('summary', {}, `The request as it was sent, with ${
        plural(now.request.tools.length, 'tool')}`),
      h('ol', {class: 'lines'}, now.request.messages.slice(-MOST_LINES).map(each => heard(each, false, '')))),
    ].filter(part => part);
  },
};

const fact = (name, value) => value ? [h('dt', {}, name), h('dd', {}, value)] : [];

function heard(each, shortened, style) {
  return h('li', {class: style || each.type.toLowerCase()},
    h('div', {class: 'top'}, h('h3', {}, WHO[each.type] ?? each.type),
      shortened && h('span', {class: 'mark'}, short(each.type))),
    content(each, 300));
}

/** Pixels between two columns, between two rows, and of a wide letter. */
const STEP = {x: 26, y: 26, letter: 8.5};
const MOST_DOTS = 400;

/** The tree of all branches. Each message is a dot; the current branch is bold. */
const tree = {
  label: 'Branches',
  about: 'Each edit and each other answer starts a branch. All are kept. Choose a message to show its branch.',
  async draw(page, actions) {
    const nodes = (await json('GET', path(page.id, 'tree'))).slice(-MOST_DOTS);
    const column = place(nodes);
    const byId = new Map(nodes.map(node => [node.said.id, node]));
    const labels = Math.max(0, ...column.values()) * STEP.x + 40;
    const width = Math.max(labels + 286, $('panel').clientWidth);
    const most = Math.floor((width - labels) / STEP.letter) - 1;
    const drawing = svg('svg', {viewBox: `0 0 ${width} ${nodes.length * STEP.y + 8}`, width,
      height: nodes.length * STEP.y + 8, role: 'group', 'aria-label': 'Tree of messages'});
    const row = new Map(nodes.map((node, i) => [node.said.id, i]));
    const x = id => column.get(id) * STEP.x + 16;
    const y = id => row.get(id) * STEP.y + 17;
    for (const node of nodes.filter(each => byId.has(each.said.parentId))) {
      const from = [x(node.said.parentId), y(node.said.parentId)];
      const to = [x(node.said.id), y(node.said.id)];
      drawing.append(svg('path', {class: node.current ? 'edge current' : 'edge',
        d: `M${from} C${from[0]},${from[1] + 14} ${to[0]},${from[1] + 8} ${to[0]},${from[1] + 24} L${to}`}));
    }
    for (const node of nodes) {
      const {id, type, outcome} = node.said;
      const words = inWords(node.said);
      const name = `${WHO[type] ?? type}: ${cut(words, 80)}${outcome
        ? ', ' + outcome.kind.toLowerCase() : ''}${node.current ? ', on the current branch' : ''}`;
      const go = () => actions.switchTo(node.leafId);
      const label = svg('text', {x: labels, y: y(id) + 4,
        class: node.current ? 'current' : ''});
      label.textContent = cut(`${WHO[type] ?? type}: ${words.replace(/\s+/g, ' ')}`, most);
      drawing.append(svg('g', {class: `node ${type.toLowerCase()} ${node.current ? 'current' : ''}
        ${outcome ? 'ended' : ''}`, role: 'button', tabindex: -1, 'aria-label': name, id: 'node-' + id,
      onclick: go, onkeydown: event => {
        if (event.key === 'Enter' || event.key === ' ') {
          event.preventDefault();
          go();
        }
      }}, svg('circle', {cx: x(id), cy: y(id), r: 7}), label));
    }
    rove([...drawing.querySelectorAll('.node')]);
    return [
      h('p', {}, `${plural(nodes.length, 'message')} on all branches. The current branch is bold. `
        + 'Each dot is a message.', h('span', {class: 'keys'}, ' Arrow keys move between them.')),
      h('p', {class: 'legend'}, h('span', {class: 'key'}, h('i', {class: 'user'}), 'You'),
        h('span', {class: 'key'}, h('i', {class: 'ai'}), 'Model'),
        h('span', {class: 'key'}, h('i', {class: 'tools'}), 'Tool'),
        h('span', {class: 'key'}, h('i', {class: 'ended'}), 'Failed, cut off or rejected')),
      h('div', {class: 'scroll'}, drawing)];
  },
};

/** Makes one tab stop of all: the last one of the current branch, from which arrow keys lead to the others. */
function rove(nodes) {
  let at = Math.max(0, nodes.findLastIndex(node => node.classList.contains('current')));
  nodes[at]?.setAttribute('tabindex', 0);
  nodes.forEach((node, i) => node.addEventListener('keydown', event => {
    const to = {ArrowUp: i - 1, ArrowDown: i + 1, Home: 0, End: nodes.length - 1}[event.key];
    if (nodes[to]) {
      event.preventDefault();
      nodes[at].setAttribute('tabindex', -1);
      at = to;
      nodes[at].setAttribute('tabindex', 0);
      nodes[at].focus();
    }
  }));
}

/** Gives each branch a column. The first child goes on in its parent's one. */
function place(nodes) {
  const column = new Map();
  const begun = new Set();
  let columns = 0;
  for (const node of nodes) {
    const {id, parentId} = node.said;
    column.set(id, column.has(parentId) && !begun.has(parentId) ? column.get(parentId) : columns++);
    begun.add(parentId);
  }
  return column;
}

/** A text with marks. Offsets are in UTF-16 code units, as in Java. */
function marked(found, highlights) {
  const all = h('p', {class: 'text', dir: 'auto'});
  let at = 0;
  for (const {start, end} of highlights) {
    all.append(found.slice(at, start), h('mark', {}, found.slice(start, end)));
    at = end;
  }
  all.append(found.slice(at));
  return all;
}

const FEATURES = {words: 'Words', answer: 'Answer', meaning: 'Meaning', speaker: 'Speaker', date: 'Date'};

function passage(each, most) {
  return h('li', {}, each.messages.map(message => h('div', {class: message.id === each.id ? 'best' : ''},
    h('h3', {}, WHO[message.type] ?? message.type), content(message))),
  h('p', {}, `Why (score ${each.score.toFixed(2)}, ${plural(each.tokens, 'token')}):`),
  h('dl', {class: 'features'}, Object.entries(FEATURES).flatMap(([name, label]) => [h('dt', {}, label),
    h('dd', {}, h('meter', {min: 0, max: most, value: each.features[name], 'aria-label': label}),
      ` ${each.features[name].toFixed(2)}`)])));
}

/** Search for the user, and recall for the model. */
const find = {
  label: 'Find',
  about: 'Search finds words in this conversation. Recall finds what could help the model with a question.',
  keeps: true,
  draw(page, actions) {
    const words = h('input', {id: 'words', type: 'search', autocomplete: 'off', value: page.words});
    const results = h('div', {id: 'found', 'aria-live': 'polite'});
    const go = kind => attempt(async () => {
      page.words = words.value;
      if (words.value.trim() === '') {
        results.replaceChildren('Type a word to find.');
        return;
      }
      const from = performance.now();
      const found = await json('GET', `${path(page.id, kind)}?text=${encodeURIComponent(words.value)}`);
      if (kind === 'search') {
        results.replaceChildren(
          h('p', {}, found.hits.length === 0 ? `No message has “${words.value}”.`
            : `${plural(found.hits.length, 'message')} in ${Math.round(performance.now() - from)} ms`),
          found.lagging ? h('p', {}, 'The newest messages are still being indexed. Search again in a moment.') : '',
          h('ol', {class: 'lines'}, found.hits.map(hit => h('li', {class: hit.message.type.toLowerCase()},
            h('h3', {}, WHO[hit.message.type] ?? hit.message.type), marked(hit.text, hit.highlights),
            button('Show in chat', () => actions.reveal(hit.message.id))))));
      } else {
        const tokens = found.passages.reduce((sum, each) => sum + each.tokens, 0);
        const most = Math.max(1, ...found.passages.flatMap(each => Object.values(each.features)));
        results.replaceChildren(h('p', {}, tokens === 0
          ? 'Nothing to recall: the model sees it anyway, or nothing fits.'
          : `${plural(found.passages.length, 'passage')}, ${plural(tokens, 'token')}, ${Math.round(found.millis)} ms. `
            + 'What the model sees anyway is left out. The bars show why a message fits: it has words of the question, '
            + 'answers them, is near in meaning (with an embedding model), or has a speaker or a date that is named.'),
        h('ol', {class: 'lines'}, found.passages.map(each => passage(each, most))));
      }
      // On a phone, the keyboard goes, and what was found comes.
      if (document.body.clientWidth < 720) {
        words.blur();
        results.scrollIntoView();
      }
    });
    return [h('form', {class: 'row', onsubmit: event => {
      event.preventDefault();
      go('search');
    }}, h('label', {}, 'Words ', words), h('button', {class: 'main'}, 'Search'),
    button('Recall', () => go('recall'))), results];
  },
};

/** The long-term memories, which the user corrects, pins and forgets. */
const memories = {
  label: 'Memories',
  about: 'Facts that a model wrote down about you in this conversation. You can correct, pin and forget them.',
  async draw(page, actions) {
    let all;
    try {
      all = await json('GET', path(page.id, 'memories'));
    } catch (error) {
      if (error instanceof Problem && error.status === 400) {
        return [h('p', {}, 'Long-term memories are off. Start the sample with '
          + 'mvn -q -f samples/spring/pom.xml spring-boot:run -Dspring-boot.run.profiles=all')];
      }
      throw error;
    }
    const change = step => attempt(async () => {
      say('');
      await step();
      await actions.render();
    });
    const at = each => path(page.id, 'memories', each.id);
    return [
      h('div', {class: 'row'}, button('Make memories now', () => change(async () => {
        say('The memories are made…');
        const made = await json('POST', path(page.id, 'memories'));
        say(JSON.stringify(made) === JSON.stringify(all) ? 'No memory is due yet.' : 'The memories are made.');
      }), {id: 'make'})),
      all.length === 0 && h('p', {id: 'none'}, 'There is no long-term memory now. A memory is made of every '
        + 'four answers: within 5 minutes, or at once if you press the button.'),
      h('ul', {class: 'lines', 'aria-label': 'Long-term memories'}, all.map(each => h('li',
        {class: 'memories', 'data-id': each.id}, h('div', {class: 'top'},
          h('h3', {}, each.trust === 'USER' && each.older.length > 0 ? 'Corrected' : KINDS[each.kind] ?? each.kind),
          h('small', {}, TRUST[each.trust] ?? each.trust),
          each.pinned && h('span', {class: 'mark'}, 'Pinned')),
        text(each.text, 'p'),
        each.sources.length > 0 && h('small', {}, `Made from ${plural(each.sources.length, 'message')}`),
        each.older.length > 0 && h('details', {},
          h('summary', {}, `Replaced ${plural(each.older.length, 'memory', 'memories')}`),
          h('ol', {}, each.older.map(older => text(older, 'li')))),
        h('div', {class: 'buttons'},
          button('Correct', async () => {
            const corrected = await ask('Correct the memory.', 'Correct', 'Memory',
              h('textarea', {rows: 6}, each.text));
            if (corrected?.trim()) {
              await change(() => json('PUT', at(each), {text: corrected}));
            }
          }),
          button(each.pinned ? 'Unpin' : 'Pin', () => change(() =>
            json('PUT', at(each) + '/pinned', {pinned: !each.pinned})), {id: 'pin-' + each.id}),
          button('Forget', async () => {
            if (await ask(`Forget “${cut(each.text, 80)}”? The messages stay in the chat.`, 'Forget')) {
              await change(() => json('DELETE', at(each)));
            }
          }, {class: 'removes'}))))),
    ].filter(part => part);
  },
};

/** What was paid for, and whether the stored data are sound. */
const tokens = {
  label: 'Usage',
  about: 'What the answers cost in tokens, which models charge for.',
  async draw(page, actions) {
    const [usage, damage] = await Promise.all(['usage', 'check'].map(each => json('GET', path(page.id, each))));
    const days = Object.entries(usage.days);
    const most = Math.max(1, ...days.map(([, each]) => each.input + each.output));
    const sum = part => number(days.reduce((all, [, each]) => all + each[part], 0));
    const isFree = usage.answers.length === 0;
    return [
      h('p', {id: 'paid'}, isFree
        ? 'This conversation has cost nothing yet. A copy begins without the costs of the original.'
        : `${sum('input')} tokens read and ${sum('output')} written in the last 30 days.`),
      ...isFree ? [] : [h('h3', {}, 'The most expensive answers'),
      h('ol', {class: 'lines', id: 'dearest'}, usage.answers.slice(0, 20).map(each => h('li',
        {class: 'ai', 'data-id': each.said.id}, h('div', {class: 'top'},
          h('b', {}, `${number(each.usage.input + each.usage.output)} tokens`),
          h('small', {}, `${number(each.usage.input)} read, ${number(each.usage.output)} written`)),
        content(each.said),
        button('Why this answer?', () => actions.show('why', each.said.id))))),
      h('h3', {}, 'By day'),
      h('dl', {class: 'features'}, days.flatMap(([day, each]) => [h('dt', {}, day),
        h('dd', {}, h('meter', {min: 0, max: most, value: each.input + each.output, 'aria-label': day}),
          ` ${number(each.input)} read, ${number(each.output)} written`)]))],
      h('h3', {}, 'Check of the stored data'),
      h('p', {id: 'check'}, damage.length === 0 ? 'The stored data are sound.' : plural(damage.length, 'problem')),
      h('ul', {}, damage.map(each => h('li', {}, `${each.kind}: `, text(each.problem)))),
    ];
  },
};

export const views = {seen, why, tree, find, memories, tokens};
