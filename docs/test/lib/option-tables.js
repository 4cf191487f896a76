/** The tables of options on the pages, and what the sources say of the same options. */
import { read } from '../../../scripts/lib/paths.js';
import { spans, tableRows } from './tables.js';

/**
 * Where the options of an interface have their rows. `first` is an option of the table, which tells it from others of its page;
 * `shared` are interfaces whose options have a table elsewhere, as the row or the text there says.
 */
export const NODE_TABLES = [
  { page: 'docs/reference/millrace.md', first: 'policy', options: 'millrace: QueueOptions' },
  {
    page: 'docs/reference/millrace.md',
    first: 'concurrency',
    options: 'millrace: BatchOptions',
    shared: ['millrace: QueueOptions'],
  },
  {
    page: 'docs/reference/millrace.md',
    first: 'retain',
    options: 'millrace: BatchEmitterOptions',
    shared: ['millrace: QueueOptions'],
  },
  { page: 'docs/reference/millrace.md', first: 'priority', options: 'millrace: TypeOptions' },
  { page: 'docs/reference/millrace.md', first: 'replay', options: 'millrace: RetainOptions' },
  {
    page: 'docs/reference/ws.md',
    first: 'maxPending',
    options: 'ws: RoomsOptions',
    shared: ['millrace: QueueOptions'],
  },
  { page: 'docs/reference/ws.md', first: 'maxDelay', options: 'ws: InstallOptions' },
  { page: 'docs/reference/fs.md', first: 'maxQueueBytes', options: 'fs: FileOptions' },
  { page: 'docs/reference/net.md', first: 'maxPendingBytes', options: 'net: CoalesceOptions' },
  { page: 'docs/reference/net.md', first: 'minRead', options: 'net: EnlargeOptions' },
  { page: 'docs/reference/guard.md', first: 'classes', options: 'guard: GuardOptions' },
  { page: 'docs/reference/guard.md', first: 'ttl', options: 'guard/cached: CachedOptions' },
  {
    page: 'docs/reference/guard.md',
    first: 'maxEventLoopDelay',
    options: 'guard: GuardPluginOptions',
  },
  { page: 'docs/reference/monitor.md', first: 'limit', options: 'monitor: MonitorOptions' },
  { page: 'docs/reference/stalls.md', first: 'limit', options: 'monitor/stalls: StallOptions' },
  { page: 'docs/reference/stalls.md', first: 'port', options: 'monitor/stalls: ProbeOptions' },
  { page: 'docs/reference/cluster.md', first: 'port', options: 'cluster: ServeOptions' },
  {
    page: 'docs/reference/pool.md',
    first: 'filename',
    options: 'pool: PoolOptions',
  },
  {
    page: 'docs/reference/pool.md',
    first: 'interval',
    options: 'cluster/r-load-balancer: AllocatorOptions',
  },
  {
    page: 'docs/reference/durable-tasks.md',
    first: 'broker',
    options: 'nats/tasks: TaskClientOptions',
  },
  {
    page: 'docs/reference/durable-tasks.md',
    first: 'attempts',
    options: 'nats/tasks: TaskWorkerOptions',
    shared: ['pool: PoolOptions'],
  },
  { page: 'docs/reference/durable-tasks.md', first: 'name', options: 'nats/tasks: StreamOptions' },
  { page: 'docs/reference/broker.md', first: 'servers', options: 'nats/events: BrokerOptions' },
  { page: 'docs/reference/broker.md', first: 'broker', options: 'nats/events: BridgeOptions' },
  {
    page: 'docs/reference/rooms-across-machines.md',
    first: 'broker',
    options: 'nats/rooms: NatsRoomsOptions',
  },
  {
    page: 'docs/reference/socket-io.md',
    first: 'broker',
    options: 'nats/socket-io: NatsAdapterOptions',
  },
  { page: 'docs/reference/observe.md', first: 'blockedMs', options: 'observe: ObserveOptions' },
];

export const C_TABLES = [
  { struct: 'uv_batch_options', first: 'policy' },
  { struct: 'uv_batch_type_options', first: 'priority' },
  { struct: 'uv_batch_fs_options', first: 'flags' },
  { struct: 'uv_largesocket_options', first: 'min_read' },
].map((each) => ({ page: 'docs/reference/c-reference.md', head: `${each.struct}_t`, ...each }));

export const GO_TABLES = [
  {
    page: 'docs/reference/go.md',
    first: 'MaxQueue',
    source: 'go/eventloop/config.go',
    structs: ['Config'],
  },
  {
    page: 'docs/reference/go-batch.md',
    first: 'Policy',
    source: 'go/batch/config.go',
    structs: ['Config', 'EmitterConfig', 'TypeConfig', 'EventConfig'],
  },
  {
    page: 'docs/reference/go-batch.md',
    first: 'Replay',
    source: 'go/batch/config.go',
    structs: ['Retain'],
  },
];

/**
 * A row of a table of options: one for each name that its first cell has.
 *
 * @typedef {object} OptionRow
 * @property {string} id the page and the line
 * @property {string} name
 * @property {string} standard what its cell `default` says
 * @property {string} reason what its last cell says
 */

