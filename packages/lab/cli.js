/**
 * The commands of the lab, for the program `millrace`; each is given its arguments, and what it was called by if not that, and ends the
 * process.
 *
 * @type {Record<string, { summary: string, run: (argv: string[], command?: string) => Promise<unknown> }>}
 */
export const commands = {
  experiment: {
    summary: 'measure two ways to run a server against each other',
    run: async (...called) =>
      (await import('./experiment/command.js')).experimentCommand(...called),
  },
  report: {
    summary: 'make a page or a text of kept results',
    run: async (...called) => (await import('./report/command.js')).reportCommand(...called),
  },
};
