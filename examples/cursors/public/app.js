// Four views of the same cursors. The page and the server share a clock: they run on one machine.

/** The time after which a cursor is drawn at its palest, in ms. */
const palest = 5000;

class View {
  /** Places of the cursors, with their times. */
  cursors = new Map();
  #ages = [];
  #state = 'connecting…';

  constructor(section) {
    this.canvas = section.querySelector('canvas');
    this.age = section.querySelector('[data-age]');
    this.rate = section.querySelector('[data-rate]');
    const { path, source } = section.dataset;
    if (source === 'events') this.#readEvents(path);
    else this.#readSocket(path);
  }

  #readSocket(path) {
    const socket = new WebSocket(`ws://${location.host}${path}`);
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => {
      this.#state = null;
    };
    socket.onmessage = ({ data }) => this.#take(new DataView(data));
    socket.onclose = ({ code }) => {
      this.#state = code === 1013 ? 'closed: too slow' : 'closed';
    };
  }

  /** An event is text: the same bytes come in base64. */
  #readEvents(path) {
    const source = new EventSource(path);
    source.onopen = () => {
      this.#state = null;
    };
    source.onmessage = ({ data }) => {
      const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
      this.#take(new DataView(bytes.buffer));
    };
    source.onerror = () => {
      this.#state = 'connecting again…';
    };
  }

  #take(message) {
    const time = message.getFloat64(6);
    const place = { x: message.getUint16(2) / 65535, y: message.getUint16(4) / 65535, time };
    this.cursors.set(message.getUint16(0), place);
    this.#ages.push(Date.now() - time);
  }

  /** Shows the figures of the last second. */
  tell() {
    const ages = this.#ages.splice(0).sort((a, b) => a - b);
    const median = ages[Math.floor(ages.length / 2)];
    if (this.#state !== null) this.age.textContent = this.#state;
    else if (median !== undefined) this.age.textContent = `${(median / 1000).toFixed(1)} s`;
    this.rate.textContent = ages.length.toLocaleString('en');
  }

  draw(now) {
    const { width, height } = this.canvas;
    const context = this.canvas.getContext('2d');
    context.clearRect(0, 0, width, height);
    context.fillStyle = '#8888';
    for (const { x, y } of views[0].cursors.values()) context.fillRect(x * width, y * height, 2, 2);
    for (const [id, { x, y, time }] of this.cursors) {
      const paleness = Math.min(1, (now - time) / palest);
      context.fillStyle = `hsl(${(id * 47) % 360} 80% 50% / ${1 - 0.9 * paleness})`;
      context.fillRect(x * width - 2, y * height - 2, 4, 4);
    }
  }
}

const views = [...document.querySelectorAll('section')].map((section) => new View(section));

function frame() {
  const now = Date.now();
  for (const view of views) view.draw(now);
  requestAnimationFrame(frame);
}
frame();
setInterval(() => {
  for (const view of views) view.tell();
}, 1000);
