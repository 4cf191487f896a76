/** The command `doctor`. */

import { type Options, optionLines, print, readOptions, UsageError } from '@millrace/base/command';
import { examine } from './examine.js';
import { format } from './format.js';

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

/** `millrace doctor`: what works here and why not. */
export async function doctor(argv: readonly string[]): Promise<void> {
  const { values, rest } = readOptions(argv, OPTIONS);
  if (rest.length > 0) throw new UsageError(`doctor takes options only, not ${rest[0]}.`);
  if (values.help) {
    print(USAGE);
    return;
  }
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
