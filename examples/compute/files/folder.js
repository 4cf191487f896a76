import { createWriteStream } from 'node:fs';
import { mkdtemp, readdir, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { HttpError } from '../http/errors.js';

const MOST_NAMES = 100;

/** The files of one folder on the server's disk, and nothing outside of it. */
export class Folder {
  #path;

  /** @throws when there is none */
  static async open(path) {
    const folder = new Folder();
    folder.#path = await realpath(path);
    if (!(await stat(folder.#path)).isDirectory()) throw new Error(`${path} is not a folder`);
    return folder;
  }

  /** Names of the files; of the first few, if there are many. */
  async names() {
    const entries = await readdir(this.#path, { withFileTypes: true });
    const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
    return names.sort().slice(0, MOST_NAMES);
  }

  /** The path of a file. @throws {HttpError} when there is none of this name, or it leads out of the folder */
  async find(name) {
    const path = join(this.#path, basename(name));
    const real = basename(name) === name && (await realpath(path).catch(() => undefined));
    if (real !== path || !(await stat(real)).isFile()) throw unknown(name);
    return path;
  }

  async close() {}
}

/** In place of a folder: one file, made when it is first asked for, which goes with the service. */
export class Sample {
  #content;
  #made;

  /** @param {() => AsyncIterable<Uint8Array>} content */
  constructor(content) {
    this.#content = content;
  }

  async names() {
    return ['sample.ndjson'];
  }

  async find(name) {
    if (name !== 'sample.ndjson') throw unknown(name);
    // Once, also when several ask for it; again, when it failed.
    this.#made ??= this.#make().catch((error) => {
      this.#made = undefined;
      throw error;
    });
    return join(await this.#made, name);
  }

  async close() {
    const folder = await this.#made?.catch(() => undefined);
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }

  async #make() {
    const folder = await mkdtemp(join(tmpdir(), 'millrace-compute-'));
    try {
      await pipeline(
        Readable.from(this.#content()),
        createWriteStream(join(folder, 'sample.ndjson')),
      );
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
    return folder;
  }
}

const unknown = (name) =>
  new HttpError('unknown_file', `There is no file ${JSON.stringify(name)} to process.`);
