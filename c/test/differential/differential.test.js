// Random operations on libuvbatch and on the reference model: both must cause the same outcomes and end each step in
// the same state. FUZZ_SECONDS lengthens it; a failure prints its seed and the fewest operations that still show it,
// as a vector, ready to be kept. UVBATCH_VECTORS names the program; the default is the one of the folder c/build.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { randomOperations } from '../../../packages/millrace/test/conformance/generate.js';
import { Model } from '../../../packages/millrace/test/conformance/model.js';
import {
  formatOutcome,
  sameOutcome,
  step,
} from '../../../packages/millrace/test/conformance/runner.js';
import { writeVector } from '../../../packages/millrace/test/conformance/write.js';

const program =
  process.env.UVBATCH_VECTORS ?? fileURLToPath(new URL('../../build/vectors', import.meta.url));
const operations = 60;
const fewLists = 300;
const listsAtOnce = 100;
const seconds = Number(process.env.FUZZ_SECONDS ?? 0);
// A fixed start in a normal run, so that it fails the same way for everybody; a new one when there is time to search.
const firstSeed = seconds > 0 ? Math.floor(Math.random() * 2 ** 31) : 0;

/**
 * What memory that belongs to the user makes different in C. A handler can end the retained event that it is just given
 * (by cancel, or by turning retention off), or remove the other handlers of its type: both are their owner's again at
 * once and may be gone, so that those handlers do not get this event any more, nor can its failure be told. A list ends
 * there for the comparison.
 */
class WatchedModel extends Model {
  running = [];
  differs = false;

  run(event) {
    this.running.push(event);
    const result = super.run(event);
    this.running.pop();
    return result;
  }

  cancel(operation) {
    const event = this.events.get(operation.id);
    if (this.running.includes(event) && event.type.retained.includes(event)) this.differs = true;
    super.cancel(operation);
  }

  expire(event) {
    if (this.running.includes(event)) this.differs = true;
    super.expire(event);
  }

  unhandle(operation) {
    if (this.running.some(({ type }) => type.name === operation.type)) this.differs = true;
    super.unhandle(operation);
  }
}

/** What the program makes of each list: its lines. Null when it ends in any other way than by itself. */
function traces(lists) {
  const input = lists.map((list) => writeVector('a list', list).trimEnd()).join('\n---\n');
  const result = spawnSync(program, ['--trace', '--stats', '-'], {
    ...{ input, encoding: 'utf8', maxBuffer: 2 ** 30 },
  });
  if (result.error) throw result.error;
  const parts = result.stdout.split('---\n');
  if (parts.pop() !== '' || parts.length !== lists.length) return null;
  // Status 1: a list that cannot be read, which is for the comparison to find.
  return result.status === 0 || result.status === 1
    ? parts.map((part) => part.split('\n').filter(Boolean))
    : null;
}

/** A line of a trace, in the reader's shapes. */
function parse(text) {
  const [line, outcome, ...words] = text.split(' ');
  const place = { line: Number(line), outcome };
  if (outcome === 'stats') {
    const pairs = words.map((word) => word.split('='));
    return { ...place, stats: Object.fromEntries(pairs.map(([key, value]) => [key, +value])) };
  }
  if (outcome === 'hold') return { ...place, ms: Number(words[0]) };
  if (outcome !== 'expect') return { ...place, id: words[0], code: words[1] };
  return { ...place, time: Number(words[0]), trigger: words[1], ids: words.slice(2) };
}

/** What the trace of a list has that the model has not, in words; null when they agree. */
function difference(list, trace) {
  const unread = trace.find((text) => /^(-:|\d+ fault )/.test(text));
  if (unread) return unread;
  const entries = trace.map(parse);
  const model = new WatchedModel();
  for (const [index, statement] of list.entries()) {
    const line = index + 2;
    const ofLine = entries.filter((entry) => entry.line === line);
    const state = ofLine.find((entry) => entry.stats)?.stats ?? {};
    const got = ofLine.filter((entry) => !entry.stats);
    const wanted = step(statement, model);
    if (model.differs) return null;
    for (let i = 0; i < Math.max(wanted.length, got.length); i++) {
      if (wanted[i] && got[i] && sameOutcome(wanted[i], got[i])) continue;
      const { line: _, ...actual } = got[i] ?? {};
      const said = formatOutcome(got[i] && actual);
      return `line ${line}: the model has '${formatOutcome(wanted[i])}', the library '${said}'`;
    }
    const stats = model.stats();
    for (const key of new Set([...Object.keys(stats), ...Object.keys(state)])) {
      const [a, b] = [stats[key] ?? 0, state[key] ?? 0];
      if (Math.abs(a - b) > 1e-6) {
        return `line ${line}: ${key} is ${a} in the model, ${b} in the library`;
      }
    }
  }
  return null;
}

function differenceOf(list) {
  const trace = traces([list])?.[0];
  return trace ? difference(list, trace) : 'the program crashed';
}

/** Whether the operations that are left name only events that are pushed. */
function isWhole(list) {
  const pushed = new Set();
  const named = new Set();
  const visit = ({ op, id, operation }) => {
    if (id) (op === 'push' ? pushed : named).add(id);
    if (operation) visit(operation);
  };
  list.forEach(visit);
  return [...named].every((id) => pushed.has(id));
}

/** The list without everything that can be left out. */
function fewest(list) {
  let left = list;
  let size = left.length >> 1;
  for (;;) {
    const before = left.length;
    for (let from = 0; from < left.length; ) {
      const without = left.toSpliced(from, size);
      if (isWhole(without) && without.length > 0 && differenceOf(without)) left = without;
      else from += size;
    }
    if (size > 1) size >>= 1;
    else if (left.length === before) return left;
  }
}

function report(seed, list) {
  const left = fewest(list);
  return `seed ${seed}: ${differenceOf(left)}\n${writeVector('found', left)}`;
}

test('libuvbatch agrees with the reference model on random operations', () => {
  const until = Date.now() + seconds * 1000;
  let seed = firstSeed;
  while (seed < firstSeed + fewLists || Date.now() < until) {
    const lists = Array.from({ length: listsAtOnce }, (_, i) =>
      randomOperations(seed + i, operations),
    );
    const all = traces(lists);
    for (const [index, list] of lists.entries()) {
      if (all ? difference(list, all[index]) : differenceOf(list)) {
        assert.fail(report(seed + index, list));
      }
    }
    assert.ok(all, 'the program crashed on many lists in one process, and on none of them alone');
    seed += listsAtOnce;
  }
});
