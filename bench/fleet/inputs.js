/** Inputs from which a fleet is worked out: each with its unit, range, default and where the default comes from. */
import { LabError } from '@millrace/lab/run';
import { measured } from './measured.js';

/**
 * @typedef {object} Input
 * @property {string} name
 * @property {'load' | 'machine' | 'node' | 'broker' | 'price'} group
 * @property {string} unit
 * @property {number} standard the default
 * @property {number} least
 * @property {number} most
 * @property {'yours' | 'assumed' | 'measured'} source
 * @property {string} text what it is
 * @property {boolean} [isWhole]
 */

const input =
  (group, source) =>
  (name, unit, standard, least, most, text, isWhole = false) => ({
    ...{ name, group, unit, standard, least, most, source, text, isWhole },
  });
const load = input('load', 'yours');
const machine = input('machine', 'assumed');
const node = input('node', 'assumed');
const broker = input('broker', 'assumed');
const price = input('price', 'assumed');
const measuredNode = (name, unit, most, text) =>
  input('node', 'measured')(name, unit, measured[name], 0, most, text);
const measuredBroker = (name, unit, most, text) =>
  input('broker', 'measured')(name, unit, measured[name], 0, most, text);

/** @type {Input[]} */
export const inputs = [
  load('connections', '', 1e6, 1, 1e9, 'open connections', true),
  load('rooms', '', 1, 0.001, 1000, 'rooms that a connection is in'),
  load('rate', '1/s', 0.05, 0, 1e5, 'messages that a connection sends, to one of its rooms each'),
  load('bytes', 'B', 100, 1, 1e6, 'size of a message'),
  load(
    'heartbeat',
    's',
    2,
    0,
    3600,
    'time between the heartbeats of a node to all others; 0: none',
  ),
  load('hold', 'ms', 0, 0, 1000, 'time that messages wait for others; 0: the end of the turn'),
  machine('least', '', 2, 1, 1e6, 'minimum of machines with nodes, so that one may fail', true),
  machine('cores', '', 4, 1, 1024, 'cores of a machine with nodes: each runs a node', true),
  machine('memory', 'GB', 16, 0.1, 1e5, 'memory of a machine with nodes'),
  machine('network', 'Gbit/s', 5, 0.001, 1e4, 'network of a machine, each way'),
  machine('target', '', 0.6, 0.01, 1, 'share of CPU, memory and network that may be in use'),
  machine('packet', 'B', 66, 0, 1000, 'overhead of Ethernet, IP and TCP for a write'),
  measuredNode('connectionKb', 'kB', 1e4, 'memory of a connection in its node'),
  node('kernelKb', 'kB', 8, 0, 1e4, 'memory of a connection in the kernel'),
  measuredNode('processMb', 'MB', 1e5, 'memory of a node without connections'),
  measuredNode('receiveUs', 'µs', 1e6, 'CPU of a node to receive a message from a client'),
  measuredNode('sendUs', 'µs', 1e6, 'CPU of a node to write to a client'),
  measuredNode('deliverUs', 'µs', 1e6, 'CPU of a node to put a message into such a write'),
  measuredNode('publishUs', 'µs', 1e6, 'CPU of a node to send a batch to its broker'),
  measuredNode('batchUs', 'µs', 1e6, 'CPU of a node to receive a batch from its broker'),
  node('recordUs', 'µs', 1, 0, 1e6, 'CPU of a node to take one message out of a batch'),
  node('turnUs', 'µs', 50, 0, 1e6, 'CPU of a loop turn without work on messages'),
  broker('brokerCores', '', 4, 1, 1024, 'cores of a machine with a broker', true),
  broker('brokerMemory', 'GB', 16, 0.1, 1e5, 'memory of a machine with a broker'),
  broker('brokerNetwork', 'Gbit/s', 5, 0.001, 1e4, 'network of a machine with a broker, each way'),
  broker('brokerShare', '', 0.7, 0.01, 1, 'share of its cores that a broker can use'),
  broker(
    'brokerLeast',
    '',
    3,
    1,
    1000,
    'minimum of brokers in a cluster, so that one may fail',
    true,
  ),
  broker(
    'brokerMost',
    '',
    64,
    1,
    1000,
    'maximum of brokers in a cluster: each is linked to each',
    true,
  ),
  measuredBroker('inUs', 'µs', 1e6, 'CPU of a broker to receive a message'),
  measuredBroker('outUs', 'µs', 1e6, 'CPU of a broker to send a message to one node'),
  measuredBroker('subscriptionBytes', 'B', 1e6, 'memory of a subscribed subject'),
  measuredBroker('linkKb', 'kB', 1e6, 'memory of a connection to a broker'),
  measuredBroker('brokerMb', 'MB', 1e5, 'memory of a broker without connections'),
  broker('hopMs', 'ms', 0.25, 0, 1000, 'time on the network from a node to a broker, or back'),
  broker('headerBytes', 'B', 140, 0, 1e5, 'overhead of a batch: subject, frame, packet'),
  broker('recordBytes', 'B', 5, 0, 1e5, 'overhead of a message in a batch'),
  price('machinePrice', '$/h', 0.17, 0, 1e4, 'price of a machine with nodes'),
  price('brokerPrice', '$/h', 0.17, 0, 1e4, 'price of a machine with a broker'),
  price('egressPrice', '$/GB', 0.05, 0, 100, 'price of traffic to clients'),
  price(
    'zonePrice',
    '$/GB',
    0.01,
    0,
    100,
    'price of traffic between zones, once for each end that pays',
  ),
  price('zoneShare', '', 0.67, 0, 1, 'share of the brokers’ traffic that crosses zones'),
];

