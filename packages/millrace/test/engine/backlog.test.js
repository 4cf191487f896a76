// The backlog of a slow destination against a naive model.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { randomNumbers, seeds } from '../../../base/test/random.js';
import { Backlog } from '../../dist/ws/backlog.js';

const [HIGH, NORMAL, LOW] = [0, 1, 2];

/** A backlog with a clock and a deferral that are set. */
class Setting {
  time = 0;
  deferral = 10;
  seq = 0;
  backlog = new Backlog({ now: () => this.time, maxDeferral: () => this.deferral });

  /** A key's topic is its parity. */
  add(priority, length = 1, key = undefined) {
    const { time } = this;
    const data = new Uint8Array(length);
    const chunk = { priority, data, seq: ++this.seq, time, key, topic: key && key % 2 };
    this.superseded = this.backlog.add(chunk);
    return chunk;
  }
}

const seqs = (chunks) => chunks.map(({ seq }) => seq);

describe('Backlog', () => {
  test('lets a chunk age by one class for each deferral, merged by arrival', () => {
    const setting = new Setting();
    setting.add(LOW);
    setting.time = 8;
    setting.add(HIGH);
    setting.add(NORMAL);
    setting.time = 18;
    setting.add(HIGH);
    setting.add(NORMAL);
    // The LOW one counts as NORMAL, the first NORMAL one as HIGH.
    assert.deepEqual(seqs(setting.backlog.take(4)), [2, 3, 4, 1]);
    setting.add(LOW);
    setting.time = 38;
    setting.add(HIGH);
    assert.deepEqual(seqs(setting.backlog.take(10)), [5, 6, 7]);
  });

  test('never keeps NORMAL and LOW waiting for more than one and two deferrals under saturated HIGH', () => {
    const setting = new Setting();
    const [normal, low] = [setting.add(NORMAL), setting.add(LOW)];
    const left = new Map();
    for (; setting.time < 30; setting.time++) {
      for (let n = 0; n < 2; n++) setting.add(HIGH);
      for (const { seq } of setting.backlog.take(1)) left.set(seq, setting.time);
    }
    assert.equal(left.get(normal.seq), 10);
    assert.equal(left.get(low.seq), 20);
  });

  test('gives a chunk with a key the place and the age of the older one', () => {
    const setting = new Setting();
    setting.add(LOW, 1, 1);
    setting.add(NORMAL, 1, 2);
    setting.add(NORMAL);
    setting.time = 9;
    setting.add(LOW, 1, 1);
    setting.add(NORMAL, 1, 2);
    assert.equal(setting.backlog.bytes, 3);
    setting.time = 10;
    // The LOW one counts as NORMAL since the older one has waited for 10 ms, the NORMAL ones as HIGH.
    assert.deepEqual(seqs(setting.backlog.take(10)), [5, 3, 4]);
    setting.add(NORMAL, 1, 1);
    assert.equal(setting.superseded, false);
  });

  test('keeps the same key of two topics apart', () => {
    const backlog = new Backlog({ now: () => 0, maxDeferral: () => 1 });
    const chunk = (topic) => ({
      ...{ priority: NORMAL, data: [1], seq: 1, time: 0 },
      key: 'k',
      topic,
    });
    assert.equal(backlog.add(chunk('a')), false);
    assert.equal(backlog.add(chunk('b')), false);
    assert.equal(backlog.add(chunk('a')), true);
    assert.equal(backlog.bytes, 2);
  });

  test('agrees with a naive model on random adds, takes and drops', () => {
    for (const seed of seeds(200)) {
      const random = randomNumbers(seed);
      const setting = new Setting();
      let model = [];
      for (let step = 0; step < 150; step++) {
        setting.time += random(4);
        setting.deferral = [0, 3, 10, 40][random(4)];
        const kind = random(10);
        if (kind < 7) {
          const key = random(2) === 0 ? random(4) : undefined;
          const chunk = setting.add(random(3), 1 + random(5), key);
          const older = model.find((one) => key !== undefined && one.key === key);
          assert.equal(setting.superseded, older !== undefined, `seed ${seed}`);
          const place = older?.priority === chunk.priority ? older : chunk;
          model = model.filter((one) => one !== older);
          model.push({ ...chunk, chunk, seq: place.seq, time: place.time });
          model.sort((a, b) => a.seq - b.seq);
        } else if (kind < 9) {
          const bytes = random(20);
          const expected = [];
          const enough = () => expected.reduce((sum, { data }) => sum + data.length, 0) >= bytes;
          for (const chunk of inOrder(model, setting)) {
            if (expected.length > 0 && enough()) break;
            expected.push(chunk);
          }
          const chunks = expected.map(({ chunk }) => chunk);
          assert.deepEqual(setting.backlog.take(bytes), chunks, `seed ${seed}`);
          model = model.filter((chunk) => !expected.includes(chunk));
        } else {
          const priority = random(3);
          const oldest = model.find((chunk) => chunk.priority === priority) ?? null;
          const dropped = setting.backlog.dropOldest(priority);
          assert.equal(dropped, oldest?.chunk ?? null, `seed ${seed}`);
          model = model.filter((chunk) => chunk !== oldest);
        }
        const bytes = model.reduce((sum, { data }) => sum + data.length, 0);
        assert.equal(setting.backlog.bytes, bytes, `seed ${seed}`);
      }
    }
  });
});

function inOrder(chunks, { time: now, deferral }) {
  const deferrals = ({ time }) => [1, 2].filter((n) => time <= now - n * deferral).length;
  const counts = (chunk) => Math.max(0, chunk.priority - deferrals(chunk));
  return chunks.toSorted((a, b) => counts(a) - counts(b) || a.seq - b.seq);
}
