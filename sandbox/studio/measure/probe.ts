import { fileTypeFromBuffer } from 'file-type';
import { ALL_FORMATS, BufferSource, Input, type InputAudioTrack, type InputVideoTrack } from 'mediabunny';
import sharp from 'sharp';

import { StudioError, type MediaFacts } from '../types/media-types.ts';

/** Most pixels that are decoded. */
const MAX_PIXELS = 50_000_000;
/** Packets that the frame rate is measured by. */
const COUNTED_PACKETS = 60;
const LONGEST_TITLE = 500;

/** Reads the facts of an image, video or sound. Throws UNREADABLE_MEDIA. */
export async function probeMedia(media: Uint8Array): Promise<MediaFacts> {
  try {
    const type = await fileTypeFromBuffer(media);
    return type?.mime.startsWith('image/') === true ? await probeImage(media) : await probeTracks(media);
  } catch (cause) {
    throw new StudioError('UNREADABLE_MEDIA', 'the file is no image, video or sound that can be read', {
      cause,
    });
  }
}

/** How long a video or sound of our own lasts, as its players will see it: encoders pad. */
export async function fileDuration(media: Uint8Array): Promise<number> {
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(media) });
  try {
    return await input.computeDuration();
  } finally {
    input.dispose();
  }
}

const NO_TRACKS = {
  duration: null,
  framesPerSecond: null,
  videoCodec: null,
  audioCodec: null,
  sampleRate: null,
  channels: null,
  title: null,
} as const;

async function probeImage(image: Uint8Array): Promise<MediaFacts> {
  const { autoOrient, format } = await sharp(image, { limitInputPixels: MAX_PIXELS }).metadata();
  return {
    ...NO_TRACKS,
    kind: 'image',
    contentType: `image/${format}`,
    container: format,
    byteLength: image.byteLength,
    width: autoOrient.width,
    height: autoOrient.height,
  };
}

async function probeTracks(media: Uint8Array): Promise<MediaFacts> {
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(media) });
  try {
    const format = await input.getFormat();
    const [video, sound] = [await input.getPrimaryVideoTrack(), await input.getPrimaryAudioTrack()];
    if (video === null && sound === null) throw new Error('the file has no track');
    const { title } = await input.getMetadataTags();
    return {
      ...(await videoFacts(video)),
      ...(await soundFacts(sound)),
      kind: video === null ? 'audio' : 'video',
      contentType: format.mimeType.split(';')[0] ?? format.mimeType,
      container: CONTAINERS[format.name] ?? format.name.toLowerCase(),
      byteLength: media.byteLength,
      duration: await input.computeDuration(),
      title: title?.slice(0, LONGEST_TITLE) ?? null,
    };
  } finally {
    input.dispose();
  }
}

const CONTAINERS: Readonly<Record<string, string>> = {
  MP4: 'mp4',
  'QuickTime File Format': 'mov',
  WebM: 'webm',
  Matroska: 'mkv',
  MP3: 'mp3',
  WAVE: 'wav',
  Ogg: 'ogg',
  FLAC: 'flac',
  ADTS: 'aac',
};

async function videoFacts(
  track: InputVideoTrack | null,
): Promise<Pick<MediaFacts, 'width' | 'height' | 'framesPerSecond' | 'videoCodec'>> {
  if (track === null) return { width: null, height: null, framesPerSecond: null, videoCodec: null };
  const { averagePacketRate } = await track.computePacketStats(COUNTED_PACKETS);
  return {
    width: await track.getDisplayWidth(),
    height: await track.getDisplayHeight(),
    framesPerSecond: Math.round(averagePacketRate * 100) / 100,
    videoCodec: await track.getCodec(),
  };
}

async function soundFacts(
  track: InputAudioTrack | null,
): Promise<Pick<MediaFacts, 'audioCodec' | 'sampleRate' | 'channels'>> {
  if (track === null) return { audioCodec: null, sampleRate: null, channels: null };
  return {
    audioCodec: await track.getCodec(),
    sampleRate: await track.getSampleRate(),
    channels: await track.getNumberOfChannels(),
  };
}

const LARGEST_COVER_BYTES = 10 * 1024 * 1024;

/** The cover image of a video or sound; null when there is none. Our own videos have one. */
export async function readCover(media: Uint8Array): Promise<Uint8Array | null> {
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(media) });
  try {
    const { images = [] } = await input.getMetadataTags();
    const cover = images.find(({ kind }) => kind === 'coverFront') ?? images[0];
    return cover === undefined || cover.data.byteLength > LARGEST_COVER_BYTES ? null : cover.data;
  } finally {
    input.dispose();
  }
}
