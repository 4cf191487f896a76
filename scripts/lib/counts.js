/** Counts tests by the reports that their programs leave: JSON of our own, or JUnit's XML from `ctest` and `gotestsum`. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { projectCache } from './paths.js';

const SHOWN_LINES = 10;
const NAMED = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };
let runs = 0;

/**
 * Runs tests and counts them. Rejects if the run fails though none of its tests has failed.
 *
 * @param {(report: string) => Promise<void>} run writes its report into that file
 * @param {(report: string) => import('./steps.js').Counts} [read] default: the report is the counts as JSON
 * @returns {Promise<import('./steps.js').Counts>}
 */
export async function counted(run, read = JSON.parse) {
  const report = join(projectCache, `report-${process.pid}-${runs++}`);
  const failure = await run(report).then(
    () => undefined,
    (error) => error,
  );
  try {
    const counts = read(readFileSync(report, 'utf8'));
    if (failure && counts.failed === 0) throw failure;
    return counts;
  } catch (error) {
    throw failure ?? error;
  } finally {
    rmSync(report, { force: true });
  }
}

/** The counts that a report in JUnit's form has. */
export function junit(report) {
  const counts = { passed: 0, failed: 0, skipped: 0, failedNames: [], skippedNames: [], said: [] };
  const element = /<testsuite ([^>]*)>|<testcase ([^>]*?)(?:\/>|>(.*?)<\/testcase>)/gs;
  let group = '';
  for (const [, suite, attributes, inner = ''] of report.matchAll(element)) {
    if (suite !== undefined) {
      group = attribute(suite, 'name');
      continue;
    }
    const name = nameOf(attributes, group);
    const [, skipped] = /<skipped message="([^"]*)"/.exec(inner) ?? [];
    const lines = linesOf(inner, skipped);
    // ctest also skips a test that it cannot start.
    const isFailed = skipped?.startsWith('SKIP_') === false && attributes.includes('status=');
    if (isFailed || inner.includes('<failure')) {
      counts.failed++;
      counts.failedNames.push(name);
      counts.said.push(`failed: ${name}`, ...lines.slice(0, SHOWN_LINES));
    } else if (skipped !== undefined) {
      counts.skipped++;
      counts.skippedNames.push([name, ...lines.slice(-1)].join(': '));
    } else counts.passed++;
  }
  return counts;
}

/** The class of a test in Go is its package, which only the suite has if the package does not compile; in C it is the name once more. */
function nameOf(attributes, suite) {
  const name = attribute(attributes, 'name');
  const group = attribute(attributes, 'classname') || suite;
  return group === name ? name : `${group}: ${name}`;
}

const attribute = (attributes, name) =>
  decoded(new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? '');

/** The lines that a test printed, without the lines that only say that a test in Go began or ended. */
function linesOf(inner, message = '') {
  const output = /<(system-out|failure)\b[^>]*>(.+?)<\/\1>/s.exec(inner)?.[2] ?? message;
  const lines = decoded(output).split('\n');
  return lines.map((line) => line.trimEnd()).filter((line) => !/^$|^\s*(=== |--- )/.test(line));
}

const decoded = (text) =>
  text.replace(/&(?:#(x?)([0-9a-f]+)|(\w+));/gi, (_, hex, code, name) =>
    name ? NAMED[name] : String.fromCodePoint(Number.parseInt(code, hex ? 16 : 10)),
  );
