const SHOWN_LINES = 10;

/**
 * Reads what `go test -json` says, an event a line (`go doc test2json`). A test that never ended has failed. A package that
 * failed though none of its tests did counts as one more: it was not built, or a goroutine was left behind.
 *
 * @returns {{ counts: Parameters<typeof import('./counts.js').counted>[0], read: (line: string) => string }} the counts
 *   so far; and `read`, which returns what is for the log: what builds, packages and failed tests have printed
 */
export function goEvents() {
  const counts = { passed: 0, failed: 0, skippedNames: [], failedNames: [], said: [] };
  /** What has been printed by the tests and packages that have not ended. */
  const outputs = new Map();
  /** Packages with a test that failed. */
  const blamed = new Set();

  const take = (name) => {
    const output = outputs.get(name) ?? '';
    outputs.delete(name);
    return output;
  };
  const fail = (name) => {
    const output = take(name);
    counts.failed++;
    counts.failedNames.push(name);
    counts.said.push(`failed: ${name}`, ...telling(output).slice(0, SHOWN_LINES));
    return output;
  };

  const ends = {
    pass({ Test }, name) {
      const output = take(name);
      if (!Test) return output;
      counts.passed++;
    },
    skip({ Test }, name) {
      const output = take(name);
      // A package is skipped if it has no tests.
      if (!Test) return output;
      counts.skippedNames.push([name, ...telling(output).slice(-1)].join(': '));
    },
    fail({ Package, Test }, name) {
      if (Test) {
        blamed.add(Package);
        return fail(name);
      }
      const cutShort = [...outputs.keys()].filter((each) => each.startsWith(`${Package}: `));
      const alone = cutShort.length === 0 && !blamed.has(Package);
      return [...cutShort.map(fail), alone ? fail(name) : take(name)].join('');
    },
  };

  function read(line) {
    if (!line.startsWith('{')) return `${line}\n`;
    const event = JSON.parse(line);
    const { Action, Package, Test, Output = '' } = event;
    if (Action === 'build-output') return Output;
    const name = Test ? `${Package}: ${Test}` : Package;
    if (Action === 'output') outputs.set(name, `${outputs.get(name) ?? ''}${Output}`);
    return ends[Action]?.(event, name) ?? '';
  }
  return { counts, read };
}

/** The lines of an output that say more than that a test began or ended. */
function telling(output) {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  return lines.filter((line) => !/^\s*(=== |--- )/.test(line)).map((line) => line.trimEnd());
}
