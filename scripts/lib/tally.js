/**
 * A reporter for `node --test` that yields one JSON object: how many tests passed, failed and were
 * skipped, the names of the failed and the skipped ones, and what tests said with `t.diagnostic`.
 */
import { relative } from 'node:path';
import { root } from './paths.js';

export default async function* tally(source) {
  const counts = {};
  const skippedNames = [];
  const failedNames = [];
  const said = [];
  for await (const { type, data } of source) {
    if (type === 'test:diagnostic') {
      // The run's own summary belongs to no file.
      const [, name, count] = /^([a-z]+) (\d+)$/.exec(data.message) ?? [];
      if (data.file !== undefined) said.push(data.message);
      else if (name) counts[name] = Number(count);
    }
    if (type === 'test:pass' && data.skip !== undefined) {
      skippedNames.push(typeof data.skip === 'string' ? `${data.name}: ${data.skip}` : data.name);
    }
    if (type === 'test:fail' && !data.todo && !isGroup(data)) failedNames.push(located(data));
  }
  const { pass = 0, fail = 0, cancelled = 0, skipped = 0, todo = 0 } = counts;
  yield JSON.stringify({
    passed: pass,
    failed: fail + cancelled,
    skipped: skipped + todo,
    skippedNames,
    failedNames,
    said,
  });
}

/** A describe, a file or a test around others that failed only because one of them did. */
function isGroup({ details }) {
  return details?.error?.failureType === 'subtestsFailed';
}

function located({ name, file, line }) {
  if (file === undefined) return name;
  const path = relative(root, file);
  return name === file ? path : `${path}:${line}: ${name}`;
}
