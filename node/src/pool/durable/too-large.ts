import { batchHead, recordBytes } from '../../broker/wire.js';
import { MillraceError } from '../../errors.js';
import { headerRoom } from './publisher.js';

/** The error of what does not fit into a message of the broker; null if it does. */
export function tooLarge(what: string, bytes: number, maxPayload: number): MillraceError | null {
  const most = maxPayload - headerRoom - batchHead - recordBytes(0);
  if (bytes <= most) return null;
  return new MillraceError(
    'MILLRACE_E_TOO_LARGE',
    `${what} has ${bytes} bytes, and the broker takes ${most}; send where the data is instead of the data, or raise max_payload of nats-server`,
  );
}
