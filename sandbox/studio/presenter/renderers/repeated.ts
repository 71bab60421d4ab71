import type { EncodedPacket } from 'mediabunny';

import { StudioError } from '../../types/media-types.ts';

/** The repeated packets of a video. */
interface Repeated {
  readonly packets: Iterable<EncodedPacket>;
  /** Pictures a second. */
  readonly rate: number;
}

/** Minimum duration of a loop. */
const SHORTEST_SECONDS = 1 / 60;
/** Tolerance for rounding at the end. */
const NOTHING = 0.001;
const LARGEST_BYTES = 256 * 1024 * 1024;

/** Repeats packets (in decoding order, the first a key frame) up to a duration. Throws OUT_OF_RANGE when the file would be too large. */
export function repeated(packets: readonly EncodedPacket[], seconds: number): Repeated {
  const start = packets.reduce((least, { timestamp }) => Math.min(least, timestamp), Infinity);
  const end = packets.reduce((most, { timestamp, duration }) => Math.max(most, timestamp + duration), start);
  const period = Math.max(SHORTEST_SECONDS, end - start);
  const rounds = Math.ceil(seconds / period);
  const bytes = packets.reduce((sum, { byteLength }) => sum + byteLength, 0) * rounds;
  if (bytes > LARGEST_BYTES) {
    throw new StudioError(
      'OUT_OF_RANGE',
      `video: with the new sound it would be larger than ${LARGEST_BYTES / 1024 / 1024} MB`,
    );
  }
  const rate = Math.round((packets.length / period) * 100) / 100;
  return { packets: rounded(packets, { start, period, seconds }), rate };
}

function* rounded(
  packets: readonly EncodedPacket[],
  { start, period, seconds }: { readonly start: number; readonly period: number; readonly seconds: number },
): Iterable<EncodedPacket> {
  const end = seconds - NOTHING;
  for (let round = 0; round * period < end; round += 1) {
    const from = round * period;
    // In decoding order: a packet shown after the end may be needed by later packets.
    const last = packets.findLastIndex(({ timestamp }) => timestamp - start + from < end);
    for (const packet of packets.slice(0, last + 1)) {
      const timestamp = packet.timestamp - start + from;
      const left = Math.max(SHORTEST_SECONDS, seconds - timestamp);
      yield packet.clone({ timestamp, duration: Math.min(packet.duration, left) });
    }
  }
}
