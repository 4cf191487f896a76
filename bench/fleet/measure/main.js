#!/usr/bin/env node
/**
 * `node bench/fleet/measure/main.js [FILE]`: measures what the model of fleets needs on this machine, in about 40 s, and writes
 * bench/fleet/measured.json, or the file that is named.
 */
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, release, type } from 'node:os';
import { measuredFile } from '../measured.js';
import { measureBroker } from './broker.js';
import { measureNode } from './node.js';

const say = (line) => console.error(line);
const [file = measuredFile] = process.argv.slice(2);
const values = { ...(await measureNode(say)), ...(await measureBroker(say)) };
const rounded = Object.entries(values).map(([name, value]) => [name, Number(value.toPrecision(3))]);
const measurement = {
  command: 'node bench/fleet/measure/main.js',
  date: new Date().toISOString(),
  machine: {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    kernel: `${type()} ${release()}`,
    node: process.version,
  },
  notes: [
    'CPU of a node: four loads of 500 connections with messages of 100 bytes, in rooms of 2, 10 and 50, on a busy loop. The cost of each kind of work is the best fit to all four.',
    'CPU of a broker, and of a node that talks to it: 16 connections that each send a batch of one message every millisecond, and 2 that receive all of them. With more at a time, each is cheaper.',
    'Memory of a connection: in the process, for 5,000 connections in rooms of 50 that have received messages; the kernel’s is an assumption.',
  ],
  values: Object.fromEntries(rounded),
};
writeFileSync(file, `${JSON.stringify(measurement, null, 2)}\n`);
console.log(JSON.stringify(measurement.values));
