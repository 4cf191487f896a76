import * as http from './http.js';
import * as program from './program.js';
import * as requests from './requests.js';
import * as script from './script.js';
import * as ws from './ws.js';

/**
 * Kinds of loads; a new kind is a file beside this one. Each has
 *
 * - `form`: its keys, as format.js has them, without `kind` and what all kinds have
 * - `drive(context)`: loads the server once
 *
 * @type {Record<string, { form: object, drive: (context: Context) => Promise<Outcome | null>, isProgram?: boolean }>}
 *
 * @typedef {object} Context
 * @property {string} url of the server
 * @property {object} load the experiment's
 * @property {object} params the case, with `size` and `seed`
 * @property {import('../format.js').Arm} [arm] its functions of the params already called
 * @property {import('../../run/server.js').Server} [server] whose command is the load itself; `program`
 * @property {AbortSignal} [signal] ends it; the promise is then rejected with the reason
 * @property {number} timeoutS for what is still to come after the load's own time
 * @property {'warmup' | 'measure'} phase a kind that warms up by itself, or not at all, resolves to null in the first
 * @property {() => number} [cpuUs] of the server so far
 * @property {() => void} [begin] called when the measured window begins, by a kind that knows better than the caller
 * @property {() => void} [end] called when it ends
 *
 * @typedef {object} Outcome
 * @property {boolean} isClosed whether the number of answers depends on the server
 * @property {Group[]} work by which arms are compared
 * @property {Record<string, number | null>} values the kind's own figures; `answers` of the measured window and
 *   `answers_per_s` are always there
 * @property {{ n: number, p50: number, p90: number, p99: number, p999: number, max: number, mean: number } | null}
 *   latency ms
 * @property {[share: number, ms: number][] | null} percentiles of it
 * @property {Record<string, [seconds: number, value: number][]>} series
 * @property {string | null} saturated a sentence, when the generator was the limit
 * @property {string | null} [late] a sentence, when it was late: `latency` is null then, and all else counts
 * @property {string[]} faults sentences: why the run does not count
 * @property {string[]} [notes] sentences: what a reader should know
 * @property {string} [first] the first answer to each request, head and body
 * @property {import('./requests.js').Answer[]} [answers] of `requests`
 * @property {object} [json] what a script returned or a program printed
 *
 * @typedef {object} Group
 * @property {string} name
 * @property {number} answers
 * @property {Record<string, number>} status
 * @property {number} bytes of an answer's body on average
 * @property {string | null} payload fingerprint; null when answers cannot be compared
 * @property {boolean} [varies] they cannot, as they differ within the run
 * @property {boolean} [mayFail] only the number is compared
 * @property {string} [dueTimes] open loop: when they were due
 * @property {number} [bytesTolerance] by which share sizes may differ, where it is not the usual one
 */
export const loads = { requests, http, ws, script, program };
