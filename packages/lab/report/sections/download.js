import { html, markup } from '../escape.js';

/** Letters that would end the address or the attribute, or are not ASCII. */
const RESERVED = /[^\x20-\x7e]+|[%#'<>&]/gu;

/** The results as they were put in, in an address of their own: neither a script nor the network is needed. */
export function downloadSection(results) {
  const json = JSON.stringify(results).replace(RESERVED, encodeAll);
  const name = `${results.experiment}-${results.date}.json`.replace(/[^\w.-]+/g, '-');
  return html`<p class="download"><a download="${name}" href='${markup(`data:application/json;charset=utf-8,${json}`)}'>Download the raw data</a> <span class="unit">JSON: every round and its samples</span></p>
`;
}

/** `encodeURIComponent` leaves the apostrophe. */
const encodeAll = (text) => encodeURIComponent(text).replaceAll("'", '%27');
