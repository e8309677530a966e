// The whole page: which conversation is open, what changes it, and the views to the right of it.

import {$, AWAY, Problem, ask, attempt, button, call, events, h, hide, json, path, plural, replace, say, text}
  from './dom.js';
import {Chat} from './chat.js';
import {views} from './views.js';

const POLL = 1000;
const LISTED = 20;
const MOST_LISTED = 1000;
/** Whether the list of conversations has a place of its own. */
const WIDE = matchMedia('(min-width: 70rem)');
const NARROW = matchMedia('(max-width: 45rem)');
/** What the user may tell, and ask for later. */
const TRIES = [['My name is Ada.', 'What is my name?'], ['I live in Lisbon.', 'Where do I live?'],
  ['My favourite colour is green.', 'What is my favourite colour?']];
const SCRIPTED = 'scripted';
const WHEN = new Intl.DateTimeFormat('en-GB', {day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit'});
/** What was typed and not sent, by conversation. */
const drafts = new Map();
const page = {id: null, state: null, newest: null, answer: null, streaming: null, tab: 'seen', strategy: null};
const chat = new Chat($('said'), {
  again: async (kind, id) => {
    if (!page.streaming) {
      const isLast = chat.last().id === id;
      chat.cut(id, kind);
      const conversation = page.id;
      const end = await stream(kind === 'retry' ? 'The question is asked again…' : 'The model answers again…',
        () => call('POST', path(conversation, 'messages', id, kind)), () => {});
      if (end === 'done' && kind === 'regenerate' && !isLast) {
        say('The answer is complete. The later messages are on another branch.');
      }
      if (end !== 'done' && kind === 'retry') {
        chat.reveal(id, 'Try again');
      } else if (chat.list.contains(document.activeElement)) {
        chat.list.querySelector('li:last-child .versions button:enabled')?.focus();
      }
    }
  },
  edit: (id, words) => edit(id, words),
  why: async id => {
    await show('why', id);
    // For the keyboard, and on a phone, where the view is below the chat.
    $('panel').focus();
  },
  version: (leaf, parent) => attempt(async () => {
    await json('PUT', path(page.id, 'branches', leaf));
    await load();
    chat.look(parent);
    say('The conversation goes on from this version.');
  }),
});

/** Returns the conversation that the address names. */
function named() {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return '';
  }
}

/** Opens a conversation. It need not exist yet. */
async function open(id, isNew = false) {
  edit(null);
  drafts.set(page.id, $('question').value);
  // A running answer goes on and is stored. Of a new conversation, the server knows nothing yet.
  Object.assign(page, {id, isNew, state: null, newest: null, answer: null, streaming: null, words: ''});
  busy(false);
  if (isNew) {
    // The address names a conversation only from its first question on.
    history[named() ? 'pushState' : 'replaceState'](null, '', location.pathname);
  } else {
    location.hash = encodeURIComponent(id);
  }
  chat.clear();
  $('question').value = drafts.get(id) ?? '';
  if (!WIDE.matches) {
    $('conversations').open = false;
  }
  say('');
  marked();
  await load();
  if (page.isNew && !isNew) {
    say('There is no such conversation here. A question starts it.');
  }
}

/** Marks the open conversation in the list. */
function marked() {
  for (const item of $('list').querySelectorAll('button')) {
    if (item.dataset.id === page.id) {
      item.setAttribute('aria-current', 'true');
    } else {
      item.removeAttribute('aria-current');
    }
  }
}

/** Reads the newest page, with all that it shows, in one request. */
async function load() {
  const id = page.id;
  let wrong = null;
  const fill = loaded => {
    if (id === page.id) {
      page.newest = loaded;
      page.state = loaded?.state ?? null;
      loaded ? chat.newest(loaded) : chat.clear();
      $('welcome').hidden = !page.isNew && !loaded;
      head(loaded?.title);
    }
  };
  try {
    fill(page.isNew ? null : await json('GET', path(id, 'page')));
  } catch (error) {
    // Without a network, what is shown stays.
    if (!(error instanceof Problem) && page.newest) {
      throw error;
    }
    wrong = error.status === 404 ? null : error;
    // What the server does not know is not asked for every second.
    page.isNew ||= error.status === 404;
    fill(null);
  }
  paging();
  offer();
  await render();
  if (wrong) {
    throw wrong;
  }
}

function head(title) {
  $('title').replaceChildren(text(title ?? (page.isNew ? 'New conversation' : 'Not loaded')));
  document.title = $('title').textContent + ' – Keepsake4j';
  for (const id of ['rename', 'fork', 'erase']) {
    $(id).disabled = !page.newest;
  }
}

/** Offers what to tell, and later what to ask for it. */
function offer() {
  const said = chat.all('USER').map(each => each.text);
  const told = TRIES.filter(([tell]) => said.includes(tell));
  const words = said.length === 0 ? [...TRIES.map(([tell]) => tell), 'What is the temperature in Oslo?']
    : told.length > 0 ? [...told.map(([, asks]) => asks).filter(asks => asks !== said.at(-1)), 'Say something long.']
    : [];
  $('tries').hidden = words.length === 0;
  $('tries').replaceChildren('Try: ', ...words.map(each => button(each, () => {
    $('question').value = each;
    send();
    if (WIDE.matches) {
      $('question').focus();
    }
  })));
}

function paging() {
  hide($('older'), !chat.older, $('said'));
  hide($('newest'), chat.atEnd, $('said'));
}

async function older() {
  const id = page.id;
  const before = chat.older;
  // On a slow network, the button may be pressed twice.
  if (page.reads === before) {
    return;
  }
  page.reads = before;
  await attempt(async () => {
    const loaded = await json('GET', path(id, 'page') + '?upTo=' + encodeURIComponent(before));
    if (id === page.id && before === chat.older) {
      chat.prepend(loaded);
      chat.mark(page.newest?.request);
      paging();
    }
  });
  page.reads = null;
}

/** Shows an answer while it is made, behind a question that is not stored yet. Restores one that the server refuses. */
async function stream(message, begin, restore, question = null) {
  if (page.streaming) {
    return;
  }
  const running = page.streaming = {};
  const id = page.id;
  page.isNew = false;
  busy(true);
  say(message);
  const answer = chat.pending(question);
  let end;
  let isTaken = false;
  try {
    const response = await begin();
    isTaken = true;
    if (id === page.id) {
      history.replaceState(null, '', '#' + encodeURIComponent(id));
    }
    end = await events(response, (name, data) => name === 'token' ? answer(data.text) : null);
  } catch (error) {
    end = error;
  }
  if (!isTaken) {
    restore();
  }
  if (running !== page.streaming) {
    return;
  }
  page.streaming = null;
  busy(false);
  if (end instanceof Problem) {
    say(end.message, true);
  } else if (end === 'done' || end === 'stopped' || end === 'failed') {
    say({done: 'The answer is complete.', stopped: 'The answer was stopped. What came is kept.',
      failed: 'The answer failed. “Try again” below the question asks once more.'}[end], end === 'failed');
  } else {
    if (!isTaken) {
      // What was not sent is not in the chat, and what it would have replaced is.
      page.newest ? chat.newest(page.newest) : chat.clear();
    }
    say(isTaken ? 'The server went away in the middle of an answer. Trying again…'
      : question === null ? 'The server does not answer. Try again when it is back.'
      : 'The server does not answer. Your question is still in the field; send it when the server is back.', true);
    // The next look at the server reads all again.
    page.state = 'lost';
    return end;
  }
  await attempt(load);
  await attempt(list);
  return end;
}

/** Where the focus goes from a button that is gone. On a phone, the field would bring the keyboard. */
const rest = () => NARROW.matches ? $('said') : $('question');

function busy(is) {
  hide($('stop'), !is, rest());
  if (is && document.activeElement === $('send')) {
    rest().focus();
  }
  $('send').disabled = is;
  document.body.classList.toggle('busy', is);
}

/** Begins to edit a question, or, with null, ends it and puts back what was being typed before. */
function edit(id, words) {
  if (!page.edited) {
    page.draft = $('question').value;
  }
  $('question').value = id ? words : page.draft;
  page.edited = id;
  $('mode').hidden = !id;
  if (id) {
    say('');
    $('question').focus();
  }
}

function send(event) {
  event?.preventDefault();
  const words = $('question').value;
  if (page.streaming || words.trim() === '') {
    return;
  }
  const edited = page.edited;
  if (edited) {
    chat.cut(edited, 'edit');
  }
  const id = page.id;
  edited ? edit(null) : $('question').value = '';
  stream('The model answers…', () => edited
    ? call('PUT', path(id, 'messages', edited), {text: words})
    : call('POST', path(id, 'messages'), {text: words}), () => {
    if (id !== page.id) {
      drafts.set(id, words);
    } else if (edited) {
      edit(edited, words);
    } else if ($('question').value === '') {
      $('question').value = words;
    }
  }, words);
}

/** Shows a view to the right of the chat. */
async function show(tab, answer = page.answer) {
  if (tab !== 'seen') {
    // What was only tried leaves no marks.
    chat.mark(page.newest?.request);
  }
  page.tab = tab;
  page.answer = answer;
  for (const each of $('tabs').children) {
    const chosen = each.id === 'tab-' + tab;
    each.setAttribute('aria-selected', chosen);
    each.tabIndex = chosen ? 0 : -1;
  }
  $('panel').setAttribute('aria-labelledby', 'tab-' + tab);
  await render();
}

/** Brings the end of the current branch before the eye, in the tree. */
const toEnd = () => $('panel').querySelector('.node[tabindex="0"]')?.scrollIntoView({block: 'nearest'});

/** Draws the chosen view again. A later drawing wins. */
async function render() {
  const drawing = page.drawing = {};
  const view = views[page.tab];
  if (view.keeps && page.drawn === page.tab + ' ' + page.id && page.newest) {
    return;
  }
  let content;
  try {
    content = page.newest ? await view.draw(page, actions)
      : h('p', {}, page.isNew ? 'There is nothing to show yet. Send a first message.'
        : 'This conversation cannot be loaded. ' + AWAY);
  } catch (error) {
    content = h('p', {class: 'bad'}, error instanceof Problem ? error.message : AWAY);
  }
  if (drawing === page.drawing) {
    const boxes = () => [$('panel'), ...$('panel').querySelectorAll('.scroll')];
    const tops = boxes().map(box => box.scrollTop);
    const isAgain = page.drawn === page.tab + ' ' + page.id;
    const back = () => actions.reveal((page.tab === 'why' && page.answer) || chat.last()?.id);
    replace($('panel'), [page.newest && button('Back to the chat', back, {class: 'narrow'}),
      h('p', {class: 'about'}, view.about), ...[content].flat()].filter(part => part));
    boxes().forEach((box, i) => {
      box.scrollTop = isAgain ? tops[i] ?? 0 : 0;
    });
    isAgain || toEnd();
    page.drawn = page.newest ? page.tab + ' ' + page.id : null;
  }
}

/** What the views may do. */
const actions = {
  show,
  render,
  chat,
  reload: () => attempt(load),
  /** Shows a message in the chat, with the page that ends there if it is on none of the loaded ones. */
  reveal: id => attempt(async () => {
    if (!chat.reveal(id)) {
      chat.only(await json('GET', path(page.id, 'page') + '?upTo=' + encodeURIComponent(id)));
      chat.mark(page.newest?.request);
      paging();
      chat.reveal(id);
    }
  }),
  switchTo: leaf => attempt(async () => {
    await json('PUT', path(page.id, 'branches', leaf));
    await load();
    say('The conversation goes on at the end of this branch.');
  }),
};

/** Reads the conversations again, as many as were shown, or those behind a cursor. */
async function list(cursor) {
  const shown = Math.min($('list').children.length, MOST_LISTED);
  const query = cursor ? '?cursor=' + encodeURIComponent(cursor) : shown > LISTED ? '?size=' + shown : '';
  const loaded = await json('GET', '/conversations' + query);
  document.body.classList.toggle(SCRIPTED, loaded.model === SCRIPTED);
  const items = loaded.conversations.map(each => h('li', {},
    button('', () => attempt(() => open(each.id)), {class: 'item', 'data-id': each.id})));
  loaded.conversations.forEach((each, i) => items[i].firstChild.append(
    text(each.title, 'b'),
    h('small', {}, plural(each.messages, 'message'),
      each.lastMessageAt && ', ' + WHEN.format(new Date(each.lastMessageAt)))));
  replace($('list'), [...(cursor ? $('list').children : []), ...items]);
  hide($('more'), !loaded.next, $('list'));
  $('more').onclick = () => attempt(() => list(loaded.next));
  marked();
  filter();
}

function filter() {
  const words = $('filter').value.toLowerCase();
  const items = [...$('list').children];
  for (const item of items) {
    item.hidden = !item.textContent.toLowerCase().includes(words);
  }
  $('no-match').textContent = $('more').hidden ? 'No conversation matches.'
    : `None of the ${items.length} shown matches. Press “More” to look on.`;
  $('no-match').hidden = words === '' || items.some(item => !item.hidden);
}

async function poll() {
  await look();
  setTimeout(poll, POLL);
}

/** Looks whether another page, or another process, changed the conversation. */
async function look() {
  try {
    if (page.id && !page.streaming && !page.isNew) {
      const id = page.id;
      const now = await json('GET', path(id, 'state')).catch(error => {
        if (error instanceof Problem && error.status === 404) {
          return {state: null};
        }
        throw error;
      });
      if (id === page.id && !page.streaming && now.state !== page.state) {
        const before = page.state;
        await load();
        await list();
        if (before === 'lost') {
          say('The server is back. ' + ($('question').value ? 'Send your question again.'
            : chat.last()?.type === 'USER'
            ? 'An unfinished answer was not stored; press “Try again” below your question.'
            : 'What was stored is shown.'));
        } else if (before && !page.state) {
          say('This conversation was erased elsewhere. A new question starts it again.', true);
        }
      }
    }
  } catch (error) {
    if (error instanceof Problem) {
      say(error.message, true);
    } else if (page.state !== 'lost') {
      say('The server does not answer. Trying again…', true);
      page.state = 'lost';
    }
  }
}

function keys(event) {
  if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
    send(event);
  } else if (event.key === 'Escape' && page.edited) {
    edit(null);
  }
}

