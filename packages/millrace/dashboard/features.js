/** Features of the selected processes, and their switches. */
import { element, find, setText } from './dom.js';

const explained = {
  ws: 'WebSocket fan-out',
  fs: 'file batches',
  dns: 'shared look-ups',
  reads: 'adaptive reads',
  net: 'coalesced writes',
  guard: 'overload guard',
  monitor: 'loop monitor',
  stalls: 'names what blocks',
};

/**
 * @param {import('./view.js').View} view
 * @returns {() => void} updates the display
 */
export function startFeatures(view) {
  const section = find('#features');
  const used = find('#features-used');
  const unused = find('#features-unused');
  const message = section.querySelector('.message');
  const items = new Map();
  /** Names of features that were once active: their switches keep their place under the pointer. */
  const active = new Set();

  async function change(name, button) {
    const on = button.getAttribute('aria-checked') !== 'true';
    button.setAttribute('aria-busy', 'true');
    setText(message, await request({ process: view.process, feature: name, on }));
    button.removeAttribute('aria-busy');
  }

  function item(name) {
    const button = element('button', { type: 'button', role: 'switch', 'aria-checked': 'false' });
    const state = element('span', { class: 'state' });
    button.append(element('span', { class: 'knob' }), element('b', {}, name));
    const what = element('span', { class: 'what' }, explained[name] ?? '');
    button.addEventListener('click', () => change(name, button));
    return { button, state, line: element('li', {}, button, what, state) };
  }

  return () => {
    const all = view.selected.filter(({ info }) => info.endedAt === null);
    const names = [...new Set(all.flatMap(({ info }) => info.features.map(({ name }) => name)))];
    section.hidden = names.length === 0;
    for (const name of names) if (!items.has(name)) items.set(name, item(name));
    for (const name of names) {
      const { button, state, line } = items.get(name);
      const of = all.flatMap(({ info }) => info.features.filter((each) => each.name === name));
      button.setAttribute('aria-checked', String(of.some((each) => each.state !== 'off')));
      line.dataset.state = of.some((each) => each.state === 'active') ? 'active' : of[0].state;
      setText(state, describe(of));
      if (line.dataset.state === 'active') active.add(name);
    }
    const others = names.filter((name) => !active.has(name));
    const lines = (some) => some.map((name) => items.get(name).line);
    fill(used, lines(names.filter((name) => active.has(name))));
    fill(unused.querySelector('ul'), lines(others));
    unused.hidden = others.length === 0;
    setText(unused.querySelector('summary'), `Not in use: ${others.join(', ')}`);
  };
}

/** Puts lines into a list, unless they are there already: a moved button loses the focus. */
function fill(list, lines) {
  const isThere = lines.length === list.children.length;
  if (!isThere || lines.some((line, n) => line !== list.children[n]))
    list.replaceChildren(...lines);
}

/** Returns the state in all of these processes, with the reason where the feature cannot act. */
function describe(features) {
  const states = [...new Set(features.map(({ state }) => state))];
  const count = (state) => features.filter((each) => each.state === state).length;
  const text =
    states.length === 1
      ? states[0]
      : states.map((state) => `${state} in ${count(state)}`).join(', ');
  const { why } = features.find((each) => each.why !== null) ?? {};
  if (why) return `${text}: ${why}`;
  return text === 'waiting' ? 'waiting: nothing to act on yet' : text;
}

/** Returns the error, or an empty text. */
async function request(body) {
  try {
    const response = await fetch('api/features', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const answer = await response.json();
    if (answer.error) return `Not switched: ${answer.error}`;
    const failed = answer.switched.filter(({ error }) => error !== undefined);
    return failed.map(({ process, error }) => `Process ${process}: ${error}`).join(' ');
  } catch {
    return 'Not switched: the server does not answer.';
  }
}
