/** The report as a text on stderr. */
import { isatty } from 'node:tty';
import { isColoured } from '@millrace/base/text';
import { formatReport } from './format.js';
import { say } from './output.js';
import type { Report } from './report.js';

/** Properties of stderr, read at the start: an application may change or delete their sources before its end. */
interface Terminal {
  readonly isTerminal: boolean;
  readonly colour: boolean;
}

export function terminal(): Terminal {
  return { isTerminal: isatty(2), colour: isColoured(2) };
}

/** @returns whether all of it was written */
export function tell(report: Report, { isTerminal, colour }: Terminal): boolean {
  // Not earlier: the stream is made when somebody asks for it.
  const width = isTerminal ? process.stderr.columns : undefined;
  return say(`\n${formatReport(report, width === undefined ? { colour } : { colour, width })}`);
}
