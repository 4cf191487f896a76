/** Bytes that are the same for several sockets: joined at most once, and only where somebody needs them joined. */
export interface Content {
  /** Bytes. */
  readonly length: number;
  /** Puts them into `target`, from `offset` on. */
  copyTo(target: Buffer, offset: number): void;
  /** Returns all bytes in one Buffer, which is never changed. */
  bytes(): Buffer;
}
