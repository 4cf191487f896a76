import { readFile } from 'node:fs/promises';
import { formatReport, observe } from 'millrace/observe';
import { main } from '../../../../scripts/lib/bundled/main.mjs';

main(async () => {
  const observation = observe();
  const end = performance.now() + 200;
  while (performance.now() < end);
  await new Promise((resolve) => setTimeout(resolve, 20));
  await Promise.all([1, 2].map(() => readFile(process.argv[2])));
  observation.stop();
  const report = observation.report();
  const { reads } = report.files;
  return { text: typeof formatReport(report), reads, pid: report.application.pid === process.pid };
});
