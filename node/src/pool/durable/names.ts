/** What the streams, consumers and subjects of durable tasks are called at the broker. */
import { type Priority, priorities } from '../../core/intake/priority.js';

/** Where a task waits: a priority, or `alone` for those that were with a worker when it ended. */
export type LaneName = Priority | 'alone';

export const lanes: readonly LaneName[] = [...priorities, 'alone'];

/** The names of one stream of tasks. */
export class TaskNames {
  /** The streams of JetStream. */
  readonly stream: string;
  readonly deadStream: string;
  /** To all workers: ids of tasks that nobody wants any more. */
  readonly cancels: string;
  /** To all clients: how long functions run. */
  readonly times: string;
  readonly #link: Naming;
  readonly #name: string;

  constructor(link: Naming, name: string) {
    this.#link = link;
    this.#name = name;
    this.stream = `${link.namespace}_tasks_${name}`;
    this.deadStream = `${this.stream}_dead`;
    this.cancels = link.subject('cancels', name);
    this.times = link.subject('times', name);
  }

  subject(lane: LaneName): string {
    return this.#link.subject('tasks', this.#name, lane);
  }

  dead(lane: LaneName): string {
    return this.#link.subject('dead', this.#name, lane);
  }

  /** Where a client hears the results of its tasks. */
  results(node: string): string {
    return this.#link.subject('results', node);
  }
}

/** As much of a link as names need. */
interface Naming {
  readonly namespace: string;
  subject(...parts: string[]): string;
}

/** Headers of tasks that were stored again, and of dead ones. */
export const headerNames = {
  id: 'Nats-Msg-Id',
  /** How often it was delivered before it was stored again. */
  deliveries: 'Millrace-Deliveries',
  /** How often it has failed. */
  failures: 'Millrace-Failures',
  /** For how long, in ms, its first receiver gives it back. */
  delay: 'Millrace-Delay',
  /** Its priority, where the subject does not say it. */
  priority: 'Millrace-Priority',
  /** Why it is dead. */
  reason: 'Millrace-Reason',
  error: 'Millrace-Error',
} as const;
