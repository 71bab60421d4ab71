import { MAX_SLOTS } from './protocol.ts';

/** Which texts the other side of a connection remembers. */
export interface Slots {
  /** The members of a message that say which text it is of: its place, and the text itself where the place is new. */
  of(text: string): string;
}

/** The places of texts that the other side remembers, the oldest given to a new one when all are taken. */
export function createSlots(most = MAX_SLOTS): Slots {
  const places = new Map<string, number>();
  return {
    of(text) {
      const known = places.get(text);
      if (known !== undefined) return `"slot":${known}`;
      const [oldest] = places.size < most ? [] : places;
      if (oldest !== undefined) places.delete(oldest[0]);
      const slot = oldest?.[1] ?? places.size;
      places.set(text, slot);
      return `"slot":${slot},"text":${JSON.stringify(text)}`;
    },
  };
}
