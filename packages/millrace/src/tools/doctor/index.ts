/**
 * The command `doctor`: makes all checks in the order of the report, one after the other, and prints what they find. It changes nothing.
 * A check that fails is a finding itself.
 */
import { type Options, optionLines, print, readOptions, UsageError } from '@millrace/base/command';
import { lab, openTelemetry, promClient, settings, ws } from './application.js';
import { type Check, type Finding, format, type Place, warning } from './report.js';
import { addon, ioUring, libuv, millraceVersion, nodeOptions, nodeVersion } from './runtime.js';
import { backlog, cgroup, cpus, memory, openFiles, perf, threadPool } from './system.js';

const OPTIONS: Options = {
  json: { meaning: 'the findings as JSON on stdout' },
  strict: { meaning: 'exits with code 1 if there is a warning' },
};

const USAGE = `Usage: millrace doctor [options]

Tells what works on this machine, what does not, why, and how to fix it. Run it
in the folder of your application. It changes nothing.

  millrace doctor
  millrace doctor --strict        for CI
  millrace doctor --json

${optionLines(OPTIONS)}

ok: works. note: good to know, or something optional is missing.
warning: costs something, or will.
Exit codes: 0 done, 1 a warning and --strict, 2 wrong command line.`;

/** libuv comes before the addon is loaded. */
const CHECKS: Readonly<Record<string, Check>> = {
  'Node.js': (place) => nodeVersion(place),
  millrace: millraceVersion,
  libuv,
  addon,
  io_uring: ioUring,
  CPUs: (place) => cpus(place),
  memory: (place) => memory(place),
  cgroup,
  'open files': openFiles,
  'thread pool': threadPool,
  backlog,
  NODE_OPTIONS: nodeOptions,
  settings,
  ws,
  'prom-client': promClient,
  '@opentelemetry/api': openTelemetry,
  '@millrace/lab': lab,
  perf,
};

/** `millrace doctor`: what works here and why not. */
export async function doctor(argv: readonly string[]): Promise<void> {
  const { values, rest } = readOptions(argv, OPTIONS);
  if (rest.length > 0) throw new UsageError(`doctor takes options only, not ${rest[0]}.`);
  if (values.help) return print(USAGE);
  const { env, platform, arch, version } = process;
  const findings = await examine({ root: '/', cwd: process.cwd(), env, platform });
  print(
    values.json
      ? JSON.stringify({ node: version, platform, arch, findings }, null, 2)
      : format(findings),
  );
  const hasWarning = findings.some(({ state }) => state === 'warning');
  process.exitCode = values.strict && hasWarning ? 1 : 0;
}

export async function examine(place: Place): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [name, check] of Object.entries(CHECKS)) {
    try {
      findings.push({ name, ...(await check(place)) });
    } catch (error) {
      const found = `could not be looked at: ${(error as Error).message}`;
      findings.push({ name, ...warning(found, null, null) });
    }
  }
  return findings;
}
