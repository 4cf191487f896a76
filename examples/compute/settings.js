/** The bounds of what one request may ask for, and of how many there may be. */

/** The greatest n. By the paper's algorithm 3,000,000 takes minutes; doubling needs a second for 10,000,000. */
export const MOST_N = { paper: 3_000_000, doubling: 10_000_000 };

/** N of a computation by additions on the main thread, where nothing else happens meanwhile, not even a signal. */
export const BLOCKING_N = 2_000_000;

export const MOST_N_RSA = { paper: 3_000_000, doubling: 3_000_000 };

/** Part of `most` that the main thread accepts. */
export const whenBlocking = (most, blockingN) => ({ ...most, paper: blockingN });

/** RSA's usual public exponent, and the greatest; each binary digit of it costs a squaring. */
export const EXPONENT = 65_537;
export const MOST_EXPONENT = 1_048_576;

export const RECORDS = 1_000_000;
export const MOST_RECORDS = 10_000_000;

/** Requests that block the main thread on purpose and wait for their turn. */
export const MOST_BLOCKING = 3;

/** Requests at the same time that are divided into many tasks. */
export const MOST_DIVIDED = 4;

/** Records of one task: a fraction of a second. And of one piece of their text: about a megabyte and a half. */
export const RECORDS_PER_TASK = 50_000;
export const RECORDS_PER_PIECE = 10_000;

/** Bytes of an upload that go to one task; a line longer than the second is handed on in pieces. */
export const PIECE_BYTES = 1024 * 1024;
export const MOST_PIECE_BYTES = 4 * 1024 * 1024;
export const MOST_UPLOAD_BYTES = 16 * 1024 ** 3;

/** A client that neither takes nor sends a byte for so long, though it is waited for, has its connection closed. */
export const IDLE_MS = 30_000;

/** Time by which a request has to be there, the slowest upload too; Node.js allows 5 minutes unless told. */
export const REQUEST_TIMEOUT_MS = 24 * 3_600_000;

/** Pages that listen to what happens. */
export const MOST_STREAMS = 100;

/** Time for which a process of a cluster that is to end goes on with its tasks. Less than @millrace/cluster grants it. */
export const DRAIN_MS = 2_000;

/** Ranges of a file for each thread: threads that are done early take over from others. */
export const RANGES_PER_THREAD = 4;
export const LEAST_RANGE_BYTES = 1024 * 1024;

/** Records of the sample file, which has some 70 MB. */
export const SAMPLE_RECORDS = 500_000;

/** Tasks that may wait for a thread. */
export const QUEUE = 100;

/** Time after which a task has taken too long. */
export const TASK_TIMEOUT_MS = 600_000;

/** Time limit and largest response of the photo service. */
export const PHOTOS_TIMEOUT_MS = 5_000;
export const MOST_PHOTO_BYTES = 16 * 1024 * 1024;
