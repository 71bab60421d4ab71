import { setImmediate as breathe } from 'node:timers/promises';

import encoders from 'h264-mp4-encoder';

import type { Size } from '../types/size.ts';
import type { FrameRenderer, AsyncFrameRenderer } from './frame-renderer.ts';
import { frameBytes, toRgb } from './yuv.ts';

/** Quantization 28 at full speed: 38 dB and about 13 ms a frame at 720p; a key frame every two seconds, so that seeking is quick. */
const QUANTIZATION = 28;
const SPEED = 10;
const SECONDS_PER_KEY_FRAME = 2;

/** Frames to be encoded. */
export interface EncodingRun {
  readonly renderer: FrameRenderer | AsyncFrameRenderer;
  readonly size: Size;
  readonly framesPerSecond: number;
  readonly frames: number;
  /** Called after each frame. */
  readonly onFrame: (done: number) => void;
}

type Encoder = Awaited<ReturnType<typeof encoders.createH264MP4Encoder>>;

/** Draws and encodes frames: a bare MP4 with H.264, and the middle frame as RGB. */
export async function encodeFrames(run: EncodingRun): Promise<{ mp4: Uint8Array; middle: Buffer }> {
  const { size, framesPerSecond } = run;
  const encoder = await encoders.createH264MP4Encoder();
  try {
    encoder.width = size.width;
    encoder.height = size.height;
    encoder.frameRate = framesPerSecond;
    encoder.quantizationParameter = QUANTIZATION;
    encoder.speed = SPEED;
    encoder.groupOfPictures = framesPerSecond * SECONDS_PER_KEY_FRAME;
    encoder.initialize();
    let middle: Buffer;
    try {
      middle = await addFrames(run, encoder);
    } finally {
      // Deleting an encoder before finalizing it crashes the process.
      encoder.finalize();
    }
    return { mp4: encoder.FS.readFile(encoder.outputFilename), middle };
  } finally {
    encoder.delete();
  }
}

/** Draws the frames into the encoder; returns the middle one as RGB. */
async function addFrames(
  { renderer, size, frames, onFrame }: EncodingRun,
  encoder: Encoder,
): Promise<Buffer> {
  const frame = new Uint8Array(frameBytes(size));
  let middle: Buffer = Buffer.alloc(0);
  for (let index = 0; index < frames; index += 1) {
    await renderer.draw(index / Math.max(1, frames - 1), frame);
    encoder.addFrameYuv(frame);
    if (index === frames >> 1) middle = toRgb(frame, size);
    onFrame(index + 1);
    // Progress messages are sent between turns of the event loop.
    await breathe();
  }
  return middle;
}
