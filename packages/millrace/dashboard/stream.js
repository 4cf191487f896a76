/** The connection to the server. */

/** A browser gives up after an answer that is no stream; this page does not. */
const againMs = 3000;
const kinds = ['hello', 'sample', 'process', 'forgotten', 'mark', 'report', 'watch'];

/**
 * @param {Record<string, (data: any) => void>} handlers one for each kind of event
 * @param {(state: 'live' | 'lost') => void} onState
 */
export function openStream(handlers, onState) {
  const source = new EventSource('api/events');
  for (const kind of kinds) {
    source.addEventListener(kind, ({ data }) => handlers[kind](JSON.parse(data)));
  }
  source.addEventListener('open', () => onState('live'));
  source.addEventListener('error', () => {
    onState('lost');
    if (source.readyState !== EventSource.CLOSED) return;
    source.close();
    setTimeout(() => openStream(handlers, onState), againMs);
  });
}
