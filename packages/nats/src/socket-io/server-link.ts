/**
 * A socket.io server among the others of its fleet: one link to the broker for all its namespaces. The other nodes are those of
 * `members.ts`, and what each has are its namespaces. While the broker is away nobody can be reached, so all others count as
 * gone, and what is waited for ends. The link ends with the last namespace.
 */
import { announce } from '@millrace/base/sources';
import { atTurnEnd } from '@millrace/base/turn';
import type { QueueStats } from 'millrace';
import { Link } from '../link.js';
import { costOf, type Entry, Members, type Others } from '../members.js';
import type { BrokerOptions, HoldOptions, LinkStats } from '../options.js';
import { type DurableStats, Store, type StreamLimits } from '../store/store.js';
import { type TurnHold, turnHold } from '../turn-hold.js';

/** A namespace of this server. */
export interface Namespace {
  readonly name: string;
  /** Another node no longer has this namespace, or is gone. */
  onGone(node: string): void;
  close(): unknown;
}

/** The options of an adapter, with their defaults. */
export interface AdapterSettings {
  readonly broker: string | BrokerOptions;
  readonly heartbeatMs: number;
  /** Null: none. */
  readonly durable: ((room: string) => boolean) | null;
  readonly stream: Required<StreamLimits>;
  readonly key: ((event: string, ...args: any[]) => string | number | undefined) | undefined;
  readonly hold: HoldOptions;
}

/** Counters of an adapter of {@link natsAdapter}. */
export interface NatsAdapterStats {
  /** Other nodes that are known. */
  nodes: number;
  /** Pending requests to other nodes: acknowledgements, `fetchSockets`, `serverSideEmit`. */
  requests: number;
  /** NATS messages that were lost, as the numbers of later ones show. */
  missed: number;
  /** NATS messages that arrived again, and were ignored; of durable rooms, broadcasts. */
  duplicates: number;
  /** Received messages, or parts of them, that are not of this format. */
  malformed: number;
  /**
   * Messages of nodes beyond the limits: 10,000 nodes, 64 MiB of their namespaces, 10,000 requests that wait for clients
   * here.
   */
  ignored: number;
  /** Responses not sent: they exceed the broker's limit, or JSON cannot express them. */
  unanswered: number;
  /** Durable rooms; null when there are none. */
  durable: DurableStats | null;
  /** Policy of the hold: its estimates, the chosen hold, and the reason if there is none; null without `maxDelay`. */
  policy: QueueStats['policy'] | null;
  /** The connection to the broker. */
  broker: LinkStats;
}

/** A namespace of another node. */
interface NamespaceEntry extends Entry {
  readonly name: string;
}

type Entries = Map<number, NamespaceEntry>;

export const heartbeatRange = [50, 600_000] as const;
/** Most bytes of the namespaces of other nodes, with what they cost in memory. */
const mostBytes = 64 * 1024 * 1024;
const none: Entries = new Map();

const namesOf = (entries: Entries) => new Set(Array.from(entries.values(), ({ name }) => name));

export class ServerLink implements Others<NamespaceEntry> {
  readonly link: Link;
  readonly counts = {
    ...{ received: 0, receivedBatches: 0, unsent: 0, requests: 0, unanswered: 0 },
    ...{ missed: 0, duplicates: 0, malformed: 0, ignored: 0 },
  };
  readonly store: Store | null;
  /** Predicate for durable rooms. */
  readonly isDurable: ((room: string) => boolean) | null;
  /** Hold of broadcasts to other nodes; null: they do not wait. */
  readonly hold: TurnHold | null;
  readonly #members: Members<NamespaceEntry>;
  readonly #namespaces = new Map<Namespace, number>();
  #lastKey = 0;
  readonly #nodes = new Map<string, Entries>();
  #bytes = 0;
  #settling: Promise<void> | null = null;
  #closing: Promise<void> | null = null;

  constructor({ broker, heartbeatMs, durable, stream, hold }: AdapterSettings) {
    this.hold = turnHold(hold);
    this.link = new Link(broker, 'socket-io');
    this.isDurable = durable;
    this.store = durable === null ? null : new Store(this.link, 'socket-io', stream, this.counts);
    const options = { beatMs: heartbeatMs, beatRange: heartbeatRange, forgetsWhenAway: true };
    this.#members = new Members(this.link, 'socket-io', options, this.counts, this);
    announce('socket-io-fleet', this as ServerLink, (server) => server.stats());
  }

