// The guard in shadow: what it says that a guard would have done, beside what a guard does with the same load. On a loop of its own time.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Guard } from '@millrace/guard';
import { shadowTotals } from '@millrace/guard/requests';
import { performance } from '../../../base/test/clocks.js';
import { randomNumbers } from '../../../base/test/random.js';
import { BareTicket, classes } from './tickets.js';

const { nodeTiming } = performance;
const maxWait = 250;
/** As the guard allows beyond the limit. */
const mostMs = 1.25 * maxWait;
const startMs = 1000;

/** A loop whose time passes by work and by pauses alone, until the test is over. */
class Loop {
  nowMs = startMs;
  idleMs = 0;
  turns = 0;

  constructor(t) {
    this.#replace(t, performance, 'now', { value: () => this.nowMs });
    const active = () => ({ active: this.nowMs - this.idleMs });
    this.#replace(t, performance, 'eventLoopUtilization', { value: active });
    this.#replace(t, nodeTiming, 'idleTime', { get: () => this.idleMs });
    this.#replace(t, nodeTiming, 'uvMetricsInfo', { get: () => ({ loopCount: this.turns }) });
  }

  #replace(t, object, name, to) {
    const before = Object.getOwnPropertyDescriptor(object, name);
    Object.defineProperty(object, name, { configurable: true, ...to });
    t.after(() => Object.defineProperty(object, name, before));
  }

  work(ms) {
    this.nowMs += ms;
  }

  pause(ms) {
    this.nowMs += ms;
    this.idleMs += ms;
  }
}

/** One request: its kind, its cost, and when its client has sent it. */
class LoadTicket extends BareTicket {
  endedMs = null;
  refused = false;

  constructor(guard, loop, request, onEnd) {
    const { path, cls, tenant } = request;
    const req = { method: 'GET', url: path, headers: { tenant } };
    super(guard.routeOf(req), cls, path);
    Object.assign(this, { req, loop, request, onEnd });
  }

  run() {
    this.loop.work(this.request.costMs);
    this.endedMs = this.loop.nowMs;
    this.onEnd(this.endedMs);
  }

  shed() {
    this.refused = true;
    this.onEnd(this.loop.nowMs);
  }

  finished() {
    return this.endedMs !== null;
  }

  watch() {}

  get isGood() {
    const { at, costMs } = this.request;
    return this.endedMs !== null && this.endedMs - at - costMs <= mostMs;
  }
}

/** Random numbers between 0 and 1. */
function shares(seed) {
  const random = randomNumbers(seed);
  return () => (random(1e6) + 0.5) / 1e6;
}

const normal = { path: '/', cls: classes.normal, tenant: 'a', costMs: 10 };

/** Requests that come at random times whatever becomes of them; `load(ms)`: so many times what the loop can do. */
function open({ seed, load, seconds, kinds = [normal] }) {
  const share = shares(seed);
  const mean = kinds.reduce((sum, { costMs }) => sum + costMs, 0) / kinds.length;
  const requests = [];
  for (let at = startMs; at < startMs + seconds * 1000; ) {
    at += (-Math.log(share()) * mean) / load(at - startMs);
    const kind = kinds[Math.floor(share() * kinds.length)];
    requests.push({ ...kind, at, costMs: kind.costMs * (0.5 + share()) });
  }
  return { requests, after: () => null };
}

/** Clients that send a request, wait for its response, and send the next one; after a refusal a little later. */
function closed({ seed, clients, seconds }) {
  const share = shares(seed);
  const request = (at) => ({ ...normal, at, costMs: normal.costMs * (0.5 + share()) });
  const requests = Array.from({ length: clients }, () => request(startMs + share() * 100));
  const after = ({ refused }, nowMs) => {
    const at = nowMs + (refused ? 100 : 1) * (0.5 + share());
    return at < startMs + seconds * 1000 ? request(at) : null;
  };
  return { requests: requests.sort((a, b) => a.at - b.at), after };
}

