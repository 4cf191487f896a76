// Runs a vector on a machine: an object with `configure(options)`, `apply(operation)`, `log`, `stats()`, `estimate(type)`.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readVector } from './reader.js';

export const vectorsFolder = fileURLToPath(
  new URL('../../../../conformance/vectors', import.meta.url),
);

/** All vectors of the project, read, in order of their names. */
export function allVectors() {
  return readdirSync(vectorsFolder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort()
    .map((file) => readVector(readFileSync(file, 'utf8'), relative(vectorsFolder, file)));
}

/** Runs a vector: null, or the first mismatch as { line, expected, actual } in words. */
export function runVector(vector, machine) {
  let actual = [];
  let line = 1;
  for (const statement of [...vector.statements, { kind: 'end' }]) {
    if (statement.kind === 'outcome') {
      const next = actual.shift();
      line = statement.line;
      if (!sameOutcome(statement, next)) return mismatch(line, statement, next);
    } else if (statement.kind === 'query') {
      const { query, type, values } = statement;
      const state = query === 'stats' ? machine.stats() : machine.estimate(type);
      for (const [key, value] of Object.entries(values)) {
        if (close(value, state[key] ?? 0)) continue;
        return {
          line: statement.line,
          expected: `${key}=${value}`,
          actual: `${key}=${state[key] ?? 0}`,
        };
      }
    } else {
      if (actual.length > 0) return mismatch(line, undefined, actual[0]);
      if (statement.kind === 'end') return null;
      actual = step(statement, machine);
      line = statement.line;
    }
  }
}

/** Does one `config` or operation; returns the outcomes it caused. */
export function step(statement, machine) {
  if (statement.kind === 'config') machine.configure(statement.options);
  else machine.apply(statement);
  return machine.log.splice(0);
}

function mismatch(line, expected, actual) {
  return { line, expected: formatOutcome(expected), actual: formatOutcome(actual) };
}

const close = (a, b) => Math.abs(a - b) <= Math.max(0.001, Math.abs(a) / 1000);

/** Whether two outcomes say the same, times within the tolerance of the vectors. */
export function sameOutcome(a, b) {
  if (!a || !b || a.outcome !== b.outcome) return a === b;
  if (a.outcome === 'hold') return close(a.ms, b.ms);
  if (a.outcome !== 'expect') return a.id === b.id && a.code === b.code;
  return close(a.time, b.time) && a.trigger === b.trigger && a.ids.join(' ') === b.ids.join(' ');
}

/** The line of a vector for an outcome; 'nothing' for none. */
export function formatOutcome(outcome) {
  if (!outcome) return 'nothing';
  const { outcome: word, time, trigger, ids = [], ms, id, code } = outcome;
  const words = [word, time, trigger, ...ids, ms, id, code];
  return words.filter((one) => one !== undefined).join(' ');
}
