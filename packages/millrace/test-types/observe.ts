// observe() as its users' compilers see it.
import {
  formatReport,
  type Observation,
  type ObserveOptions,
  observe,
  type Report,
  startObserving,
} from 'millrace/observe';

const options: ObserveOptions = { blockedMs: 20, maxWait: { high: 100 } };
const observation: Observation = observe(options);
observe();
// @ts-expect-error: no such option
observe({ blocked: 20 });
// @ts-expect-error: a number of ms
observe({ blockedMs: '20 ms' });

const report: Report = observation.report();
const saved: number = report.writes.saved + report.frames.frames - report.frames.contents;
const slowest: string | undefined = report.requests.routes[0]?.route;
const file: string | null = report.loop.functions[0]!.file;
const instead: string | null = report.queries.statements[0]!.instead;
const late: number = report.deadEmits[0]!.place.line + report.lookups.joined;
const text: string = formatReport(report, { colour: true, command: 'node app.js' });
formatReport(report);
// @ts-expect-error: a text
formatReport(report, { command: ['node', 'app.js'] });
observation.stop();

startObserving({ json: 'report.json', blockedMs: 20 }).stop();
startObserving({ json: null });

void [saved, slowest, file, instead, late, text];
