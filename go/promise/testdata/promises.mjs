// Runs the programs of promise_node_test.go, which are the JSON on standard input, and prints what each has noted.
import { readFileSync } from 'node:fs';

let lines;
const note = (line) => lines.push(line);
process.on('unhandledRejection', (reason) => note(`unhandled ${reason}`));

/** Runs the steps of a program, or of a handler; its promises are those of the whole program. */
function perform(steps, made) {
  for (const step of steps ?? []) perform1(step, made);
}

function perform1({ op, id, of, on = [], text, steps, body, inner }, made) {
  const p = made[of]?.promise;
  const handler = (kind) => (value) => {
    note(`${kind} ${id} ${value}`);
    perform(body.steps, made);
    if (body.throws) throw `${id}!`;
    if (inner !== undefined) return made[inner]?.promise ?? Promise.resolve(`${id}`);
    return `${id}`;
  };
  const keep = (promise) => {
    made[id] = { promise };
  };
  const all = on.filter((i) => made[i]).map((i) => made[i].promise);
  switch (op) {
    case 'note':
      return note(text);
    case 'new': {
      let resolve, reject;
      const promise = new Promise((a, b) => ([resolve, reject] = [a, b]));
      made[id] = { promise, resolve, reject };
      return;
    }
    case 'resolved':
      return keep(Promise.resolve(text));
    case 'rejected':
      return keep(Promise.reject(text));
    case 'resolve':
      return made[of]?.resolve?.(text);
    case 'reject':
      return made[of]?.reject?.(text);
    case 'tick':
      return process.nextTick(() => perform(steps, made));
    case 'microtask':
      return queueMicrotask(() => perform(steps, made));
    case 'immediate':
      return void setImmediate(() => perform(steps, made));
    case 'all':
      return keep(Promise.all(all).then((values) => values.join()));
    case 'allSettled': {
      const show = ({ value, reason }) => `${value ?? ''}:${reason ?? ''}`;
      return keep(Promise.allSettled(all).then((outcomes) => outcomes.map(show).join()));
    }
    case 'race':
      return keep(Promise.race(all));
    case 'any':
      return keep(
        Promise.any(all).catch((error) => {
          throw error.errors.join();
        }),
      );
  }
  if (!p) return;
  switch (op) {
    case 'then':
    case 'chain':
      return keep(p.then(handler(op)));
    case 'catch':
      return keep(p.catch(handler(op)));
    case 'finally':
      return keep(
        p.finally(() => {
          note(`finally ${id}`);
          perform(body.steps, made);
          if (body.throws) throw `${id}!`;
        }),
      );
  }
  throw new Error(`unknown step ${op}`);
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const results = [];
for (const steps of JSON.parse(readFileSync(0, 'utf8'))) {
  lines = [];
  setImmediate(() => perform(steps, []));
  // Immediates are nested less deeply than that.
  for (let i = 0; i < 8; i++) await turn();
  results.push(lines);
}
process.stdout.write(JSON.stringify(results));
