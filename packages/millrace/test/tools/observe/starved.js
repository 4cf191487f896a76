// Computes in short turns until some of them were long because it got no CPU, and prints the report.
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
};
setTimeout(work, 1100);
