import { parentPort } from 'node:worker_threads';

import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input, Logging, LogLevel } from 'mediabunny';

import type { FirstFrame } from './decoder-messages.ts';
import { imageDecoder, packetsAlone } from './h264.ts';

/** The thread that takes the first image out of one video, and decodes it where it is H.264 of the Baseline profile. */

// What it tells of odd files would stand between the lines of the log.
Logging.level = LogLevel.Silent;

parentPort?.once('message', (video: Uint8Array) => {
  void decodeFirstFrame(video)
    .catch(() => null)
    .then((image) => {
      parentPort?.postMessage(image);
    });
});

async function decodeFirstFrame(video: Uint8Array): Promise<FirstFrame | null> {
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(video) });
  try {
    const track = await input.getPrimaryVideoTrack();
    const packet = track === null ? null : await new EncodedPacketSink(track).getFirstPacket();
    if (track === null || packet === null) return null;
    const rotation = await track.getRotation();
    const decoded = (await imageDecoder(track))?.(packet)?.() ?? null;
    const first = packet.clone({ timestamp: 0 });
    return { decoded, packet: decoded === null ? await packetsAlone(track, [first]) : null, rotation };
  } finally {
    input.dispose();
  }
}
