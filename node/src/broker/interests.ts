/** What is subscribed, whichever connection there is, or none. */
import { throwLater } from '../core/turn.cjs';
import type { Msg, MsgHdrs, NatsConnection, Subscription } from './client-types.js';

/** What comes with a message. */
export interface Arrival {
  readonly subject: string;
  readonly reply: string | undefined;
  readonly headers: MsgHdrs | undefined;
}

export type OnMessage = (payload: Uint8Array, arrival: Arrival) => void;

interface Interest {
  readonly subject: string;
  readonly onMessage: OnMessage;
  subscription: Subscription | null;
  /** Why the broker does not let it be heard. */
  denial: Error | null;
}

/** The subscriptions of a link. The client keeps them over a reconnect, but for those that the broker has denied. */
export class Interests {
  readonly #all = new Set<Interest>();
  #connection: NatsConnection | null = null;
  readonly #onArrival: (bytes: number) => void;

  /** `onArrival` is told of each message before its subscriber. */
  constructor(onArrival: (bytes: number) => void) {
    this.#onArrival = onArrival;
  }

  /** Returns a function that ends it, once; with `drain` what is on its way still comes. */
  add(subject: string, onMessage: OnMessage): (drain?: 'drain') => void {
    const interest: Interest = { subject, onMessage, subscription: null, denial: null };
    this.#all.add(interest);
    this.#open(interest);
    return (drain) => {
      if (!this.#all.delete(interest)) return;
      // It rejects when the connection goes away meanwhile, and then nothing comes.
      if (drain) interest.subscription?.drain().catch(() => {});
      else interest.subscription?.unsubscribe();
    };
  }

  /** A connection is there: a new one, or the same again. Opens what is not open on it. */
  openOn(connection: NatsConnection): void {
    const isSame = connection === this.#connection;
    this.#connection = connection;
    for (const interest of this.#all) {
      if (!isSame || interest.subscription?.isClosed()) this.#open(interest);
    }
  }

  /** Why a subject cannot be heard at present; undefined when nobody has said so. */
  denial(subject: string): Error | undefined {
    for (const each of this.#all) {
      if (each.subject === subject && each.denial !== null) return each.denial;
    }
    return undefined;
  }

  #open(interest: Interest): void {
    const connection = this.#connection;
    if (connection === null || connection.isClosed()) return;
    interest.denial = null;
    const callback = (error: Error | null, message: Msg) => {
      if (error !== null) {
        interest.denial = error;
        return;
      }
      this.#onArrival(message.data.length);
      try {
        interest.onMessage(message.data, message as Arrival);
      } catch (thrown) {
        // A subscriber that throws must not stop the reading of the connection.
        throwLater(thrown);
      }
    };
    interest.subscription = connection.subscribe(interest.subject, { callback });
  }
}
