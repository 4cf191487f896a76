/** The times in which a fault may break connections: then that is not a failure of the service. */
export class Disturbances {
  #times = [];

  /** @returns {() => void} ends it */
  begin(at = performance.now()) {
    const time = { from: at, to: Infinity };
    this.#times.push(time);
    return (until = performance.now()) => {
      time.to = until;
    };
  }

  /** Whether there was one between two moments. */
  between(from, to = performance.now()) {
    return this.#times.some((time) => time.from <= to && time.to >= from);
  }
}
