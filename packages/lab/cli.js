/**
 * The commands of the lab, for the program `millrace`; each is given its arguments and ends the process.
 *
 * @type {Record<string, { summary: string, run: (argv: string[]) => Promise<unknown> }>}
 */
export const commands = {
  experiment: {
    summary: 'measure two ways to run a server against each other',
    run: async (argv) => (await import('./experiment/command.js')).experimentCommand(argv),
  },
  report: {
    summary: 'make a page or a text of kept results',
    run: async (argv) => {
      // Its program reads its own arguments.
      process.argv.splice(2, Infinity, ...argv);
      await import('./report/main.js');
    },
  },
};
