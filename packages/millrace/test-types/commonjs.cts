// Every entry point as a program in CommonJS sees it. From TypeScript 5.8 on `require()` of ES modules is typed, as Node.js 20.19 does it.
import millrace = require('millrace');
import auto = require('millrace/auto');
import cluster = require('@millrace/cluster');
import dashboard = require('millrace/dashboard');
import fs = require('millrace/fs');
import guard = require('@millrace/guard');
import metrics = require('@millrace/monitor/metrics');
import monitor = require('@millrace/monitor');
import stalls = require('@millrace/monitor/stalls');
import events = require('@millrace/nats/events');
import natsRooms = require('@millrace/nats/rooms');
import natsSocketIo = require('@millrace/nats/socket-io');
import tasks = require('@millrace/nats/tasks');
import net = require('millrace/net');
import observe = require('millrace/observe');
import pool = require('@millrace/pool');
import threads = require('millrace/threads');
import ws = require('millrace/ws');
import wsSocketIo = require('millrace/ws/socket-io');

const emitter: millrace.BatchEmitter<{ line: [string] }> = new millrace.BatchEmitter();
emitter.emit('line', 'x');
// @ts-expect-error: a line is text
emitter.emit('line', 1);
auto.features.ws.off();
const link: events.BrokerOptions = { servers: 'nats://127.0.0.1:4222' };
// As of piscina, what is required is the class itself.
const fixed: InstanceType<typeof pool> = new pool.Pool({ filename: 'x.js', maxThreads: 2 });
// @ts-expect-error: threads are counted
new pool({ filename: 'x.js', maxThreads: 'two' });
const served: typeof cluster.serve = cluster.default;
const include: string = threads.include;
export const all = [
  ...[dashboard.serveDashboard, fs.readFile, guard.guard, metrics, monitor.monitor, net.coalesce],
  ...[observe, ws.Rooms, wsSocketIo.adapterBase, link, fixed, served, include],
  ...[
    stalls.stalls,
    events.bridge,
    natsRooms.natsRooms,
    natsSocketIo.natsAdapter,
    tasks.TaskClient,
  ],
];
