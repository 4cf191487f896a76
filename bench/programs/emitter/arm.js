/** Arm of one round: `node arm.js BLOCK SUBJECT all|'may lose'` sends ns per event, the share delivered, and what was wrong. */
import { EventEmitter } from 'node:events';
import { median } from '../../lib/statistics.js';
import { cases, wholeSum } from './blocks.js';
import { subjects } from './subjects.js';

const [name, subject, wanted] = process.argv.slice(2);
/** The compiler takes about eight blocks to settle. */
const warmupBlocks = 10;
const blocks = 9;

// In any application emit() of node:events has seen many names. While it knows one alone, as here, V8 looks its listeners up in another
// and slower way, so that what else a build happens to emit at its start would decide.
for (const name of ['open', 'data', 'drain', 'end', 'close']) {
  for (let time = 0; time < 3; time++) new EventEmitter().on(name, () => {}).emit(name);
}

const run = cases[name].block(await subjects[subject]());
const times = [];
let delivered = 0;
for (let block = 0; block < warmupBlocks + blocks; block++) {
  const start = process.hrtime.bigint();
  delivered = await run();
  const ns = Number(process.hrtime.bigint() - start);
  if (block >= warmupBlocks) times.push(ns / cases[name].events);
}
const share = delivered / wholeSum(name);
const wrong =
  wanted === 'all' && share !== 1 ? `of the events it delivered a share of ${share}` : null;
process.send({ ns_per_event: median(times), delivered_share: share, wrong });
