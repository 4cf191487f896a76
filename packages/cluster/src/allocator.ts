/**
 * The decision of r-loadBalancer, by the document's steps: is there a task that waits, is a core idle, is there memory. The pool acts on the
 * same figures by itself, at once when a task comes or ends; this only says what it does, each interval, when that has changed:
 *
 *     wait ──► hold ◄──► throttle ◄──► allocate ──► wait
 *
 * - wait: no task is in the queue.
 * - hold: no core is idle. Tasks wait until one is.
 * - throttle: cores are idle, but memory is short. Tasks run one at a time, so that I/O has what is left.
 * - allocate: tasks that wait get idle cores.
 */
import { parse } from '@millrace/base/options';
import * as is from '@millrace/base/schema';
import { clearInterval, setInterval, wallClock } from '@millrace/base/timers';
import { type ServeOptions, serveSchema } from './options.js';

/** Decision on tasks that wait: there are none; they are held, or throttled; or they get cores. */
type Decision = 'wait' | 'hold' | 'throttle' | 'allocate';

/** Figures that a decision goes by. */
interface Resources {
  /** Waiting tasks. */
  readonly queued: number;
  readonly running: number;
  readonly idleCores: number;
  readonly cores: number;
  /** Memory is short, as the pool has it. */
  readonly throttled: boolean;
  /** Used share of memory, 0 to 1. */
  readonly memoryUsed: number;
}

/** Options of `dynamicResourceAllocator()`. */
export interface AllocatorOptions {
  /** Time in ms between two looks: 10 to 3,600,000; default 500. */
  interval?: number;
  /** Called with a line when the decision changes; default `console.log`. */
  log?: (line: string) => void;
}

export const allocatorSchema = is.schema({
  interval: is.ms(10, 3_600_000, 500),
  log: is.or(is.callback<(line: string) => void>(), null),
} satisfies is.FieldsOf<AllocatorOptions>);

/** Options of `startLoadBalancer()`: all of `serve()` but `port`, and `allocator`. */
export interface LoadBalancerOptions extends Omit<ServeOptions, 'port'> {
  /** Options of `dynamicResourceAllocator()`. */
  allocator?: AllocatorOptions;
}

/** The cluster and the allocator read their own; this finds unknown names before anything begins. */
export const loadBalancerSchema = is.schema({
  ...is.omit(serveSchema.fields, 'port'),
  allocator: is.partial(allocatorSchema),
} satisfies is.FieldsOf<LoadBalancerOptions>);

export function decide({ queued, idleCores, throttled }: Resources): Decision {
  if (queued === 0) return 'wait';
  if (idleCores === 0) return 'hold';
  return throttled ? 'throttle' : 'allocate';
}

/** Looks each interval, and logs when the decision changes. Returns a function that ends it. It keeps no process alive. `every` is for tests. */
export function allocate(
  look: () => Resources,
  given: AllocatorOptions,
  every: (call: () => void, ms: number) => () => void = timer,
): () => void {
  const options = parse('dynamicResourceAllocator()', given, allocatorSchema);
  const log = options.log ?? console.log;
  let last: Decision = 'wait';
  return every(() => {
    const resources = look();
    const decision = decide(resources);
    if (decision === last) return;
    last = decision;
    log(line(decision, resources));
  }, options.interval);
}

function timer(call: () => void, ms: number): () => void {
  const each = setInterval(call, ms);
  each.unref();
  return () => clearInterval(each);
}

function line(
  decision: Decision,
  { queued, running, idleCores, cores, memoryUsed }: Resources,
): string {
  return [
    `${new Date(wallClock.now()).toISOString()} r-load-balancer: ${decision}`,
    `${queued} ${queued === 1 ? 'task' : 'tasks'} queued`,
    `${running} running`,
    `${idleCores} of ${cores} cores idle`,
    `${Math.round(memoryUsed * 100)} % of memory used`,
  ].join(', ');
}
