/**
 * A reporter for `node --test` that yields one JSON object: how many tests passed, failed and were
 * skipped, and the names of the skipped ones.
 */
export default async function* tally(source) {
  const counts = {};
  const skippedNames = [];
  for await (const { type, data } of source) {
    if (type === 'test:diagnostic' && data.nesting === 0) {
      // The run's own summary comes last, so it wins over what a test may have said alike.
      const [, name, count] = /^(pass|fail|cancelled|skipped|todo) (\d+)$/.exec(data.message) ?? [];
      if (name) counts[name] = Number(count);
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
  });
}
