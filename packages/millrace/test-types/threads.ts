// The module for authors of addons as its users' compilers see it.
import { type Api, api, include } from 'millrace/threads';

declare const addon: { start(api: Api, callback: (buffer: ArrayBuffer) => void): void };

addon.start(api(), (buffer) => void buffer.byteLength);
const folder: string = include;
// @ts-expect-error: a function
addon.start(api, () => {});
// @ts-expect-error: millrace makes it
addon.start({}, () => {});

void folder;
