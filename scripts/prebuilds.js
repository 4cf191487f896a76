/** `make prebuilds [PLATFORM=linux-x64-musl]`: the packages of the platforms and that of the C, ready for `npm publish`. */
import { relative } from 'node:path';
import { exitWith, Failure } from './lib/failure.js';
import { root } from './lib/paths.js';
import { platforms, prebuild } from './lib/prebuilds.js';
import { writeSourcePackage } from './lib/source-package.js';
import { runOrExit } from './lib/steps.js';

const all = platforms();
const chosen = process.argv.length > 2 ? process.argv.slice(2) : all;
const unknown = chosen.find((each) => !all.includes(each));
if (unknown) exitWith(new Failure(`there is no platform ${unknown}; there are ${all.join(', ')}`));

const source = {
  title: 'C of the addon',
  run: async () => relative(root, writeSourcePackage()),
};
await runOrExit([...chosen.map(prebuild), source]);
