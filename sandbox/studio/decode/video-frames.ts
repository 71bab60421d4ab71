import { createCanvas, ImageData } from '@napi-rs/canvas';
import type { Canvas } from '@napi-rs/canvas';
import { ALL_FORMATS, BufferSource, Input, VideoSampleSink } from 'mediabunny';
import type { InputVideoTrack, VideoSample } from 'mediabunny';

import { StudioError } from '../types/media-types.ts';
import type { Size } from '../types/size.ts';
import { canDecode } from './decoders.ts';

/** The decoded frames of a video, in a loop. */
export interface VideoFrames {
  /** The display size: rotated, with square pixels. */
  readonly size: Size;
  /** The frame at this time in seconds; times must not decrease. Throws UNREADABLE_MEDIA. */
  at(seconds: number): Promise<Canvas>;
  /** Ends the decoding. */
  close(): Promise<void>;
}

/** Limit for memory and time. */
const MOST_PIXELS = 4_096 * 2_304;
/** Supported profiles, 8 bits per colour: the optional decoders return noise for others. */
const PLAIN = /^(avc[13]\.(42|4d|58|64)|(hvc|hev)1\.1\.|vp8$|vp09\.00\.|av01\.0\.[^.]+\.08)/i;
const SHORTEST_SECONDS = 1 / 60;

/** Opens a video for decoding; null when no decoder supports it, or it is too large. Throws UNREADABLE_MEDIA. */
export async function openVideoFrames(video: Uint8Array): Promise<VideoFrames | null> {
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(video) });
  try {
    const images = await openTrack(input);
    if (images === null) input.dispose();
    return images;
  } catch (cause) {
    input.dispose();
    throw unreadable(cause);
  }
}

async function openTrack(input: Input): Promise<VideoFrames | null> {
  const track = await input.getPrimaryVideoTrack();
  if (track === null) throw new StudioError('UNREADABLE_MEDIA', 'the file has no video frames');
  const size = { width: await track.getDisplayWidth(), height: await track.getDisplayHeight() };
  const codec = (await track.getDecoderConfig())?.codec ?? '';
  const isTaken = PLAIN.test(codec) && size.width * size.height <= MOST_PIXELS;
  if (!isTaken || !(await canDecode(track))) return null;
  const images = createReader(input, size, await createLoop(track));
  return (await startsWell(images)) ? images : null;
}

/** Some decoders claim support and then fail. */
async function startsWell(images: VideoFrames): Promise<boolean> {
  try {
    await images.at(0);
    return true;
  } catch (error) {
    if (error instanceof StudioError) return false;
    throw error;
  }
}

interface Shown {
  readonly sample: VideoSample;
  /** Seconds since the start, including all loops. */
  readonly from: number;
}

/** The frames in display order, in a loop. */
async function createLoop(track: InputVideoTrack): Promise<AsyncGenerator<Shown, void>> {
  const start = await track.getFirstTimestamp();
  const period = Math.max(SHORTEST_SECONDS, (await track.computeDuration()) - start);
  const sink = new VideoSampleSink(track);
  return (async function* loop() {
    for (let round = 0; ; round += 1) {
      let count = 0;
      for await (const sample of sink.samples()) {
        count += 1;
        yield { sample, from: sample.timestamp - start + round * period };
      }
      if (count === 0) throw new Error('no frame could be decoded');
    }
  })();
}

function createReader(input: Input, size: Size, loop: AsyncGenerator<Shown, void>): VideoFrames {
  const canvas = createCanvas(size.width, size.height);
  const paint = createPainter(canvas);
  let next: Shown | null = null;
  const take = async () => (await loop.next()).value ?? null;
  /** The frame at this time; before the first frame, the first one. */
  const due = async (seconds: number): Promise<VideoSample | null> => {
    let found: VideoSample | null = null;
    if (next === null) {
      found = (await take())?.sample ?? null;
      next = await take();
    }
    while (next !== null && next.from <= seconds) {
      found?.close();
      found = next.sample;
      next = await take();
    }
    return found;
  };
  return {
    size,
    async at(seconds) {
      try {
        const sample = await due(seconds);
        if (sample !== null) await paint(sample);
        sample?.close();
        return canvas;
      } catch (cause) {
        throw unreadable(cause);
      }
    },
    async close() {
      next?.sample.close();
      await loop.return();
      input.dispose();
    },
  };
}

/** `format` is part of WebCodecs, but missing in the types. */
const AS_RGBA: VideoFrameCopyToOptions & { readonly format: string } = { format: 'RGBA' };

/** Draws frames onto the canvas, with the file's rotation. */
function createPainter(canvas: Canvas): (sample: VideoSample) => Promise<void> {
  let still = createCanvas(1, 1);
  let rgba = new Uint8ClampedArray(4);
  return async (sample) => {
    const { width, height } = sample.visibleRect;
    if (width * height > MOST_PIXELS) throw new Error('a frame is too large');
    // All frames of a video have the same size: the buffer is reused.
    if (still.width !== width || still.height !== height) {
      still = createCanvas(width, height);
      rgba = new Uint8ClampedArray(width * height * 4);
    }
    await sample.copyTo(rgba, AS_RGBA);
    still.getContext('2d').putImageData(new ImageData(rgba, width, height), 0, 0);
    drawTurned(canvas, still, sample.rotation);
  };
}

function drawTurned(canvas: Canvas, still: Canvas, rotation: number): void {
  const { width, height } = canvas;
  const [wide, high] = rotation % 180 === 0 ? [width, height] : [height, width];
  const brush = canvas.getContext('2d');
  brush.resetTransform();
  brush.translate(width / 2, height / 2);
  brush.rotate((rotation * Math.PI) / 180);
  brush.drawImage(still, -wide / 2, -high / 2, wide, high);
}

function unreadable(cause: unknown): StudioError {
  if (cause instanceof StudioError) return cause;
  return new StudioError('UNREADABLE_MEDIA', 'the video cannot be read', { cause });
}
