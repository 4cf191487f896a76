/** Whom a message is for, as its head says. */
import type { Head } from './record.js';
import type { Recipients } from './socket-io.js';

export function headOf({ rooms, except, flags }: Recipients): object {
  return {
    rooms: [...rooms],
    ...(except.size > 0 && { except: [...except] }),
    ...(flags?.volatile && { volatile: true }),
    ...(flags?.compress !== undefined && { compress: flags.compress }),
  };
}

/** The reverse; null for what is not well-formed. */
export function recipientsOf({ rooms, except = [], volatile, compress }: Head): Recipients | null {
  if (!areTexts(rooms) || !areTexts(except)) return null;
  return {
    rooms: new Set(rooms),
    except: new Set(except),
    flags: {
      ...(volatile === true && { volatile }),
      ...(typeof compress === 'boolean' && { compress }),
    },
  };
}

export const areTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');
