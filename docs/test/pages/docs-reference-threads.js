import { copyFile, mkdir } from 'node:fs/promises';
import { build } from '../../../packages/millrace/test/threads/build.js';

export async function setup() {
  await mkdir('build/Release', { recursive: true });
  await copyFile(build('example/squares.c'), 'build/Release/squares.node');
}