/** Rooms that are alike: each connection is in rooms of 50. */
const ALIKE = [[50, 1]];

/** Places of the members of a room: anywhere, or all at one node by a hash of the room's name. */
export const placements = ['random', 'room'];

/** An input by its name; undefined when there is none. */
const inputOf = (name) => inputs.find((each) => each.name === name);

/**
 * A scenario with every input: what is given, and defaults.
 *
 * @param {object} [given] inputs by name; `members`: sizes of rooms, each with the share of all memberships that is in such rooms, as
 *   `[[2, 0.9], [1000, 0.1]]`; `placement`; `cells`: fleets that share no room, a number, or 'auto' for as few as will do
 * @returns {Record<string, any>}
 * @throws {LabError} `MILLRACE_LAB_E_INVALID_OPTION`: which is wrong and what is allowed
 */
export function scenario(given = {}) {
  const { members = ALIKE, placement = 'random', cells = 'auto', ...numbers } = given;
  const unknown = Object.keys(numbers).find((name) => inputOf(name) === undefined);
  if (unknown !== undefined) {
    throw invalid(`there is no input ${unknown}; there are ${inputs.map((each) => each.name)}`);
  }
  if (!placements.includes(placement)) {
    throw invalid(`placement is ${show(placement)}; allowed are ${placements.join(' and ')}`);
  }
  if (cells !== 'auto') check({ name: 'cells', least: 1, most: 1e6, isWhole: true }, cells);
  const values = inputs.map((each) => {
    const value = numbers[each.name] ?? each.standard;
    check(each, value);
    return [each.name, value];
  });
  const all = { ...Object.fromEntries(values), members, placement, cells };
  checkMembers(all);
  if (all.brokerLeast > all.brokerMost) {
    throw invalid(`brokerLeast is ${all.brokerLeast}, more than brokerMost, ${all.brokerMost}`);
  }
  return all;
}

function check({ name, least, most, isWhole }, value) {
  const isGood =
    typeof value === 'number' &&
    value >= least &&
    value <= most &&
    (!isWhole || Number.isInteger(value));
  if (isGood) return;
  const kind = isWhole ? 'whole numbers' : 'numbers';
  throw invalid(`${name} is ${show(value)}; allowed are ${kind} from ${least} to ${most}`);
}

function checkMembers({ members, connections }) {
  for (const [many, share] of members) {
    check({ name: 'members', least: 1, most: connections, isWhole: true }, many);
    check({ name: 'a share of members', least: 0, most: 1 }, share);
  }
  const sum = members.reduce((total, [, share]) => total + share, 0);
  if (Math.abs(sum - 1) > 1e-6) throw invalid(`the shares of members add up to ${sum}, not to 1`);
}

const show = (value) => (typeof value === 'string' ? `"${value}"` : String(value));

const invalid = (message) => new LabError('MILLRACE_LAB_E_INVALID_OPTION', message);
