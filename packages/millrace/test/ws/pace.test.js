// The pace of a reader: how much may be on its way, on a clock that the test moves.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Pace } from '../../dist/ws/pace.js';

const maxLag = 250;

/** A reader of so many bytes a ms behind a way of `wayMs` there and back, and a sender that always has more. */
class Way {
  now = 0;
  /** The worst time that a message waited on its way, since it was last set to 0. */
  worst = 0;
  /** Pings on their way, and when each will be answered. */
  #answerAt;
  #readUpTo = 0;
  bytes = 0;

  constructor(speed, wayMs) {
    this.speed = speed;
    this.wayMs = wayMs;
    this.pace = new Pace(maxLag, 0);
    this.#answerAt = wayMs;
  }

  #ping() {
    this.#answerAt = Math.max(this.now, this.#readUpTo) + this.wayMs;
  }

  /** Lets this time pass, a millisecond at a time. */
  run(ms, wanted = Number.POSITIVE_INFINITY) {
    for (const end = this.now + ms; this.now < end; this.now++) {
      if (this.now >= this.#answerAt) {
        this.#answerAt = Number.POSITIVE_INFINITY;
        if (this.pace.answered(this.now)) this.#ping();
      }
      const room = Math.min(wanted, this.pace.room(this.now));
      if (room === 0) continue;
      this.#readUpTo = Math.max(this.now, this.#readUpTo) + room / this.speed;
      this.worst = Math.max(this.worst, this.#readUpTo - this.now);
      this.bytes += room;
      if (this.pace.wrote(room, this.now)) this.#ping();
    }
  }
}

describe('Pace', () => {
  test('lets as much be on its way as a slow reader reads in about maxLag', () => {
    for (const speed of [2, 12, 100]) {
      for (const wayMs of [0, 20, 400]) {
        const way = new Way(speed, wayMs);
        way.run(20_000);
        way.worst = 0;
        way.bytes = 0;
        way.run(60_000);
        const what = `${speed} bytes a ms, ${wayMs} ms: ${way.worst} ms, ${way.bytes} bytes`;
        assert.ok(way.worst <= 3 * maxLag, what);
        assert.ok(way.bytes >= speed * 60_000 * 0.3, what);
      }
    }
  });

  test('does not slow down a reader that keeps up', () => {
    for (const wayMs of [1, 100, 400]) {
      const way = new Way(1e6, wayMs);
      way.run(10_000, 4000);
      way.bytes = 0;
      way.run(10_000, 4000);
      assert.equal(way.bytes, 4000 * 10_000, `${wayMs} ms`);
    }
  });

  test('follows a reader that becomes slow, and one that recovers', () => {
    const way = new Way(1000, 10);
    way.run(10_000, 500);
    way.speed = 5;
    way.run(60_000, 500);
    way.worst = 0;
    way.run(10_000, 500);
    assert.ok(way.worst <= 3 * maxLag, `${way.worst}`);
    way.speed = 1000;
    way.run(10_000, 500);
    way.bytes = 0;
    way.run(1000, 500);
    assert.equal(way.bytes, 500_000);
  });

  test('stops while a ping is not answered', () => {
    const pace = new Pace(maxLag, 0);
    pace.answered(10);
    assert.equal(pace.wrote(100, 1000), true);
    assert.ok(pace.room(1260) > 0);
    assert.equal(pace.room(1261), 0);
    assert.equal(pace.answered(5000), false);
    assert.ok(pace.room(5000) >= 256);
  });
});
