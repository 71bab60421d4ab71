import { parentPort } from 'node:worker_threads';

import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input, type InputVideoTrack } from 'mediabunny';

import { type DecodedPicture, SHEET_PICTURES, type SheetPictures } from './decoder-messages.ts';
import { pictureDecoder, packetsAlone } from './h264.ts';

/** The thread that takes images at even distances out of one video, and decodes them where they are H.264 of the Baseline profile. */

/** Widest image that is kept while the others are decoded. */
const MAX_WIDTH = 640;

parentPort?.once('message', (video: Uint8Array) => {
  void decodePictures(video)
    .catch(() => null)
    .then((pictures) => {
      parentPort?.postMessage(pictures);
    });
});

async function decodePictures(video: Uint8Array): Promise<SheetPictures | null> {
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(video) });
  try {
    const track = await input.getPrimaryVideoTrack();
    if (track === null) return null;
    const [duration, rotation] = [await track.computeDuration(), await track.getRotation()];
    const decoded = await decode(track, duration);
    const packets = new EncodedPacketSink(track).packets();
    const film = decoded === null ? await packetsAlone(track, packets) : null;
    return { decoded, film, duration, rotation };
  } finally {
    input.dispose();
  }
}

/** Every packet is decoded: each depends on those before it. */
async function decode(track: InputVideoTrack, duration: number): Promise<readonly DecodedPicture[] | null> {
  const decoder = await pictureDecoder(track);
  if (decoder === null) return null;
  const pictures: DecodedPicture[] = [];
  for await (const packet of new EncodedPacketSink(track).packets()) {
    const picture = decoder(packet);
    const wanted = (pictures.length * duration) / SHEET_PICTURES;
    if (picture !== null && pictures.length < SHEET_PICTURES && packet.timestamp >= wanted - 1e-6)
      pictures.push(smaller(picture));
  }
  return pictures.length === 0 ? null : pictures;
}

/** An image of at most so many columns, by leaving some out: it is made smaller still afterwards. */
function smaller({ rgb, width, height }: DecodedPicture): DecodedPicture {
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
