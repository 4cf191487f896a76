/** Types of the addon's exports. One interface for each of its files. */

export interface FanOutBinding {
  /** Chooses how to send, once: 0 by a probe, 1 plain sends, 2 io_uring. Returns which it is, or throws why it cannot be. */
  fanoutOpen(flags: number): 'send' | 'io_uring' | 'try_write';
  /**
   * Sends to many sockets; `groups` has four numbers for each group: offset and length of its content in `bytes`, first
   * and number of its sockets in `fds`. Leaves in `results` the bytes that each socket took, or a negative code of libuv.
   * Returns how many took everything.
   */
  fanoutSend(
    bytes: Uint8Array,
    groups: Int32Array,
    groupCount: number,
    fds: Int32Array,
    results: Int32Array,
  ): number;
}

/** One backend for files: what `filesOpen` gives. */
export type FilesHandle = object & { readonly files: unique symbol };

export interface FilesBinding {
  /**
   * `settings`: the files (0 to 64) and the bytes of one turn that are read on the loop, and the bytes of the largest of these files (a
   * larger one fails with UV_EFBIG); the bytes of a region, which are what the slab has behind those; jobs at a time for files in memory and for others; files in one job; the ms after which
   * files no longer wait for the one before them. `call(count)` runs when a job is over: so many results are in `records`, of
   * four numbers each: the id, the bytes or a negative code of libuv, where in the slab the bytes are (-1: in the next buffer
   * of `large`), and the system call that failed (0 open, 1 fstat, 2 read, 3 write, 4 fdatasync, 5 close, or -1). They are to
   * be taken before it returns. `counts` has the files answered on the loop so far, the jobs so far, and the files and the
   * bytes that the loop may still read in this turn.
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
   * Reads files; each path in the first `length` bytes of `paths` ends with a NUL. Returns how many results are ready in
   * `records`; the others come to `call`. Below 0: an error of libuv, and nothing was begun. UV_ESPIPE of a FIFO has its open
   * descriptor in place of where the bytes are.
   */
  filesRead(
    handle: FilesHandle,
    paths: Uint8Array,
    length: number,
    ids: Int32Array,
    count: number,
  ): number;
  /**
   * Appends records to a file: its path ends with a NUL, and `ends` has where each record ends in the bytes. These must stay as they are
   * until `call` gets numbers with -1 as the third, and as the second the open descriptor of a FIFO, which is not written to, or -1;
   * before them come some for each record that failed, with its index there. Returns 0, or an error of libuv, and nothing was begun.
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
   * Calls `call` as many times as `due`, one number, says, each time in a macrotask of its own, in the phase of the loop in which callbacks
   * of files are called. It takes those that it has called from the number.
   */
  callbacksOpen(due: Uint32Array, call: () => void): CallbacksHandle;
  /** The number is not 0 any more. */
  callbacksWake(handle: CallbacksHandle): void;
}

/**
 * System calls that do not wait, on regular files of local file systems; each refuses where it would, and has changed nothing. -2 - ID
 * stands for a mount of which `fileMount()` has told nothing yet.
 */
export interface FileCallsBinding {
  /** Reports whether the system can look at a file without waiting. */
  fileCanLook(): boolean;
  /**
   * Finds a file whose place is in the kernel's memory. Returns a descriptor for `fstat` alone, which `fileDrop()` closes; -1: refused; or
   * below that a mount. `follows`: symbolic links at its end.
   */
  fileLook(path: string | Uint8Array, follows: boolean): number;
  /** Opens a file for reading. Returns as `fileLook()` does. */
  fileOpen(path: string | Uint8Array): number;
  /** Tells whether the file system of a mount is local. */
  fileMount(id: number, isLocal: boolean): void;
  /** Reports whether a descriptor is one of such a file, and not of one that has been deleted. */
  fileCheck(fd: number): boolean;
  /**
   * Reads from `position`, or where the descriptor stands if that is negative. Returns the bytes: all that were asked for, or those up
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
   * numbers for each descriptor; `places` gets a place for each, or an error of libuv, which is below 0.
   */
  enlargeFind(descriptors: Int32Array, options: Float64Array, places: Int32Array): void;
  /** After a successful `readStart()` of the handle. */
  enlargeRestart(place: number): void;
  /** Frees the place. `open`: the handle is not closed, and gets its own callbacks back. */
  enlargeEnd(place: number, open: boolean): void;
  /** Fills in nine numbers; false where there is nothing to tell. */
  enlargeStats(place: number, stats: Float64Array): boolean;
}

interface RingBinding {
  /** The functions of millrace.h, which JavaScript can only pass on. */
  readonly threads: object;
}

export interface Binding
  extends FanOutBinding,
    FilesBinding,
    CallbacksBinding,
    FileCallsBinding,
    EnlargeBinding,
    RingBinding {
  /** Of libuvbatch in the addon. */
  readonly version: string;
  /** Of libuv in the process. */
  readonly uv: string;
  /** Of the package that it was built from. */
  readonly package: string;
}
