/** A socket.io server in its fleet: one connection to the broker for all its namespaces. */
import { Link } from '../../../broker/link.js';
import { announce } from '../../../core/sources.js';
import { joinTurn } from '../../../net/turn.js';
import { Durable } from '../../fleet/durable/durable.js';
import { newCounts } from '../../fleet/stats.js';
import { Nodes } from './nodes.js';
import type { AdapterSettings } from './options.js';
import type { MillraceAdapterStats } from './stats.js';

/** A namespace of this server. */
export interface Lodger {
  readonly name: string;
  /** Another node no longer has this namespace, or is gone. */
  onGone(node: string): void;
  close(): unknown;
}

export class Fleet {
  readonly link: Link;
  readonly counts = { ...newCounts(), requests: 0, unanswered: 0 };
  readonly nodes: Nodes;
  readonly durable: Durable | null;
  /** Which rooms are durable. */
  readonly isDurable: ((room: string) => boolean) | null;
  readonly #lodgers = new Set<Lodger>();
  #settling: Promise<void> | null = null;
  #closing: Promise<void> | null = null;

  constructor({ broker, heartbeatMs, durable, stream }: AdapterSettings) {
    this.link = new Link(broker, 'socket.io');
    this.isDurable = durable;
    this.durable =
      durable === null ? null : new Durable(this.link, 'socket-io', stream, this.counts);
    this.nodes = new Nodes(this.link, heartbeatMs, this.counts, {
      namespaces: () => [...this.#lodgers].map(({ name }) => name),
      onGone: (node, namespace) => {
        for (const lodger of this.#lodgers) if (lodger.name === namespace) lodger.onGone(node);
      },
    });
    announce('socket-io-fleet', this as Fleet, (fleet) => fleet.stats());
  }

  get isClosed(): boolean {
    return this.#closing !== null;
  }

  stats(): MillraceAdapterStats {
    const { requests, missed, duplicates, malformed, ignored, unanswered } = this.counts;
    return {
      ...{ nodes: this.nodes.size, requests, missed, duplicates, malformed, ignored, unanswered },
      durable: this.durable?.stats() ?? null,
      broker: this.link.stats(),
    };
  }

  /** It takes the place of one of the same name when `io.adapter()` is called again. */
  add(lodger: Lodger): void {
    const before = [...this.#lodgers].find(({ name }) => name === lodger.name);
    this.#lodgers.add(lodger);
    before?.close();
    this.nodes.tellSoon();
  }

  /** The connection ends with the last namespace. */
  remove(lodger: Lodger): Promise<void> {
    this.#lodgers.delete(lodger);
    if (this.#lodgers.size > 0) {
      this.nodes.tellSoon();
      return Promise.resolve();
    }
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    this.nodes.close();
    try {
      await this.durable?.close();
    } finally {
      await this.link.close();
    }
  }

  /** Resolves once the broker has what was subscribed, or is away; one question for all that ask in a turn. */
  settled(): Promise<void> {
    this.#settling ??= new Promise((resolve) => {
      joinTurn({
        endTurn: () => {
          this.#settling = null;
          this.link.flush().then(resolve, () => resolve());
        },
      });
    });
    return this.#settling;
  }

  /** Resolves once the broker hears us and the nodes that are there have had the chance to answer. */
  async ready(): Promise<void> {
    await this.link.ready();
    await this.durable?.ready();
    this.nodes.ask();
    await this.link.flush();
  }

  async acknowledged(): Promise<void> {
    await this.durable?.acknowledged();
  }
}