/** @returns {OptionRow[]} */
export function optionRows({ page, first, head = null }) {
  const tables = tablesOf(page).filter(
    ([row]) =>
      (head === null ? isOptionTable(row.head) : row.head[0].includes(head)) &&
      namesIn(row)[0] === first,
  );
  if (tables.length !== 1) throw new Error(`${page} has ${tables.length} tables from ${first} on`);
  return tables[0].flatMap((row) => {
    const names = namesIn(row);
    const at = row.head.findIndex((title) => /^default$/i.test(title));
    const defaults = names.length > 1 ? row.cells[at].split(', ') : [row.cells[at]];
    return names.map((name, i) => ({
      id: row.id,
      name,
      standard: defaults.length === names.length ? defaults[i] : row.cells[at],
      reason: row.cells.at(-1),
    }));
  });
}

const isOptionTable = (head) => /^(option|`retain\.`)$/i.test(head[0]);
/** `maxQueue(n)` is named maxQueue. */
const namesIn = ({ cells }) => spans(cells[0]).map((name) => name.replace(/\(.*\)$/, ''));

function tablesOf(page) {
  const tables = [];
  let last = null;
  for (const row of tableRows(page)) {
    if (row.head !== last) tables.push([]);
    last = row.head;
    tables.at(-1).push(row);
  }
  return tables;
}

/** The options of an interface in TypeDoc's model, as names and comments; `name` is `module: Interface`. */
export function nodeOptions({ children }, name) {
  const [module, title] = name.split(': ');
  const found = children
    .find((each) => each.name === module)
    ?.children.find((each) => each.name === title && each.variant !== 'reference');
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found.children.map((option) => ({ name: option.name, comment: textOf(option) }));
}

function textOf({ comment, signatures = [], type }) {
  const own = (comment?.summary ?? []).map(({ text }) => text).join('');
  const inner = [...signatures, ...(type?.declaration?.signatures ?? [])].map(textOf);
  return [own, ...inner].join('').trim();
}

/** The fields of a struct of the header, with their comments. */
export function cOptions(struct) {
  const text = read('c/include/uv_batch.h');
  const body = new RegExp(`^struct ${struct}_s \\{\\n([\\s\\S]*?)^\\};`, 'm').exec(text)[1];
  const fields = [...body.matchAll(/^ {2}\w[\w ]*[ *]+(\w+);[ \t]*(?:\/\*([\s\S]*?)\*\/)?/gm)];
  return fields.map(([, name, comment = '']) => ({ name, comment: lastOf(comment) }));
}

/** In the header the default comes after the range; what a 0 means may stand between them. */
function lastOf(comment) {
  const [, ...rest] = comment.replace(/\s+/g, ' ').split('; ');
  return `default: ${rest.find((part) => !/^\d+: /.test(part)) ?? ''}`;
}

/** The fields of structs of a file, each once: with the comment of the first that has one. */
export function goOptions(source, structs) {
  const text = read(source);
  const fields = structs.flatMap((name) => {
    const [, body] = new RegExp(
      `^type ${name}(?:\\[.*?\\])? struct \\{\\n([\\s\\S]*?)^\\}`,
      'm',
    ).exec(text);
    return [...body.matchAll(/((?:^\t\/\/.*\n)*)^\t([A-Z]\w*(?:, [A-Z]\w*)*) +\S/gm)].flatMap(
      ([, comment, names]) =>
        names
          .split(', ')
          .map((each) => ({ name: each, comment: comment.replace(/\s*\/\/ ?/g, ' ') })),
    );
  });
  return [...new Map(fields.toReversed().map((field) => [field.name, field])).values()].reverse();
}

const commandFiles = {
  run: 'packages/millrace/src/tools/run.ts',
  observe: 'packages/millrace/src/tools/observe.ts',
  'millrace-worker': 'packages/nats/src/command/worker.ts',
};

/** The options of a command. */
export const commandOptions = (command) =>
  [...read(commandFiles[command]).matchAll(/^ {2}'?([a-z][\w-]*)'?: \{ (?:value|meaning)/gm)].map(
    ([, name]) => name,
  );
/** Those that its section of the page has. */
export const commandRows = (command) =>
  tableRows('docs/reference/cli.md')
    .filter(({ heading, head }) => heading === command && head[0] === 'option')
    .flatMap(({ cells }) => spans(cells[0]).map((span) => span.split(' ')[0].slice(2)));

const UNITS = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };
const NUMBER = /(?<![\w.^])(\d[\d,]*(?:\.\d+)?)(?: (KiB|MiB|GiB))?(?!\w*['`\w])/;

/** The number that a default begins with: `64 MiB` is 67108864. Null where it is none. */
export function leadingNumber(text) {
  const [, digits, unit] = NUMBER.exec(text.slice(0, 24)) ?? [];
  if (digits === undefined) return null;
  return Number(digits.replaceAll(',', '')) * (UNITS[unit] ?? 1);
}

/** What a doc comment says that the default is; null if it does not say one. */
export function statedDefault(comment) {
  const before = /([\w'`.,]+|\w[\w ,]*) \((?:off, |without limit, )?(?:the )?default\b/i.exec(
    comment,
  );
  if (before !== null) return before[1];
  // "0, the default", and "0 (off, default)".
  const listed =
    /(\S+)(?: \(\w+)?, the default\b/i.exec(comment) ?? /(\S+) \(off, default\)/.exec(comment);
  if (listed !== null) return listed[1];
  return /\bdefault(?: is)?:? ([\s\S]{1,60})/i.exec(comment)?.[1] ?? null;
}
