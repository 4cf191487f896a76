/** What the broker says of a message that it delivers: in the subject to which it is acknowledged. */
export interface Delivery {
  /** Tells the message from all others of its stream, also from those of an earlier stream of that name. */
  readonly key: string;
  /** Its number in the stream. */
  readonly sequence: string;
  /** How often it was delivered, this time included. */
  readonly count: number;
}

/** `$JS.ACK.STREAM.CONSUMER.count.sequence.….time.pending`, or with the domain and account before the stream. Null for anything else. */
export function deliveryOf(reply: string | undefined): Delivery | null {
  const tokens = reply?.split('.') ?? [];
  if (tokens[0] !== '$JS' || tokens[1] !== 'ACK' || tokens.length < 9) return null;
  const at = tokens.length === 9 ? 4 : 6;
  const count = Number(tokens[at]);
  if (!Number.isInteger(count)) return null;
  const sequence = tokens[at + 1]!;
  return { key: `${sequence}.${tokens[at + 3]}`, sequence, count };
}
