import { createInterface } from 'node:readline';

/** One process with a probe, as the lab sees it. */
export class Probed {
  /** Resolves when it has answered the last mark of the beginning, or is gone. @type {Promise<void>} */
  begun = Promise.resolve();
  /** Resolves when it has answered the last mark of the end, or is gone. @type {Promise<void>} */
  ended = Promise.resolve();
  isGone = false;

  #socket;
  #latest = null;
  /** The window's lines; the first one is what was before it. */
  #lines = [];
  #begin = null;
  #end = null;
  /** As many lines were there when the end was marked; null while it is not. */
  #length = null;
  #settleBegin = () => {};
  #settleEnd = () => {};

  /**
   * @param {import('node:net').Socket} socket
   * @param {boolean} isMeasuring whether a window is open: then all that the process has done is in it
   */
  constructor(socket, isMeasuring) {
    this.#socket = socket;
    if (isMeasuring) this.#begin = 'start';
    // An interface passes on the errors of its input, as when the process is gone.
    createInterface({ input: socket })
      .on('line', (text) => this.#take(text))
      .on('error', () => {});
    socket.on('error', () => {});
    socket.once('close', () => {
      this.isGone = true;
      this.#settleBegin();
      this.#settleEnd();
    });
  }

  /** @param {number} number tells this mark from those before */
  begin(number) {
    // Until it answers, that is the best that is known.
    this.#lines = this.#latest === null ? [] : [this.#latest];
    this.#length = null;
    this.#end = null;
    this.#begin = `begin ${number}`;
    this.begun = new Promise((resolve) => {
      this.#settleBegin = resolve;
    });
    this.#socket.write(`${this.#begin}\n`);
  }

  end(number) {
    if (this.isGone) return;
    this.#end = `end ${number}`;
    this.ended = new Promise((resolve) => {
      this.#settleEnd = resolve;
    });
    this.#socket.write(`${this.#end}\n`);
  }

  /** Its lines from the beginning of the window to the end, both included; none when nothing is known of that. */
  lines() {
    const lines = this.#lines.slice(0, this.#length ?? undefined);
    return lines.length > 1 ? lines : [];
  }

  destroy() {
    this.#socket.destroy();
  }

  #take(text) {
    const line = parse(text);
    if (line === null) return;
    this.#latest = line;
    if (this.#begin === 'start') {
      this.#lines = [fromStart(line)];
      this.#begin = null;
    }
    const isMark = (mark) => mark !== null && line.mark === mark;
    if (isMark(this.#begin)) {
      this.#lines = [line];
      this.#settleBegin();
    } else if (this.#begin !== null || this.#lines.length > 0) this.#lines.push(line);
    if (isMark(this.#end)) {
      this.#length = this.#lines.length;
      this.#settleEnd();
    }
  }
}

/** What a process had done before it began: nothing. */
function fromStart(line) {
  const nothing = { idleMs: 0, activeMs: 0, millrace: {} };
  const collections = line.gcMs === null ? {} : { gcMs: 0, gcCount: 0, allocatedBytes: 0 };
  return { ...line, ...nothing, ...collections, at: line.at - line.idleMs - line.activeMs };
}

/** null for what no probe writes. */
function parse(text) {
  try {
    const line = JSON.parse(text);
    const isLine =
      line !== null &&
      ['at', 'activeMs', 'heapUsedBytes'].every((key) => Number.isFinite(line[key]));
    return isLine ? line : null;
  } catch {
    return null;
  }
}
