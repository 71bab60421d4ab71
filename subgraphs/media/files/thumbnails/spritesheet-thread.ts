import { parentPort } from 'node:worker_threads';

import {
  ALL_FORMATS,
  BufferSource,
  EncodedPacketSink,
  Input,
  type InputVideoTrack,
  Logging,
  LogLevel,
} from 'mediabunny';

import { type DecodedImage, SHEET_IMAGES, type SheetImages } from './decoder-messages.ts';
import { imageDecoder, packetsAlone } from './h264.ts';

/** The thread that takes images at even distances out of one video, and decodes them where they are H.264 of the Baseline profile. */

/** Widest image that is kept while the others are decoded. */
const MAX_WIDTH = 640;

// What it tells of odd files would stand between the lines of the log.
Logging.level = LogLevel.Silent;

parentPort?.once('message', (video: Uint8Array) => {
  void decodeImages(video)
    .catch(() => null)
    .then((images) => {
      parentPort?.postMessage(images);
    });
});

async function decodeImages(video: Uint8Array): Promise<SheetImages | null> {
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(video) });
  try {
    const track = await input.getPrimaryVideoTrack();
    if (track === null) return null;
    const [start, rotation] = [await track.getFirstTimestamp(), await track.getRotation()];
    const duration = (await track.computeDuration()) - start;
    const decoded = await decode(track, start, duration);
    const packets = new EncodedPacketSink(track).packets();
    const film = decoded === null ? await packetsAlone(track, packets) : null;
    return { decoded, film, duration, rotation };
  } finally {
    input.dispose();
  }
}

/** Every packet is decoded: each depends on those before it. */
async function decode(
  track: InputVideoTrack,
  start: number,
  duration: number,
): Promise<readonly DecodedImage[] | null> {
  const decoder = await imageDecoder(track);
  if (decoder === null) return null;
  const images: DecodedImage[] = [];
  for await (const packet of new EncodedPacketSink(track).packets()) {
    const image = decoder(packet);
    const wanted = start + (images.length * duration) / SHEET_IMAGES;
    if (image !== null && packet.timestamp >= wanted - 1e-6) images.push(smaller(image()));
    if (images.length === SHEET_IMAGES) break;
  }
  return images.length === 0 ? null : images;
}

/** An image of at most so many columns, by leaving some out: it is made smaller still afterwards. */
function smaller({ rgb, width, height }: DecodedImage): DecodedImage {
  const step = Math.ceil(width / MAX_WIDTH);
  if (step === 1) return { rgb, width, height };
  const [columns, rows] = [Math.floor(width / step), Math.floor(height / step)];
  const kept = new Uint8Array(columns * rows * 3);
  for (let y = 0; y < rows; y += 1) {
    for (let x = 0; x < columns; x += 1) {
      const from = (y * step * width + x * step) * 3;
      kept.set(rgb.subarray(from, from + 3), (y * columns + x) * 3);
    }
  }
  return { rgb: kept, width: columns, height: rows };
}
