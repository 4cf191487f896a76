/**
 * Stalls: the function that blocks a process now, and the last ones that did. While a process is blocked it gives no samples, and if it
 * serves the page, nothing at all. So the page itself asks the watch of each process that is silent, which answers from a thread of its
 * own on this machine.
 */
import { element, find, setText } from './dom.js';
import { time } from './format.js';

/** Time without a sample in ms after which a process is asked; there is one a second. */
const silentMs = 1200;
const askEveryMs = 500;
const mostShown = 5;
/** True on this machine, where alone a watch can be reached: it listens on this address alone, and the policy of the page allows no other. */
const isHere = ['127.0.0.1', 'localhost'].includes(location.hostname);

/**
 * @param {import('./view.js').View} view
 * @returns {() => void} updates the display
 */
export function startStalls(view) {
  const [live, section] = ['#blocked', '#stalls'].map(find);
  const list = section.querySelector('ol');
  /** Current stalls by process, and their lines on the page. */
  let current = new Map();
  const lines = new Map();
  let isAsking = false;

  const isSilent = ({ info, heardAt }) =>
    info.endedAt === null && performance.now() - heardAt > silentMs;

  async function ask() {
    const silent = view.selected.filter((each) => each.watch?.port && isSilent(each));
    const before = current;
    const found = await Promise.all(
      // Without an answer the last one stands: the machine is busy.
      silent.map(async ({ info: { id }, watch }) => [
        id,
        await currentOf(watch.port, before.get(id)),
      ]),
    );
    current = new Map(found.filter(([, stall]) => stall !== null));
    if (before.size + current.size > 0) view.dispatchEvent(new Event('change'));
  }

  if (isHere) {
    setInterval(async () => {
      if (isAsking || document.hidden) return;
      isAsking = true;
      await ask();
      isAsking = false;
    }, askEveryMs);
  }

  return () => {
    const isOne = view.store.processes.size === 1;
    for (const [id, { line }] of lines) {
      if (current.has(id)) continue;
      line.remove();
      lines.delete(id);
    }
    for (const [id, stall] of current) {
      if (!lines.has(id)) lines.set(id, liveLine());
      const { line, what, state } = lines.get(id);
      setText(what, `${placeOf(stall)}, ${seconds(stall.duration)}`);
      setText(state, `${stateOf(stall)}${isOne ? '' : `, process ${id}`}`);
      if (!line.isConnected) live.append(line);
    }
    const past = view.selected
      .flatMap(({ info, watch }) =>
        (watch?.recent ?? []).map((stall) => ({ ...stall, id: info.id })),
      )
      .sort((a, b) => b.startedAt - a.startedAt)
      .slice(0, mostShown);
    list.replaceChildren(...past.map((stall) => row(stall, isOne)));
    section.hidden = past.length === 0;
  };
}

/** A line that is made once for a stall: only its beginning is read aloud, not each tenth of a second. */
function liveLine() {
  const what = element('span', { class: 'place' });
  const state = element('span', { class: 'quiet' });
  return {
    line: element('p', {}, element('b', {}, 'Blocked now: '), what, ' ', state),
    what,
    state,
  };
}

function row(stall, isOne) {
  const at = new Date(stall.startedAt).toISOString();
  return element(
    'li',
    {},
    element('time', { datetime: at }, time(stall.startedAt / 1000)),
    element('b', { class: 'number' }, seconds(stall.duration)),
    element('span', { class: 'place' }, placeOf(stall)),
    element('span', { class: 'quiet' }, `${stateOf(stall)}${isOne ? '' : `, process ${stall.id}`}`),
  );
}

/** Returns the current stall of a process by its watch; null if there is none. Without an answer it is what was known before. */
async function currentOf(port, before = null) {
  try {
    const response = await fetch(`http://${location.hostname}:${port}/stalls`, {
      credentials: 'omit',
      signal: AbortSignal.timeout(1000),
    });
    return (await response.json()).current;
  } catch {
    return before;
  }
}

/** `renderInvoice, src/invoice.js:42`, with the built-in function that it has called. */
function placeOf({ at, builtin, seen }) {
  if (at === null) return 'function not known';
  const { function: name, file, line } = at;
  const called = builtin === null ? name : `${builtin} from ${name}`;
  return `${seen === 'after' ? 'native code from ' : ''}${called}, ${file}:${line}`;
}

const states = { computing: 'computing', starved: 'without a CPU', parked: 'asleep', unknown: '' };

function stateOf({ state, systemCall, caller }) {
  const call = systemCall === null ? '' : ` in ${systemCall}`;
  const by =
    caller === null ? '' : `, called from ${caller.function}, ${caller.file}:${caller.line}`;
  return `${states[state] ?? ''}${call}${by}`;
}

const seconds = (ms) => `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