function tabs() {
  for (const [name, view] of Object.entries(views)) {
    $('tabs').append(button(view.label, () => show(name).then(() => {
      if (NARROW.matches) {
        $('views').scrollIntoView();
        toEnd();
      }
    }), {role: 'tab', id: 'tab-' + name, title: view.about, 'aria-selected': false, 'aria-controls': 'panel'}));
  }
  $('tabs').addEventListener('keydown', event => {
    const all = [...$('tabs').children];
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (step) {
      const next = all[(all.indexOf(document.activeElement) + step + all.length) % all.length];
      next.focus();
      next.click();
    }
  });
}

function wire() {
  tabs();
  $('ask').addEventListener('submit', send);
  $('question').addEventListener('keydown', keys);
  $('cancel').addEventListener('click', () => edit(null));
  $('stop').addEventListener('click', () => attempt(() => json('POST', path(page.id, 'stop'))));
  document.addEventListener('keydown', event => {
    if (event.key === 'Escape' && page.streaming && !$('dialog').open) {
      $('stop').click();
    }
  });
  $('older').addEventListener('click', older);
  $('newest').addEventListener('click', () => {
    chat.clear();
    attempt(load);
  });
  $('filter').addEventListener('input', filter);
  $('new').addEventListener('click', async () => {
    await attempt(() => open(crypto.randomUUID(), true));
    $('question').focus();
  });
  $('rename').addEventListener('click', async () => {
    const title = await ask('Rename the conversation.', 'Rename', 'Title', Object.assign(
      h('input', {maxlength: 1000, autocomplete: 'off'}), {value: page.newest.title ?? ''}));
    if (title !== null) {
      say('');
      await attempt(async () => {
        await json('PUT', path(page.id, 'title'), {text: title});
        await load();
        await list();
      });
    }
  });
  $('fork').addEventListener('click', () => attempt(async () => {
    const made = await json('POST', path(page.id, 'messages', chat.last().id, 'fork'));
    await open(made.id);
    await list();
    say('This is the copy. The other conversation is unchanged.');
  }));
  $('erase').addEventListener('click', async () => {
    if (await ask(`Erase “${page.newest.title}”? This cannot be undone.`, 'Erase')) {
      await attempt(async () => {
        await json('DELETE', path(page.id));
        await open(crypto.randomUUID(), true);
        await list();
        say('The conversation is erased.');
        $('question').focus();
      });
    }
  });
  // A page in the background is slow to look, and the list may have changed too.
  addEventListener('focus', () => look().then(() => page.state === 'lost' || attempt(list)));
  WIDE.addEventListener('change', () => {
    $('conversations').open = WIDE.matches;
  });
  addEventListener('hashchange', () => {
    const id = named();
    if (id !== page.id) {
      attempt(() => open(id || crypto.randomUUID(), id === ''));
    }
  });
}

async function start() {
  wire();
  $('conversations').open = WIDE.matches;
  await show('seen');
  await attempt(() => open(named() || crypto.randomUUID(), named() === ''));
  if (WIDE.matches) {
    $('question').focus();
  }
  await attempt(list);
  setTimeout(poll, POLL);
}

start();
