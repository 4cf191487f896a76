/** Names of `installed.cts` for ES modules: `schema.cts` of this folder says why. */
import lookup = require('../installed.cjs');

export const { applicationPlaces, installed, packageFile, peer } = lookup;