/** Has a guard handle a load; the tickets and the statistics of the guard. */
async function play(t, { requests: given, after }, options) {
  const loop = new Loop(t);
  const guard = new Guard({ rejectDelay: 0, maxWait, ...options });
  const requests = [...given];
  const tickets = [];
  let open = 0;
  const send = (request) => {
    const later = requests.findLastIndex(({ at }) => at <= request.at);
    requests.splice(later + 1, 0, request);
  };
  while (requests.length > 0 || open > 0) {
    loop.turns++;
    // Events that are there when the loop polls.
    const { nowMs } = loop;
    while (requests.length > 0 && requests[0].at <= nowMs) {
      const ticket = new LoadTicket(guard, loop, requests.shift(), (endedMs) => {
        open--;
        const next = after(ticket, endedMs);
        if (next !== null) send(next);
      });
      tickets.push(ticket);
      open++;
      guard.admit(ticket);
    }
    // The check phase, in which slices run.
    await new Promise((resolve) => setImmediate(resolve));
    if (open === 0 && requests[0]?.at > loop.nowMs) loop.pause(requests[0].at - loop.nowMs);
  }
  loop.pause(10 * maxWait);
  const stats = guard.stats();
  guard.close();
  return { tickets, stats };
}

const sum = (counts) => Object.values(counts).reduce((a, b) => a + b);
const count = (tickets, fits) => tickets.filter(fits).length;
const isGood = (ticket) => ticket.isGood;

function near(said, is, most, what) {
  assert.ok(Math.abs(said - is) <= most, `${what}: said ${said}, is ${is}, at most ${most} off`);
}

describe('a guard in shadow', () => {
  for (const [name, load] of [
    ['twice what the loop can do', () => open({ seed: 7, load: () => 2, seconds: 10 })],
    ['a little more than it can do', () => open({ seed: 8, load: () => 1.1, seconds: 10 })],
    ['long bursts', () => open({ seed: 9, load: (ms) => (ms < 6000 ? 1.5 : 0.3), seconds: 10 })],
    [
      'clients that wait for their responses',
      () => closed({ seed: 10, clients: 100, seconds: 10 }),
    ],
  ]) {
    test(`says how many responses a guard saves: ${name}`, async (t) => {
      const shadow = await play(t, load(), { observe: true });
      const acting = await play(t, load(), {});
      const { wouldSave, wouldLose, late, shed } = shadow.stats.classes.normal;
      const all = shadow.tickets.length;
      const [plain, guarded] = [shadow, acting].map(({ tickets }) => count(tickets, isGood));
      assert.equal(sum(shed), 0);
      assert.ok(guarded > plain + 0.1 * all, 'the guard saves responses');
      near(wouldSave - wouldLose, guarded - plain, 0.1 * all, 'saved');
      near(late, all - plain, 0.05 * all, 'late');
    });
  }

  test('says nothing of the kind where the loop keeps up', async (t) => {
    const load = open({ seed: 11, load: () => 0.6, seconds: 10 });
    const before = shadowTotals();
    const { stats, tickets } = await play(t, load, { observe: true });
    const { late, wouldSave, wouldLose, wouldShed } = stats.classes.normal;
    assert.deepEqual([late, wouldSave, wouldLose, sum(wouldShed)], [0, 0, 0, 0]);
    const { requests, ...others } = shadowTotals();
    assert.equal(requests - before.requests, tickets.length);
    assert.deepEqual({ requests: before.requests, ...others }, before);
  });

  test('says it by class: what matters is saved at the cost of what does not', async (t) => {
    const kinds = [
      { ...normal, path: '/high', cls: classes.high },
      { ...normal, path: '/low', cls: classes.low },
    ];
    const load = () => open({ seed: 12, load: () => 1.8, seconds: 10, kinds });
    const shadow = await play(t, load(), { observe: true });
    const acting = await play(t, load(), {});
    for (const name of ['high', 'low']) {
      const { wouldSave, wouldLose } = shadow.stats.classes[name];
      const ofClass = (each) => each.cls === classes[name] && each.isGood;
      const is = count(acting.tickets, ofClass) - count(shadow.tickets, ofClass);
      near(wouldSave - wouldLose, is, 0.1 * shadow.tickets.length, name);
    }
    const { high, low } = shadow.stats.classes;
    assert.ok(high.wouldSave > 3 * low.wouldSave, `${high.wouldSave}, ${low.wouldSave}`);
  });

  test('names the totals of all guards of the thread', async (t) => {
    const before = shadowTotals();
    const load = open({ seed: 13, load: () => 2, seconds: 4 });
    const { stats } = await play(t, load, { observe: true });
    const { late, wouldSave, wouldLose, wouldShed } = stats.classes.normal;
    const since = Object.entries(shadowTotals()).map(([name, n]) => [name, n - before[name]]);
    assert.deepEqual(Object.fromEntries(since), {
      ...{ requests: load.requests.length, refused: sum(wouldShed) },
      ...{ late, saved: wouldSave, lost: wouldLose },
    });
  });
});

