import { lab } from './lab.js';

/** One command of `millrace`. */
export interface Command {
  /** A line for the list of commands. */
  summary: string;
  /** Does it; sets the exit code itself. */
  run(argv: string[]): Promise<void>;
}

/** By name, in the order in which they are listed. */
export const commands: Record<string, Command> = {
  experiment: lab('experiment', 'measure two ways to run a server against each other'),
  report: lab('report', 'make a page or a text of kept results'),
};
