/** This package, as its own code knows it: its files are looked for where a bundle does not have them. */
const { version } = require('../package.json') as { version: string };

export const thisPackage = {
  name: '@millrace/cluster',
  version,
  places: typeof __filename === 'string' ? [__filename] : [],
};
