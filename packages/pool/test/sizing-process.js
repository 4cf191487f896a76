/** A process that listens for its share, and says what it hears. SCENARIO says what else it does. */
import { cpuShare, onShare } from '@millrace/base/limits/limits';

const count = () => process.listenerCount('message');
const before = count();
const scenario = process.env.SCENARIO;

if (scenario === 'throws') {
  process.on('uncaughtException', ({ message }) => process.send({ uncaught: message }));
  onShare(() => {
    throw new Error('of the first listener');
  });
}
const stop = onShare((share) => process.send({ share, env: process.env.MILLRACE_CPUS }));
const stopAnother = onShare(() => {});
const listeners = count() - before;
process.send({ start: cpuShare(), listeners });

if (scenario === 'stops') {
  stop();
  stop();
  const one = count() - before;
  stopAnother();
  process.send({ one, none: count() - before });
}
if (scenario === 'unref') process.channel.unref();
