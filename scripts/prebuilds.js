/** `make prebuilds [PLATFORM=linux-x64-musl]`: the packages of the platforms, ready for `npm publish`. */
import { exitWith, Failure } from './lib/failure.js';
import { platforms, prebuild } from './lib/prebuilds.js';
import { runOrExit } from './lib/steps.js';

const all = platforms();
const chosen = process.argv.length > 2 ? process.argv.slice(2) : all;
const unknown = chosen.find((each) => !all.includes(each));
if (unknown) exitWith(new Failure(`there is no platform ${unknown}; there are ${all.join(', ')}`));

await runOrExit(chosen.map(prebuild));
