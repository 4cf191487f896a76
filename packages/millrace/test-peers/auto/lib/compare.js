import { runFile } from './run.js';

const tries = 3;

/**
 * Runs a file without auto and with it, and again as long as tests that passed without it have failed with it. What goes wrong in all
 * tries may be the doing of `--import`, which changes how Node.js loads and starts a program whatever it imports: a run with an empty
 * module tells.
 *
 * @param {{ folder: string, file: string }} file
 * @returns {Promise<{ passed: number, failed: string[], worse: string[], flaky: string[], withAnyImport: string[], seen: object[], output: string }>}
 *   `failed`: in all runs without auto; `worse`: passed without auto, and with it in no try; `seen` and `output` are of the last run
 *   with auto
 */
export async function compare(file) {
  const passed = { without: new Set(), auto: new Set(), empty: new Set() };
  const all = new Set();
  const run = async (arm) => {
    const result = await runFile({ ...file, arm });
    for (const name of result.passed) passed[arm].add(name);
    for (const name of [...result.passed, ...result.failed]) all.add(name);
    return result;
  };
  const missing = (arm) => [...passed.without].filter((name) => !passed[arm].has(name));
  const flaky = new Set();
  let last;
  for (let each = 0; each < tries && (each === 0 || missing('auto').length > 0); each += 1) {
    for (const name of missing('auto')) flaky.add(name);
    await run('without');
    last = await run('auto');
  }
  const worse = missing('auto');
  if (worse.length > 0) await run('empty');
  const withAnyImport = worse.filter((name) => !passed.empty.has(name));
  return {
    passed: passed.auto.size,
    failed: [...all].filter((name) => !passed.without.has(name)),
    worse: worse.filter((name) => passed.empty.has(name)),
    flaky: [...flaky].filter((name) => passed.auto.has(name)),
    withAnyImport,
    seen: last.seen,
    output: last.output,
  };
}
