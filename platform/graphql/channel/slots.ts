import { MAX_SLOTS } from './protocol.ts';

/** The places of texts that the other side remembers, the oldest given to a new one when all are taken. */
export function createSlots(most = MAX_SLOTS) {
  const places = new Map<string, number>();
  return {
    /** The members of a message that say which text it is of: its place, and the text itself where the place is new. */
    of(text: string): string {
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
