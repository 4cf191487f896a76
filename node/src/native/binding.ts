/** What the addon exports, as TypeScript sees it. One interface for each of its files. */

export type FanOutBinding = object;

export type FilesBinding = object;

export type EnlargeBinding = object;

export type RingBinding = object;

export interface Binding extends FanOutBinding, FilesBinding, EnlargeBinding, RingBinding {
  /** Of libuvbatch in the addon. */
  readonly version: string;
  /** Of libuv in the process. */
  readonly uv: string;
}
