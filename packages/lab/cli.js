/**
 * The commands of the lab, for the program `millrace`; each is given its arguments, and what it was called by if not that, and ends the
 * process.
 *
 * @type {Record<string, { summary: string, run: (argv: string[], command?: string) => Promise<unknown> }>}
 */
export const commands = {
  compare: {
    summary: 'measure two commands against each other',
    run: async (...called) => (await import('./compare/command.js')).compareCommand(...called),
  },
  tune: {
    summary: 'try switches on a server',
    run: async (...called) => (await import('./tune/command.js')).tuneCommand(...called),
  },
  experiment: {
    summary: 'run an experiment that is kept in a file',
    run: async (...called) =>
      (await import('./experiment/command.js')).experimentCommand(...called),
  },
  report: {
    summary: 'make a page or a text of kept results',
    run: async (...called) => (await import('./report/command.js')).reportCommand(...called),
  },
};
