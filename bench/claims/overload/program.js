/**
 * Server of examples/overload under its load: `program.js SERVER JSON`, see lib/program.js. The generator is a
 * process of its own; it hangs up after 2 s, and an answer is good when it is a 200 within 500 ms of when it was due.
 */
import { takeSlots } from '../../../examples/overload/control/calibrate.js';
import { Generator } from '../../../examples/overload/control/generator.js';
import { startServer } from '../../../examples/overload/control/server.js';
import { summarize } from '../../../examples/overload/control/summary.js';
import { CONNECTIONS, HANDLER_MS, SLOT_MS } from '../../../examples/overload/settings.js';
import { measured, print, readArguments } from '../lib/program.js';

const WARMUP_SLOTS = 2;

const { arm, params } = readArguments();
const { iterations, clients, times, seed = 1, size } = params;
const seconds = { quick: 1.5, medium: 2, paper: 5 }[size];
/** Capacity of one server in requests per second, as far as the size of the handler says. */
const capacity = 1000 / HANDLER_MS;

const server = await startServer(arm, iterations);
let crashes = 0;
server.exited.then(() => {
  crashes += 1;
});
const generator = new Generator();
const load = clients ? { clients } : { rate: times * capacity, connections: CONNECTIONS };
generator.drive({ port: server.port, seed: seed % 2 ** 32, ...load });
await takeSlots(generator, WARMUP_SLOTS);
const { result: slots } = await measured(() => takeSlots(generator, (seconds * 1000) / SLOT_MS));
generator.stop();
const crashed = crashes;
await Promise.all([server.end(), generator.end()]);

const said = summarize(slots, { capacity });
const answers = slots.reduce((sum, slot) => sum + slot.latencies.length, 0);
const offered = slots.flatMap((slot) => slot.offered).reduce((sum, count) => sum + count, 0);
print({
  values: {
    ...{ answers, answers_per_s: answers / said.seconds, crashes: crashed },
    ok_per_s: said.fresh + said.copies + said.late,
    good_per_s: said.good,
    fresh_per_s: said.fresh,
    copies_per_s: said.copies,
    refused_per_s: said.shed,
    requests_per_s: said.fresh + said.copies + said.late + said.shed + said.failed,
    failed_share: said.failed / (said.fresh + said.copies + said.late + said.shed + said.failed),
    high_success: said.success[0],
    ok_p50_ms: said.p50,
    ok_p99_ms: said.p99,
    health_failed_share: said.healthOk === null ? null : 1 - said.healthOk,
  },
  work: [{ name: 'requests', answers: offered, mayFail: true }],
  isClosed: true,
  faults: offered > 0 ? [] : ['nothing was asked for'],
});
