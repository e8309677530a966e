// The chat: the messages of the current branch. Keeps few nodes, whatever the length of the conversation.

import {button, content, h, number, plural, replace, text} from './dom.js';

const MOST = 150;

/** Why a message is not shown to the model, in words. */
const REASONS = {
  MESSAGE_LIMIT: 'more messages than the limit allows',
  TOKEN_LIMIT: 'more tokens than the limit allows',
  TOO_FAR_BACK: 'before a turn that is too long by itself',
  STRATEGY: 'left out by the strategy',
  ORPHAN_RESULT: 'the tool call that it answers is not sent',
  UNANSWERED_CALL: 'a tool call without a result',
  ANSWER_BEFORE_CALL: 'text of the model before another tool call',
  REPEATED_USER_MESSAGE: 'asked again later',
  FAILED: 'its answer failed',
  UNANSWERED_QUESTION: 'a question without an answer',
  REJECTED: 'the answer was rejected',
  ANSWERED_BEFORE: 'its question has an earlier answer',
  NO_QUESTION: 'its question is not sent',
  UNREADABLE: 'it cannot be read',
  EMPTY_TEXT: 'no text',
  NO_USER_MESSAGE: 'before the first question that is sent',
  OLD_SYSTEM_MESSAGE: 'newer instructions are sent',
  UNKNOWN_TYPE: 'a type that this version does not know',
  OLDER: 'older than what fits',
  SUMMARY: 'covered by the summary',
};

export const unseen = reason => 'Not seen: ' + (REASONS[reason] ?? 'left out');

/** In which other form a message is sent. */
export const short = type => type === 'USER' ? 'Sent without what was recalled for it'
  : 'Sent in a shorter form';

const WHO = {USER: 'You', AI: 'Model', TOOL_EXECUTION_RESULT: 'Tool', SYSTEM: 'Instructions', CUSTOM: 'Custom'};
const OUTCOMES = {FAILED: 'The answer failed', INCOMPLETE: 'Cut off', REJECTED: 'Rejected',
  UNREADABLE: 'Unreadable'};

/** How an answer ended, by the reason that is stored. */
const ENDS = {AskedToFail: 'The answer failed, because you asked for that.',
  cancelled: 'It ended here: it was stopped, or its page was left.',
  cut: 'It broke off here, because the server or the network went away.', limit: 'It is cut at its greatest length.'};

export class Chat {
  constructor(list, on) {
    this.list = list;
    this.on = on;
    list.addEventListener('keydown', event => this.keys(event));
    list.addEventListener('scroll', () => {
      // Another height is no scrolling of the user.
      this.low = list.clientHeight === this.height ? list.scrollHeight - list.scrollTop - this.height < 40 : this.low;
    });
    // The keyboard of a phone takes half of the place. The newest message stays in it.
    new ResizeObserver(() => {
      this.height = list.clientHeight;
      if (this.low) {
        list.scrollTop = list.scrollHeight;
      }
    }).observe(list);
    this.clear();
  }

  clear() {
    this.entries = [];
    this.older = null;
    this.running = false;
    this.atEnd = this.low = true;
    this.list.replaceChildren();
  }

  /** Shows the newest page. Messages that are on the page already stay, so that nothing is doubled and focus stays. */
  newest(page) {
    const first = this.entries.findIndex(entry => entry.said.id === page.messages[0]?.said.id);
    const before = first > 0 && this.atEnd ? this.entries.slice(0, first) : [];
    this.older = before.length ? this.older : page.older;
    this.entries = [...before, ...page.messages].slice(-MOST);
    this.running = page.running;
    if (this.entries.length === MOST && before.length) {
      this.older = this.entries[0].said.parentId;
    }
    this.atEnd = true;
    const {low} = this;
    this.draw();
    this.mark(page.request);
    if (low || !before.length) {
      this.list.scrollTop = this.list.scrollHeight;
    }
  }

  /** Shows an older page before the messages. If there are too many, the newest leave the page. */
  prepend(page) {
    this.entries = [...page.messages, ...this.entries];
    this.older = page.older;
    if (this.entries.length > MOST) {
      this.entries = this.entries.slice(0, MOST);
      this.atEnd = false;
    }
    const from = this.list.scrollHeight - this.list.scrollTop;
    this.draw();
    this.list.scrollTop = this.list.scrollHeight - from;
  }

  /** Shows an older page alone. */
  only(page) {
    this.clear();
    this.prepend(page);
    this.atEnd = false;
  }

  /** Removes what an edit, a retry or another answer will replace. */
  cut(id, kind) {
    const at = this.entries.findIndex(entry => entry.said.id === id);
    this.entries = this.entries.slice(0, kind === 'retry' ? at + 1 : at);
    this.draw();
  }

  /** Shows a question and an answer that are not stored yet. Returns a function that adds to the answer. */
  pending(question) {
    if (question !== null) {
      this.list.append(h('li', {class: 'user pending'}, h('h3', {}, WHO.USER), text(question, 'p')));
    }
    const words = text('', 'p');
    this.list.append(h('li', {class: 'ai pending'}, h('h3', {}, WHO.AI), words));
    this.list.scrollTop = this.list.scrollHeight;
    return token => {
      const {low} = this;
      words.append(token);
      if (low) {
        this.list.scrollTop = this.list.scrollHeight;
      }
    };
  }

  /** Shows the message behind another one, or the first one. */
  look(parent) {
    const at = this.entries.findIndex(entry => entry.said.parentId === parent);
    this.list.children[at]?.scrollIntoView({block: 'nearest'});
  }

