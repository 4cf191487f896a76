// Says that it is ready. Asked to, computes in short turns until some were long because it got no CPU, and prints the report.
import { once } from 'node:events';
import { formatReport, observe } from 'millrace/observe';
import { busy } from './busy.js';

const observation = observe();
const work = () => {
  busy(10);
  const report = observation.report();
  if (report.loop.starvedTurns < 3) {
    setTimeout(work, 1);
    return;
  }
  observation.stop();
  console.log(JSON.stringify({ loop: report.loop, text: formatReport(report) }));
  process.stdin.destroy();
};
setTimeout(() => console.log('ready'), 1100);
await once(process.stdin, 'data');
work();
