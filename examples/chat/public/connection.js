const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 15_000;

/** Close codes after which coming back by itself would be wrong. */
const REPLACED = 4001;

/**
 * The WebSocket, kept alive: reconnects with growing pauses and says what it does.
 * Events: `frame` (detail: the parsed frame) and `state` (detail: {state, retryAt?}), state being
 * connecting, online, waiting or replaced.
 */
export class Connection extends EventTarget {
  #socket = null;
  #attempts = 0;
  #timer = null;
  #query;

  /** @param {() => Record<string, string>} query what to say about oneself on connecting */
  constructor(query) {
    super();
    this.#query = query;
    addEventListener('online', () => this.retryNow());
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) this.retryNow();
    });
  }

  get isOnline() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  connect() {
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#tell('connecting');
    const url = new URL('/ws', location.href);
    url.protocol = url.protocol.replace('http', 'ws');
    for (const [key, value] of Object.entries(this.#query())) {
      if (value) url.searchParams.set(key, value);
    }
    const socket = new WebSocket(url);
    this.#socket = socket;
    socket.onmessage = ({ data }) => {
      const frame = JSON.parse(data);
      if (frame.t === 'hello') {
        this.#attempts = 0;
        this.#tell('online');
      }
      this.dispatchEvent(new CustomEvent('frame', { detail: frame }));
    };
    socket.onclose = ({ code }) => {
      if (socket !== this.#socket) return;
      this.#socket = null;
      if (code === REPLACED) this.#tell('replaced');
      else this.#retryLater();
    };
  }

  /** Connects at once if it was waiting to. */
  retryNow() {
    if (this.#timer !== null) this.connect();
  }

  /** @returns {boolean} false when there is no connection: nothing was sent */
  send(frame) {
    if (!this.isOnline) return false;
    this.#socket.send(JSON.stringify(frame));
    return true;
  }

  #retryLater() {
    const pause = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#attempts);
    this.#attempts += 1;
    // Spread out, so that a restarted server is not met by everybody at once.
    const waitMs = pause * (0.75 + Math.random() / 2);
    this.#timer = setTimeout(() => this.connect(), waitMs);
    this.#tell('waiting', Date.now() + waitMs);
  }

  #tell(state, retryAt) {
    this.dispatchEvent(new CustomEvent('state', { detail: { state, retryAt } }));
  }
}
