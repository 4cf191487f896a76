import { createHash } from 'node:crypto';

/** So manieth body of each group is looked at; the first one always is. */
const SAMPLE_EVERY = 16;

/** Of each group's first answer, letters. */
const FIRST_LENGTH = 16_384;

/** Answers by what was asked for: how many, with which status, how large, and whether they all say the same. */
export class Groups {
  #normalize;
  #groups = new Map();

  /** @param {RegExp} [normalize] what is left out of a body before two are compared: times, random ids */
  constructor(normalize) {
    this.#normalize = normalize && new RegExp(normalize.source, withG(normalize.flags));
  }

  /**
   * @param {string} name
   * @param {number} status
   * @param {string} body
   * @param {Record<string, string | string[]>} headers
   */
  add(name, status, body, headers) {
    let group = this.#groups.get(name);
    if (!group) {
      const first = `${name}\n${headLines(headers)}\n${body}`.slice(0, FIRST_LENGTH);
      group = { answers: 0, bytes: 0, status: {}, seen: 0, prints: new Set(), first };
      this.#groups.set(name, group);
    }
    group.answers += 1;
    group.bytes += Buffer.byteLength(body);
    group.status[status] = (group.status[status] ?? 0) + 1;
    // Two different ones are enough to tell.
    if (group.seen++ % SAMPLE_EVERY === 0 && group.prints.size < 2) {
      group.prints.add(this.#print(`${status}\n${body}`));
    }
  }

  /** Forgets the counts; first answers stay. */
  restart() {
    for (const group of this.#groups.values()) {
      Object.assign(group, { answers: 0, bytes: 0, status: {}, seen: 0, prints: new Set() });
    }
  }

  /** @returns {{ name: string, answers: number, status: Record<string, number>, bytes: number, payload: string | null }[]} */
  list() {
    return [...this.#groups].map(([name, { answers, bytes, status, prints }]) => ({
      name,
      answers,
      status: { ...status },
      bytes: answers === 0 ? 0 : bytes / answers,
      payload: prints.size === 1 ? [...prints][0] : null,
    }));
  }

  /** The first answer to each, head and body, as text. */
  firstAnswers() {
    return [...this.#groups.values()].map(({ first }) => first).join('\n\n');
  }

  #print(text) {
    const same = this.#normalize ? text.replace(this.#normalize, '') : text;
    return createHash('sha256').update(same).digest('hex').slice(0, 16);
  }
}

const withG = (flags) => (flags.includes('g') ? flags : `${flags}g`);

const headLines = (headers) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
