import { TASKS } from '/tasks.js';
import { ms, times } from '/write.js';

/** A browser opens six connections to a server. One is for the events, one for the probe. */
const AT_ONCE = 4;
const KEPT = 20;

/** Starts tasks, and shows what became of them: the newest first. */
export class Runs {
  #body = document.querySelector('#runs tbody');
  #probe;
  #say;
  #running = 0;
  #waiting = [];
  /** Durations on the main thread. */
  #onMain = new Map();

  constructor(probe, say) {
    this.#probe = probe;
    this.#say = say;
  }

  /** @param {string} name of a task @param {object} settings as they are now */
  async start(name, settings) {
    const task = TASKS[name];
    const row = this.#addRow(task, settings);
    if (this.#running >= AT_ONCE) await new Promise((resolve) => this.#waiting.push(resolve));
    this.#running += 1;
    row.className = 'running';
    fill(row, { result: 'running…' });
    const begin = performance.now();
    const { result, error } = await ask(task.ask(settings));
    this.#running -= 1;
    this.#waiting.shift()?.();
    const told = error ?? task.tell(result);
    const took = result?.ms ?? null;
    fill(row, { result: told, took: ms(took) });
    this.#say(`${task.title}, ${task.where}: ${told}${took === null ? '' : `, ${ms(took)}`}`);
    if (result) fill(row, { speed: this.#speed(task, settings, result) });
    fill(row, { health: ms(await this.#probe.slowestSince(begin)) });
    row.className = error ? 'failed' : 'done';
  }

  #addRow(task, settings) {
    const row = document.querySelector('#run').content.firstElementChild.cloneNode(true);
    const about = task.about(settings);
    fill(row, { task: about ? `${task.title}, ${about}` : task.title, where: task.where });
    fill(row, { result: 'waits for a connection' });
    this.#body.prepend(row);
    document.querySelector('#none').hidden = true;
    for (const old of Array.from(this.#body.children).slice(KEPT)) old.remove();
    return row;
  }

  /** Compares the parts together with all of it, beside Amdahl's law; and the main thread, if it has done the same. */
  #speed(task, settings, { thread, ms: took, speedUp }) {
    const key = `${task.title} ${task.about(settings)}`;
    if (thread === 'main') {
      this.#onMain.set(`${key} ${task.where}`, took);
      return '–';
    }
    const words = [];
    const method = task.where.includes(', ') ? task.where.slice(task.where.indexOf(',')) : '';
    const before = this.#onMain.get(`${key} main thread${method}`);
    if (speedUp) words.push(`${times(speedUp.measured)}, by Amdahl ${times(speedUp.amdahl)}`);
    if (before && took > 0) words.push(`${times(before / took)} as fast as on the main thread`);
    return words.join('; ') || '–';
  }
}

async function ask({ path, query, body }) {
  const parameters = query ? `?${new URLSearchParams(query)}` : '';
  const options = body
    ? { method: 'POST', body, headers: { 'content-type': 'application/octet-stream' } }
    : {};
  try {
    const response = await fetch(path + parameters, options);
    const answer = await response.json();
    return response.ok ? { result: answer } : { error: answer.error.message };
  } catch {
    return { error: 'no answer: the connection broke' };
  }
}

function fill(row, texts) {
  for (const [name, text] of Object.entries(texts)) {
    const cell = row.querySelector(`[data-name="${name}"]`);
    cell.textContent = text;
    cell.classList.toggle('nothing', text === '–');
  }
}
