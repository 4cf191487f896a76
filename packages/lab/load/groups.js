import { createHash } from 'node:crypto';
import { randomFrom } from '../stats/random.js';

/** Number of bodies per group that are checked from the first one on; after that, one in so many, at random. */
const FIRST_BODIES = 64;
const SAMPLE_EVERY = 16;

/** Letters of each group's first answer that are kept. */
const FIRST_LENGTH = 16_384;

/** Answers by what was asked for: how many, with which status, how large, and whether they all say the same. */
export class Groups {
  #normalize;
  #random;
  #groups = new Map();

  /**
   * @param {RegExp} [normalize] what is left out of a body before two are compared: times, random ids
   * @param {number} [seed] which bodies are looked at, from 0 to 2^32 - 1
   */
  constructor(normalize, seed = 1) {
    this.#normalize = normalize && everywhere(normalize);
    this.#random = randomFrom(seed);
  }

  /**
   * @param {string} name
   * @param {number} status
   * @param {Buffer} body
   * @param {Record<string, string | string[]>} headers
   */
  add(name, status, body, headers) {
    let group = this.#groups.get(name);
    if (!group) {
      const first = `${name}\n${headLines(headers)}\n${body}`.slice(0, FIRST_LENGTH);
      group = { ...nothing(), first };
      this.#groups.set(name, group);
    }
    group.answers += 1;
    group.bytes += body.length;
    group.status[status] = (group.status[status] ?? 0) + 1;
    // Two different ones are enough to tell.
    if (group.prints.size < 2 && this.#isLookedAt(group)) {
      group.prints.add(this.#print(status, body));
    }
  }

  /** Forgets the counts; first answers stay. */
  restart() {
    for (const group of this.#groups.values()) Object.assign(group, nothing());
  }

  /**
   * @returns {{ name: string, answers: number, status: Record<string, number>, bytes: number, payload: string | null,
   *   varies: boolean }[]} `varies`: not all that were looked at say the same, so that there is no payload
   */
  list() {
    return [...this.#groups].map(([name, { answers, bytes, status, prints }]) => ({
      name,
      answers,
      status: { ...status },
      bytes: answers === 0 ? 0 : bytes / answers,
      payload: prints.size === 1 ? [...prints][0] : null,
      varies: prints.size > 1,
    }));
  }

  /** The first answer to each, head and body, as text. */
  firstAnswers() {
    return [...this.#groups.values()].map(({ first }) => first).join('\n\n');
  }

  #isLookedAt({ answers }) {
    return answers <= FIRST_BODIES || this.#random() * SAMPLE_EVERY < 1;
  }

  #print(status, body) {
    const same = this.#normalize ? `${body}`.replace(this.#normalize, '') : body;
    return createHash('sha256').update(`${status}\n`).update(same).digest('hex').slice(0, 16);
  }
}

/** A pattern that finds all there are in a text. @param {RegExp} pattern */
export const everywhere = ({ source, flags }) =>
  new RegExp(source, flags.includes('g') ? flags : `${flags}g`);

const nothing = () => ({ answers: 0, bytes: 0, status: {}, prints: new Set() });

const headLines = (headers) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
