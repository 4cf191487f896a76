/**
 * List of the requests of a connection of autocannon that are under way, in place of its own: that one takes an answer for that to an older
 * request when a connection was cut, says nothing of the cut, and reads bodies as text.
 */
export class Exchanges {
  #request = null;
  #isClosing = false;
  #onCut;

  /** @param {() => void} onCut called for each request that goes without an answer, except those that time out */
  constructor(onCut) {
    this.#onCut = onCut;
  }

  insertRequest(req) {
    if (this.#request !== null && !this.#request.isVain) this.#onCut();
    // A server that has said that it closes need not read what is sent all the same.
    const isVain = this.#isClosing;
    this.#isClosing = false;
    this.#request = { req, isVain, bytes: 0, parts: [], headers: {}, start: performance.now() };
  }

  addByteCount(count) {
    if (this.#request) this.#request.bytes += count;
  }

  addBody(part) {
    this.#request?.parts.push(part);
  }

  setHeaders(headers) {
    if (this.#request) this.#request.headers = headers;
  }

  /** @returns {{ req: object, bytes: number, body: Buffer, headers: object, duration: number }} duration in ms */
  terminateRequest() {
    const { start, parts, ...answer } = this.#request;
    this.#request = null;
    this.#isClosing = answer.headers.shouldKeepAlive === false;
    const body = parts.length === 1 ? parts[0] : Buffer.concat(parts);
    return { ...answer, body, duration: performance.now() - start };
  }

  size() {
    return this.#request === null ? 0 : 1;
  }

  clear() {
    this.#request = null;
    this.#isClosing = false;
  }
}
