/** So often /health is asked, if it answers in time. */
const EVERY_MS = 200;
const KEPT_MS = 120_000;

/** Asks /health again and again, one question at a time, and remembers how long the answers took. */
export class Probe {
  /** Probes, oldest first: when each was asked and how long it took, in ms. */
  answers = [];
  #askedAt = null;
  #answered = Promise.resolve();

  begin() {
    const begun = performance.now();
    this.#answered = this.#ask().finally(() => {
      const wait = Math.max(0, begun + EVERY_MS - performance.now());
      setTimeout(() => this.begin(), wait);
    });
  }

  /** Wait of the unanswered question; null when there is none. */
  get waiting() {
    return this.#askedAt === null ? null : performance.now() - this.#askedAt;
  }

  /** The longest of those that were open at some time from `begin` on, once the present one is answered. */
  async slowestSince(begin) {
    await this.#answered;
    const met = this.answers.filter(({ at, ms }) => at + ms >= begin);
    return met.length > 0 ? Math.max(...met.map(({ ms }) => ms)) : null;
  }

  async #ask() {
    const at = performance.now();
    this.#askedAt = at;
    const isAnswered = await fetch('/health').then(
      (response) => response.ok,
      () => false,
    );
    this.#askedAt = null;
    const now = performance.now();
    if (isAnswered) this.answers.push({ at, ms: now - at });
    while (this.answers[0]?.at < now - KEPT_MS) this.answers.shift();
  }
}
