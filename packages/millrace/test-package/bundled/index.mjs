import { BatchEmitter, batch, native, nativeError } from 'millrace';
import { main } from '../../../../scripts/lib/bundled/main.mjs';

main(async () => {
  const sizes = [];
  const double = batch(async (items) => {
    sizes.push(items.length);
    return items.map((item) => item * 2);
  });
  const doubled = await Promise.all([double(1), double(2)]);
  const emitter = new BatchEmitter({ policy: 'fixed', maxDelay: 5 });
  const seen = await new Promise((resolve) => {
    emitter.onBatch('event', resolve);
    emitter.emit('event', 'a');
    emitter.emit('event', 'b');
  });
  return { doubled, sizes, seen, native, nativeError };
});
