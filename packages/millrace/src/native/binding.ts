/** Types of the addon's exports. One interface for each of its files. */

export interface FanOutBinding {
  /** Sets the backend for sends, once: 0 by a probe, 1 plain sends, 2 io_uring. Returns the chosen one; throws if it is unavailable. */
  fanoutOpen(flags: number): 'send' | 'io_uring' | 'try_write';
  /**
   * Sends to many sockets; `groups` has four numbers for each group: offset and length of its content in `bytes`, first
   * and number of its sockets in `fds`. Writes to `results` the bytes that each socket took, or a negative code of libuv.
   * Returns the number of sockets that took everything.
   */
  fanoutSend(
    bytes: Uint8Array,
    groups: Int32Array,
    groupCount: number,
    fds: Int32Array,
    results: Int32Array,
  ): number;
}

/** Backend for files, the result of `filesOpen`. */
export type FilesHandle = object & { readonly files: unique symbol };

export interface FilesBinding {
  /**
   * `settings`: files (0 to 64) and bytes per turn that are read on the loop, and the most bytes of such a file (a larger one fails with
   * UV_EFBIG); the bytes of a region, the part of the slab behind those; concurrent jobs for files in memory and for others; files per
   * job; ms after which files no longer wait for the one before them. `call(count)` runs when a job is over: `records` then has `count`
   * results of four numbers each: the id, the bytes or a negative code of libuv, the offset of the bytes in the slab (-1: in the next
   * buffer of `large`), and the failed system call (0 open, 1 fstat, 2 read, 3 write, 4 fdatasync, 5 close, or -1). Read them before
   * `call` returns. `counts` has the files answered on the loop and the jobs so far, and the files and bytes that the loop may still
   * read in this turn.
   */
  filesOpen(
    settings: Int32Array,
    slab: Uint8Array,
    records: Int32Array,
    large: ArrayBuffer[],
    counts: Uint32Array,
    call: (count: number) => void,
  ): FilesHandle;
  /**
   * Reads files; each path in the first `length` bytes of `paths` ends with a NUL. Returns the number of results ready in
   * `records`; the others are passed to `call`. Below 0: an error of libuv, and no read has begun. For UV_ESPIPE of a FIFO the offset
   * field is its open descriptor.
   */
  filesRead(
    handle: FilesHandle,
    paths: Uint8Array,
    length: number,
    ids: Int32Array,
    count: number,
  ): number;
  /**
   * Appends records to a file: its path ends with a NUL, and `ends` has the end offset of each record in the bytes. Keep the bytes unchanged
   * until `call` gets numbers with -1 as the third, and as the second the open descriptor of a FIFO, which is not written to, or -1.
   * Numbers for each failed record, with its index there, come before. Returns 0, or an error of libuv, and no append has begun.
   */
  filesAppend(
    handle: FilesHandle,
    path: Uint8Array,
    bytes: Uint8Array,
    ends: Uint32Array,
    id: number,
    mode: number,
    durable: boolean,
  ): number;
}

/** The result of `callbacksOpen`. */
export type CallbacksHandle = object & { readonly callbacks: unique symbol };

export interface CallbacksBinding {
  /**
   * Calls `call` as often as the number in `due`, each time in a macrotask of its own, in the phase of the loop that runs callbacks
   * of files. Subtracts the calls made from the number.
   */
  callbacksOpen(due: Uint32Array, call: () => void): CallbacksHandle;
  /** Signals that the number is no longer 0. */
  callbacksWake(handle: CallbacksHandle): void;
}

/**
 * Non-blocking system calls on regular files of local file systems; each refuses if it would wait, without a change. -2 - ID
 * stands for a mount that `fileMount()` has not described yet.
 */
export interface FileCallsBinding {
  /** Reports whether the system can look at a file without waiting. */
  fileCanLook(): boolean;
  /**
   * Looks up a file whose path is in the kernel's cache. Returns a descriptor for `fstat` alone, to be closed by `fileDrop()`; -1: refused;
   * less: a mount. `follows`: follow symbolic links at its end.
   */
  fileLook(path: string | Uint8Array, follows: boolean): number;
  /** Opens a file for reading. Same results as `fileLook()`. */
  fileOpen(path: string | Uint8Array): number;
  /** Reports whether the file system of a mount is local. */
  fileMount(id: number, isLocal: boolean): void;
  /** Reports whether a descriptor belongs to such a file that has not been deleted. */
  fileCheck(fd: number): boolean;
  /**
   * Reads from `position`, or from the descriptor's offset if `position` is negative. Returns the bytes read: all requested, or those up
   * to the end of the file; -1: refused.
   */
  fileRead(
    fd: number,
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): number;
  /** Closes a descriptor for reading such a file; false: refused. */
  fileClose(fd: number): boolean;
  fileDrop(fd: number): void;
}

export interface EnlargeBinding {
  /**
   * Searches the loop for open TCP handles by their descriptors and enables larger reads for them. `options` has eight
   * numbers for each descriptor; `places` gets a place for each, or an error of libuv, below 0.
   */
  enlargeFind(descriptors: Int32Array, options: Float64Array, places: Int32Array): void;
  /** Restarts the larger reads, after a successful `readStart()` of the handle. */
  enlargeRestart(place: number): void;
  /** Frees the place. `open`: the handle is not closed, and gets its own callbacks back. */
  enlargeEnd(place: number, open: boolean): void;
  /** Writes nine numbers; returns false if there is no data. */
  enlargeStats(place: number, stats: Float64Array): boolean;
}

interface RingBinding {
  /** Functions of millrace.h; opaque to JavaScript. */
  readonly threads: object;
}

export interface Binding
  extends FanOutBinding,
    FilesBinding,
    CallbacksBinding,
    FileCallsBinding,
    EnlargeBinding,
    RingBinding {
  /** Version of libuvbatch in the addon. */
  readonly version: string;
  /** Version of libuv in the process. */
  readonly uv: string;
  /** Version of the package that it was built from. */
  readonly package: string;
}
