// Builds elements and calls the server. Texts become text nodes, never HTML.

/** A text from this length on scrolls in its place. */
const LONG = 1500;
/** A line that begins or ends code. */
const FENCE = /^```[^`\n]*(?:\n|$)/m;

export const AWAY = 'The server does not answer. Is the application running?';

export const $ = id => document.getElementById(id);

/** Makes an element: h('p', {class: 'x', onclick: f}, 'text', child). */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  set(element, attributes);
  element.append(...children.flat().filter(child => child !== null && child !== undefined && child !== false));
  return element;
}

export function svg(tag, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  set(element, attributes);
  element.append(...children);
  return element;
}

function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith('on')) {
      element.addEventListener(name.slice(2), value);
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? '' : value);
    }
  }
}

/** A text that someone else wrote: its direction and its control characters change nothing around it. */
export function text(value, type = 'span') {
  const isLong = type === 'p' && value?.length > LONG;
  const parts = type === 'p' ? (value ?? '').split(FENCE) : [value ?? ''];
  return h(parts.length > 1 ? 'div' : type, {class: isLong ? 'text long' : 'text', dir: 'auto',
    tabindex: isLong ? 0 : null}, parts.map((part, i) => i % 2 ? h('pre', {}, part) : part));
}

/** The arguments of a call, which are JSON unless the model wrote something else. */
function given(json) {
  try {
    return Object.entries(JSON.parse(json)).map(([name, value]) =>
      `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`).join(', ');
  } catch {
    return json;
  }
}

const called = call => `Called ${call.name}(${given(call.arguments)})`;

/** What a message says, on one line. */
export const inWords = said => said.tool ? `${said.tool} returned: ${said.text}`
  : [said.text, ...said.calls.map(called)].filter(part => part).join(' ');

/** What a message says: its text, or a card with the tool that was called or what it returned. */
export function content(said, most = Infinity) {
  const isCut = said.text.length > most;
  const words = cut(said.text, most);
  const shown = Object.assign(text(words, 'p'), said.tool ? {className: 'text returned', tabIndex: 0} : {});
  return [
    said.tool && h('div', {class: 'call'}, text(said.tool, 'b'), ' returned'),
    (words !== '' || said.calls.length === 0) && shown,
    isCut && button('Show all', event => {
      const whole = text(said.text, 'p');
      whole.tabIndex = 0;
      shown.replaceWith(whole);
      event.target.remove();
      whole.focus();
    }),
    ...said.calls.map(call => h('div', {class: 'call'}, 'Called ', text(call.name, 'b'),
      '(', text(given(call.arguments)), ')')),
  ].filter(part => part);
}

export const button = (label, onclick, attributes) => h('button', {type: 'button', onclick, ...attributes}, label);

export const number = n => n.toLocaleString('en');

export const plural = (n, one, many = one + 's') => `${number(n)} ${n === 1 ? one : many}`;

/** Hides a button, or shows it. If it had the focus, another element gets it. */
export function hide(element, is, next) {
  const had = document.activeElement === element;
  element.hidden = is;
  if (is && had) {
    next.focus();
  }
}

/** Puts content into a place. What has the focus keeps it, by its id, or by its words in its item or the next one. */
export function replace(place, content) {
  const focused = document.activeElement;
  const had = focused !== place && place.contains(focused);
  const all = () => [...place.querySelectorAll('[data-id]')];
  const id = focused.closest('[data-id]')?.dataset.id;
  const at = all().findIndex(each => each.dataset.id === id);
  place.replaceChildren(...content);
  if (had && document.activeElement !== focused) {
    const items = all();
    const item = id && (items.find(each => each.dataset.id === id) ?? items[at] ?? items.at(-1));
    const buttons = item ? [item, ...item.querySelectorAll('*')].filter(each => each.matches('button:enabled')) : [];
    (place.querySelector('#' + CSS.escape(focused.id || 'none'))
      ?? buttons.find(each => each.textContent === focused.textContent) ?? buttons[0] ?? place).focus();
  }
}

/** An error that the server reported. */
export class Problem extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

export const path = (...parts) => '/conversations' + parts.map(part => '/' + encodeURIComponent(part)).join('');

/** Asks the server. Throws a Problem, or a TypeError if there is no answer. */
export async function call(method, url, body) {
  const response = await fetch(url, {
    method,
    headers: body === undefined ? {} : {'Content-Type': 'application/json'},
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (!response.ok) {
    const problem = await response.json().catch(() => ({}));
    throw new Problem(response.status, problem.detail ?? `The server answered ${response.status}.`);
  }
  return response;
}

export async function json(method, url, body) {
  const content = await (await call(method, url, body)).text();
  return content === '' ? null : JSON.parse(content);
}

/** Reads server-sent events of a response, and calls on(name, data) for each. Returns the name of the last one. */
export async function events(response, on) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  let name = null;
  for (;;) {
    const {done, value} = await reader.read();
    if (done) {
      return name;
    }
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop();
    for (const block of blocks) {
      const lines = block.split('\n');
      name = lines.find(line => line.startsWith('event:'))?.slice(6).trim();
      const data = lines.filter(line => line.startsWith('data:')).map(line => line.slice(5)).join('\n');
      on(name, JSON.parse(data));
    }
  }
}

/** Asks the user. Returns the text of the field, or true without one, or null if the user cancels. */
export function ask(question, yes, label, field) {
  const dialog = $('dialog');
  $('dialog-text').textContent = question;
  $('dialog-yes').textContent = yes;
  $('dialog-yes').className = field ? 'main' : 'removes';
  $('dialog-label').hidden = !field;
  $('dialog-label').replaceChildren(...(field ? [label, field] : []));
  dialog.returnValue = 'no';
  dialog.showModal();
  if (field) {
    field.select();
  } else {
    // What cannot be undone is not done by a key that was pressed too often.
    $('dialog-no').focus();
  }
  return new Promise(resolve => {
    // The event comes later than the end of the dialog, which may be open for another question by then.
    dialog.onclose = () => dialog.open || resolve(
      dialog.returnValue !== 'yes' ? null : field ? field.value : true);
  });
}

const PASSING = 6000;
let passing;

const letters = new Intl.Segmenter('en');

/** Returns a text, or its beginning. Cuts no character in two. */
export function cut(words, most) {
  if (words.length <= most) {
    return words;
  }
  let end = 0;
  for (const {index, segment} of letters.segment(words)) {
    if (index + segment.length > most) {
      break;
    }
    end = index + segment.length;
  }
  return words.slice(0, end) + '…';
}

/** Tells the user something, also a screen reader. It goes after a while, unless it is bad or goes on. */
export function say(message, bad = false) {
  const status = $('status');
  status.textContent = message;
  status.classList.toggle('bad', bad);
  clearTimeout(passing);
  passing = bad || message.endsWith('…') ? 0 : setTimeout(() => say(''), PASSING);
}

/** Runs a step that may fail, and shows the failure. */
export async function attempt(step) {
  try {
    return await step();
  } catch (error) {
    // A status that says that the page tries again stays.
    if (error instanceof Problem || !$('status').textContent.endsWith('Trying again…')) {
      say(error instanceof Problem ? error.message : AWAY, true);
    }
    return undefined;
  }
}