  /** Brings a message before the eye, and its first button, or that with a label, before the keyboard. */
  reveal(id, label) {
    const item = [...this.list.children].find(each => each.dataset.id === id);
    item?.scrollIntoView({block: 'center'});
    const buttons = [...item?.querySelectorAll('.buttons button') ?? []];
    (buttons.find(each => each.textContent === label) ?? buttons[0])?.focus({preventScroll: true});
    return Boolean(item);
  }

  /** Returns the loaded messages before one that a model did not see. */
  unseen(id, seen) {
    const at = this.entries.findIndex(entry => entry.said.id === id);
    return this.entries.slice(0, Math.max(0, at)).filter(entry => !seen.has(entry.said.id)).map(entry => entry.said);
  }

  /** Returns the newest message. */
  last() {
    return this.entries.at(-1)?.said;
  }

  /** Returns the loaded messages of a type. */
  all(type) {
    return this.entries.map(entry => entry.said).filter(said => said.type === type);
  }

  draw() {
    const old = new Map([...this.list.children].map(item => [item.dataset.id, item]));
    const items = this.entries.map((entry, i) => {
      const last = i === this.entries.length - 1;
      const key = JSON.stringify([entry, last, last && this.running]);
      const item = old.get(entry.said.id);
      return item?.key === key ? item : Object.assign(this.item(entry, last), {key});
    });
    replace(this.list, items);
  }

  item(entry, last) {
    const said = entry.said;
    const name = WHO[said.type] ?? said.type;
    const item = h('li', {class: said.type === 'TOOL_EXECUTION_RESULT' ? 'tool' : said.type.toLowerCase(),
      'data-id': said.id});
    const cost = entry.usage && h('small', {title: 'What the model read and wrote for this answer'},
      `${plural(entry.usage.input, 'token')} read, ${number(entry.usage.output)} written`);
    item.append(h('div', {class: 'top'}, h('h3', {}, name), this.versions(entry), cost, h('span', {class: 'mark'})));
    if (said.type === 'SYSTEM') {
      item.append(h('details', {}, h('summary', {}, 'Text', h('small', {}, ' ' + plural(said.tokens, 'token'))),
        text(said.text, 'p')));
    } else {
      item.append(...content(said));
    }
    if (said.sent) {
      item.append(h('details', {}, h('summary', {}, 'What the model got'), text(said.sent, 'p')));
    }
    if (said.outcome) {
      const {kind, reason} = said.outcome;
      const word = reason?.replace(/^(?:[a-z]\w*\.)*(?:\w+\$)*/, '') ?? 'no reason is known';
      item.append(h('p', {class: 'outcome'}, ENDS[word]
        ?? [(OUTCOMES[kind] ?? kind) + ': ', text(word), kind === 'FAILED' && '. The server’s log says more.']));
    }
    item.append(this.buttons(said, last));
    return item;
  }

  versions(entry) {
    if (entry.versions.length < 2) {
      return null;
    }
    const go = step => {
      const leaf = entry.versions[entry.version + step];
      return () => leaf && this.on.version(leaf, entry.said.parentId);
    };
    return h('span', {class: 'versions', role: 'group', 'aria-label': 'Versions', title: 'Each version is kept'},
      button('‹', go(-1), {'aria-label': 'Previous version', disabled: entry.version === 0}),
      h('span', {}, `${entry.version + 1} of ${entry.versions.length}`),
      button('›', go(1), {'aria-label': 'Next version', disabled: entry.version === entry.versions.length - 1}));
  }

  buttons(said, last) {
    const all = [];
    if (last && said.type === 'USER' && this.running) {
      all.push(h('p', {class: 'mark'}, 'An answer is running in another tab, or since an earlier visit.'));
    } else if (said.type === 'USER') {
      all.push(button('Edit', () => this.on.edit(said.id, said.text)));
      if (said.outcome || last) {
        all.push(button('Try again', () => this.on.again('retry', said.id)));
      }
    } else if (said.type === 'AI') {
      if (said.calls.length === 0) {
        all.push(button('Another answer', () => this.on.again('regenerate', said.id)));
      }
      all.push(button('Why this answer?', () => this.on.why(said.id)));
    }
    return h('div', {class: 'buttons'}, all);
  }

  /** Arrow keys move between messages and between the versions of one. */
  keys(event) {
    const item = event.target.closest('li');
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    const move = {ArrowUp: 'previousElementSibling', ArrowDown: 'nextElementSibling'}[event.key];
    if (step && item) {
      const entry = this.entries.find(each => each.said.id === item.dataset.id);
      const leaf = entry?.versions[entry.version + step];
      if (leaf) {
        event.preventDefault();
        this.on.version(leaf, entry.said.parentId);
      }
    } else if (move && item) {
      event.preventDefault();
      item[move]?.querySelector('button:enabled')?.focus();
    }
  }

  /** Marks each message with what the next request does with it. */
  mark(request) {
    if (!request) {
      return;
    }
    const lines = new Map(request.lines.map(line => [line.part === 'SUMMARY' ? '' : line.said.id, line]));
    const covered = this.entries.findIndex(entry => entry.said.id === request.summarizedUpTo);
    // The question of a running answer is seen now.
    [...this.list.querySelectorAll('li:not(.pending, :has(+ .pending.ai))')].forEach((item, i) => {
      const line = lines.get(item.dataset.id);
      const kind = this.entries[i]?.said.outcome?.kind;
      const reason = line ? line.reason : kind && kind !== 'INCOMPLETE' ? kind
        : i <= covered || (covered < 0 && request.summarizedUpTo) ? 'SUMMARY' : 'OLDER';
      const mark = item.querySelector('.mark');
      item.classList.toggle('hidden', Boolean(reason));
      if (mark) {
        mark.textContent = reason ? unseen(reason) : line.shortened ? short(line.said.type) : '';
      }
    });
  }
}
