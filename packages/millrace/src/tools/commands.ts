import { lab } from './lab.js';

/** One command of `millrace`. */
interface Command {
  /** A line for the list of commands. */
  summary: string;
  /** Runs it; sets the exit code itself. What it needs is loaded then. */
  run(argv: string[]): Promise<void>;
}

/** By name, in the order in which they are listed. */
export const commands: Record<string, Command> = {
  run: {
    summary: 'start an application with millrace/auto and a dashboard',
    run: async (argv) => (await import('./run.js')).run(argv),
  },
  observe: {
    summary: 'start it unchanged, and report what Millrace would gain',
    run: async (argv) => (await import('./observe.js')).observe(argv),
  },
  doctor: {
    summary: 'tell what works on this machine, what does not, and how to fix it',
    run: async (argv) => (await import('./doctor/index.js')).doctor(argv),
  },
  experiment: lab('experiment', 'compare two ways to run a server'),
  report: lab('report', 'write saved results as a page or text'),
};
