/**
 * The functions of Node.js as they were when this module was first loaded. It is CommonJS, so that whoever replaces them
 * can load it right before: ours must keep calling these, or there would be a loop.
 */
import { builtin } from '@millrace/base/realm';

const fs = builtin('node:fs');

export const { readFile, writeFile, appendFile } = fs.promises;
export const { readFile: readWithCallback } = fs;