  get isClosed(): boolean {
    return this.#closing !== null;
  }

  stats(): NatsAdapterStats {
    const { requests, missed, duplicates, malformed, ignored, unanswered } = this.counts;
    return {
      ...{ nodes: this.#members.size, requests, missed, duplicates },
      ...{ malformed, ignored, unanswered },
      durable: this.store?.stats() ?? null,
      policy: this.hold?.policy ?? null,
      broker: this.link.stats(),
    };
  }

  /** Opens a namespace. It replaces one of the same name when `io.adapter()` is called again. */
  open(namespace: Namespace): void {
    const before = [...this.#namespaces.keys()].find(({ name }) => name === namespace.name);
    this.#namespaces.set(namespace, ++this.#lastKey);
    this.#members.add(this.#lastKey, Buffer.from(namespace.name));
    before?.close();
  }

  async close(namespace: Namespace): Promise<void> {
    this.#members.remove(this.#namespaces.get(namespace)!);
    this.#namespaces.delete(namespace);
    if (this.#namespaces.size > 0) return;
    this.#closing ??= this.#end();
    await this.#closing;
  }

  async #end(): Promise<void> {
    this.hold?.close();
    this.#members.close();
    try {
      await this.store?.close();
    } finally {
      await this.link.close();
    }
  }

  /** Ids of the other nodes that have this namespace. */
  having(namespace: string): string[] {
    const nodes: string[] = [];
    for (const [node, entries] of this.#nodes) {
      if (namesOf(entries).has(namespace)) nodes.push(node);
    }
    return nodes;
  }

  decode(_node: string, key: number, _ageMs: number, body: Buffer): NamespaceEntry {
    return { key, name: body.toString(), bytes: body.length };
  }

  add(node: string, entry: NamespaceEntry): boolean {
    let entries = this.#nodes.get(node);
    if (entries?.has(entry.key)) return true;
    const cost = costOf(entry);
    if (this.#bytes + cost > mostBytes) return false;
    if (entries === undefined) {
      entries = new Map();
      this.#nodes.set(node, entries);
    }
    entries.set(entry.key, entry);
    this.#bytes += cost;
    return true;
  }

  remove(node: string, key: number): void {
    const entry = this.#take(node, key);
    if (entry !== undefined && !this.#has(node, entry.name)) this.#gone(node, entry.name);
  }

  replace(node: string, entries: readonly NamespaceEntry[]): number {
    const before = this.#nodes.get(node) ?? none;
    const names = namesOf(before);
    const keys = new Set(entries.map(({ key }) => key));
    for (const key of [...before.keys()]) if (!keys.has(key)) this.#take(node, key);
    const refused = entries.filter((entry) => !this.add(node, entry)).length;
    for (const name of names) if (!this.#has(node, name)) this.#gone(node, name);
    return refused;
  }

  forget(node: string): void {
    this.store?.forget(node);
  }

  #take(node: string, key: number): NamespaceEntry | undefined {
    const entries = this.#nodes.get(node);
    const entry = entries?.get(key);
    if (entry === undefined) return undefined;
    entries!.delete(key);
    if (entries!.size === 0) this.#nodes.delete(node);
    this.#bytes -= costOf(entry);
    return entry;
  }

  #has(node: string, name: string): boolean {
    return namesOf(this.#nodes.get(node) ?? none).has(name);
  }

  #gone(node: string, name: string): void {
    for (const namespace of this.#namespaces.keys()) {
      if (namespace.name === name) namespace.onGone(node);
    }
  }

  /** Resolves once the broker has what was subscribed, or is away; one question for all that ask in a turn. */
  settled(): Promise<void> {
    this.#settling ??= new Promise((resolve) => {
      atTurnEnd(() => {
        this.#settling = null;
        this.link.flush().then(resolve, () => resolve());
      });
    });
    return this.#settling;
  }

  /** Resolves once the broker hears us, and can store. */
  async ready(): Promise<void> {
    await this.link.ready();
    await this.store?.ready();
    await this.link.flush();
  }

  async acknowledged(): Promise<void> {
    await this.store?.acknowledged();
  }
}
