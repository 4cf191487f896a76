/**
 * A reporter for `node --test` that yields one JSON object: how many tests passed, failed and were
 * skipped, the names of the skipped ones, and what tests said with `t.diagnostic`.
 */
export default async function* tally(source) {
  const counts = {};
  const skippedNames = [];
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
  }
  const { pass = 0, fail = 0, cancelled = 0, skipped = 0, todo = 0 } = counts;
  yield JSON.stringify({
    passed: pass,
    failed: fail + cancelled,
    skipped: skipped + todo,
    skippedNames,
    said,
  });
}
