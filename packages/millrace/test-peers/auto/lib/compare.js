import { runFile, whole } from './run.js';

const tries = 3;
/** The arms that are compared with the plain one, each with its control. */
const controls = { auto: 'without', all: 'warm' };
export const arms = ['plain', ...Object.keys(controls)];

/**
 * Runs a file in all arms, and again as long as a test has ended otherwise than in the plain one. A test differs when no outcome is common to
 * all its tries in the two. This may be the doing of `--import`, which changes how Node.js loads and starts a program whatever it
 * imports, or of what makes the features act: a run of the control, without auto, tells.
 *
 * @typedef {{ passed: number, failed: number, skipped: number }} Counts
 *
 * @param {Omit<Parameters<typeof runFile>[0], 'arm'>} file
 * @returns {Promise<{ counts: Record<string, Counts>, failed: string[], flaky: string[],
 *   differs: string[], withoutAuto: string[], seen: Record<string, object[]>, outputs: Record<string, string> }>} `counts` by arm; `failed`:
 *   in all runs of the plain arm; `differs`: because of auto, with its arm and outcomes; `withoutAuto`: in the control as well; `seen` and
 *   `outputs` of the last runs
 */
export async function compare(file) {
  const known = new Map();
  const seen = {};
  const outputs = {};
  const run = async (arm) => {
    const result = await runFile({ ...file, arm });
    if (!known.has(arm)) known.set(arm, new Map());
    for (const [name, outcome] of result.outcomes) {
      if (!known.get(arm).has(name)) known.get(arm).set(name, new Set());
      known.get(arm).get(name).add(outcome);
    }
    seen[arm] = result.seen;
    outputs[arm] = result.output;
  };
  const outcomes = (arm, name) => [...(known.get(arm).get(name) ?? ['absent'])];
  const isAlike = (one, other, name) => {
    const those = outcomes(other, name);
    return outcomes(one, name).some((outcome) => those.includes(outcome));
  };
  const names = () => [...new Set(arms.flatMap((arm) => [...known.get(arm).keys()]))];
  const differing = (arm) => names().filter((name) => !isAlike('plain', arm, name));

  for (const arm of arms) await run(arm);
  const suspects = Object.fromEntries(Object.keys(controls).map((arm) => [arm, differing(arm)]));
  for (let each = 1; each < tries; each += 1) {
    const open = Object.keys(controls).filter((arm) => differing(arm).length > 0);
    for (const arm of open.length > 0 ? ['plain', ...open] : []) await run(arm);
  }
  const differs = [];
  const flaky = [];
  const withoutAuto = [];
  for (const [arm, control] of Object.entries(controls)) {
    const left = differing(arm);
    flaky.push(...suspects[arm].filter((name) => !left.includes(name)));
    if (left.length > 0) await run(control);
    for (const name of left) {
      const line = `${arm}: ${name}: ${outcomes('plain', name)} becomes ${outcomes(arm, name)}`;
      (isAlike(control, arm, name) ? withoutAuto : differs).push(line);
    }
  }
  return {
    counts: Object.fromEntries(arms.map((arm) => [arm, counted(known.get(arm))])),
    failed: names().filter((name) => outcomes('plain', name).join() === 'failed'),
    flaky: [...new Set(flaky)],
    differs,
    withoutAuto,
    seen,
    outputs,
  };
}

/** A test that has passed once has passed. */
function counted(tests) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const [name, outcomes] of tests) {
    const outcome = Object.keys(counts).find((each) => outcomes.has(each));
    if (name !== whole) counts[outcome] += 1;
  }
  return counts;
}