/** A request of an async handler, which ends later. */
class LaterTicket extends LoadTicket {
  hasEnded = false;
  run() {}
  finished() {
    return this.hasEnded;
  }
  end() {
    this.hasEnded = true;
    this.closed();
  }
}

describe('a late response of an async handler', () => {
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  /** Admits requests, has `until` pass, and ends them; what is counted as late. */
  async function lateAfter(t, until) {
    const loop = new Loop(t);
    const guard = new Guard({ observe: true, maxWait });
    const admit = async () => {
      loop.turns++;
      const ticket = new LaterTicket(guard, loop, normal, () => {});
      guard.admit(ticket);
      await turn();
      return ticket;
    };
    // Alone it takes 20 ms.
    const first = await admit();
    loop.pause(20);
    first.end();
    loop.pause(1000);
    const second = await admit();
    until(loop);
    second.end();
    loop.pause(1000);
    const { late, wouldSave } = guard.stats().classes.normal;
    guard.close();
    return [late, wouldSave];
  }

  test('is late when the loop was busy all the time', async (t) => {
    assert.deepEqual(await lateAfter(t, (loop) => loop.work(20 + mostMs + 1)), [1, 1]);
  });

  test('is not late for its own time', async (t) => {
    assert.deepEqual(await lateAfter(t, (loop) => loop.work(20 + mostMs)), [0, 0]);
  });

  test('is not late when it waited for something else while the loop had a pause', async (t) => {
    const waited = await lateAfter(t, (loop) => {
      loop.work(100);
      loop.pause(5000);
      loop.work(100);
    });
    assert.deepEqual(waited, [0, 0]);
  });
});

describe('cohorts', () => {
  const cohort = (req) => req.headers.tenant;
  const flood = Array.from({ length: 9 }, () => ({ ...normal, tenant: 'flood' }));
  const kinds = [...flood, { ...normal, tenant: 'other' }];
  const load = () => open({ seed: 14, load: () => 4, seconds: 5, kinds });
  const of = (tickets, tenant) => tickets.filter(({ request }) => request.tenant === tenant);

  test('the one that floods the server is refused, the others are not', async (t) => {
    const { tickets, stats } = await play(t, load(), { cohort });
    const other = of(tickets, 'other');
    assert.equal(count(other, isGood), other.length);
    const [first, second] = stats.cohorts;
    assert.deepEqual([first.cohort, second.cohort], ['flood', 'other']);
    assert.equal(second.count, other.length);
    assert.equal(second.shed, 0);
    assert.equal(
      first.shed,
      count(tickets, ({ refused }) => refused),
    );
    assert.ok(first.busyMs > second.busyMs);
    assert.equal(first.count + first.shed, of(tickets, 'flood').length);
  });

  test('without the option both are refused alike', async (t) => {
    const { tickets, stats } = await play(t, load(), {});
    assert.ok(count(of(tickets, 'other'), ({ refused }) => refused) > 0);
    assert.deepEqual(stats.cohorts, []);
  });

  test('in shadow, each has the requests that would have been refused', async (t) => {
    const { stats } = await play(t, load(), { cohort, observe: true });
    const [first, second] = stats.cohorts;
    assert.equal(first.cohort, 'flood');
    assert.equal(second.wouldShed, 0);
    assert.equal(first.wouldShed, sum(stats.classes.normal.wouldShed));
  });

  test('in a full queue a request of the flood gives way', async (t) => {
    const { tickets } = await play(t, load(), { cohort, maxWait: 600_000, maxQueue: 10 });
    const refused = (tenant) => {
      const all = of(tickets, tenant);
      return count(all, (ticket) => ticket.refused) / all.length;
    };
    assert.ok(refused('other') < 0.1, `${refused('other')}`);
    assert.ok(refused('flood') > 0.7, `${refused('flood')}`);
  });

  test('a result that is no name is an error that says so', () => {
    const guard = new Guard({ cohort: () => 7 });
    const ticket = new BareTicket(guard.routeOf({ method: 'GET', url: '/' }), classes.normal, '');
    assert.throws(() => guard.admit(ticket), {
      code: 'MILLRACE_E_BAD_RESULT',
      message: /'cohort' returned 7; it must return a name, or undefined/,
    });
  });
});
