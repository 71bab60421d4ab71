import {
  ALL_FORMATS,
  BufferSource,
  Input,
  Mp4OutputFormat,
  type EncodedPacket,
  type InputVideoTrack,
} from 'mediabunny';
import sharp from 'sharp';

import { fileDuration } from '../../measure/probe.ts';
import { measureDuration, type Sound } from '../../sound/sound.ts';
import { makeThumbnail } from '../../thumbnail/thumbnail.ts';
import { StudioError, type StudioVideo } from '../../types/media-types.ts';
import { verifiedPackets, writeMp4, type FrameTrack } from '../../video/mp4.ts';
import { coverFrom, labelsFor } from '../../video/produce.ts';

/** A video and its new sound. */
export interface CopyPlan {
  readonly video: Uint8Array;
  readonly sound: Sound;
  readonly title: string;
  readonly seed: number;
}

/** A video with copied packets, which needs no decoder. */
export interface CopiedVideo extends StudioVideo {
  /** avc, hevc, vp9, ... */
  readonly codec: string;
}

/** Replaces the sound of a video and repeats or cuts the frames to its length. Throws UNREADABLE_MEDIA and OUT_OF_RANGE. */
export async function copyVideo(plan: CopyPlan): Promise<CopiedVideo> {
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(plan.video) });
  try {
    const track = await input.getPrimaryVideoTrack();
    if (track === null) throw new StudioError('UNREADABLE_MEDIA', 'the file has no video frames');
    return await copyTrack(track, plan);
  } catch (cause) {
    if (cause instanceof StudioError) throw cause;
    throw new StudioError('UNREADABLE_MEDIA', 'the video cannot be read', { cause });
  } finally {
    input.dispose();
  }
}

async function copyTrack(track: InputVideoTrack, plan: CopyPlan): Promise<CopiedVideo> {
  const seconds = measureDuration(plan.sound);
  const { packets, rate } = repeated(await packetsWithin(track, seconds), seconds);
  const frames = await readImages(track, packets);
  const poster = await drawPoster(plan.video);
  const bytes = await writeMp4({
    frames,
    sound: plan.sound,
    ...labelsFor(plan.title, plan.seed),
    cover: await coverFrom(sharp(poster)),
  });
  return {
    bytes,
    contentType: 'video/mp4',
    width: await track.getDisplayWidth(),
    height: await track.getDisplayHeight(),
    duration: await fileDuration(bytes),
    framesPerSecond: rate,
    hasSound: true,
    seed: plan.seed,
    poster,
    codec: frames.codec,
  };
}

/** Highest accepted frame rate. */
const MOST_RATE = 240;

/** The packets of the first seconds and their dependencies, in decoding order, from the first key frame on. */
async function packetsWithin(track: InputVideoTrack, seconds: number): Promise<EncodedPacket[]> {
  const packets: EncodedPacket[] = [];
  for await (const packet of verifiedPackets(track)) {
    const [first] = packets;
    if (first === undefined && packet.type !== 'key') continue;
    if (packet.type === 'key' && packet.timestamp - (first ?? packet).timestamp >= seconds) break;
    packets.push(packet);
    if (packets.length > MOST_RATE * (seconds + 1)) {
      throw new StudioError('OUT_OF_RANGE', `video: it has more than ${MOST_RATE} frames a second`);
    }
  }
  if (packets.length === 0) throw new StudioError('UNREADABLE_MEDIA', 'the video is empty');
  return packets;
}

async function readImages(track: InputVideoTrack, packets: Iterable<EncodedPacket>): Promise<FrameTrack> {
  const [codec, config] = [await track.getCodec(), await track.getDecoderConfig()];
  if (codec === null || config === null || !new Mp4OutputFormat().getSupportedVideoCodecs().includes(codec)) {
    throw new StudioError('UNREADABLE_MEDIA', 'the frames of the video are of a kind that is not known here');
  }
  return { codec, config, metadata: { rotation: await track.getRotation() }, packets: inTurn(packets) };
}

async function* inTurn(packets: Iterable<EncodedPacket>) {
  yield* packets;
}

/** The poster without decoding: the file's cover, or a card with its facts. */
async function drawPoster(video: Uint8Array): Promise<Buffer> {
  const { bytes } = await makeThumbnail(video);
  return sharp(bytes).flatten({ background: '#fff' }).jpeg({ quality: 82 }).toBuffer();
}

/** The repeated packets of a video. */
interface Repeated {
  readonly packets: Iterable<EncodedPacket>;
  /** Images a second. */
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
