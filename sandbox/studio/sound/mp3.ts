import { registerMp3Encoder } from '@mediabunny/mp3-encoder';
import { AudioSample, AudioSampleSource, BufferTarget, Mp3OutputFormat, Output } from 'mediabunny';

import type { Sound } from './sound.ts';

registerMp3Encoder();

const BITS_PER_SECOND = 64_000;

/** Encodes a sound as MP3. */
export async function writeMp3({ samples, sampleRate }: Sound): Promise<Buffer> {
  const target = new BufferTarget();
  const output = new Output({ format: new Mp3OutputFormat(), target });
  const source = new AudioSampleSource({ codec: 'mp3', bitrate: BITS_PER_SECOND });
  output.addAudioTrack(source);
  await output.start();
  const sample = new AudioSample({
    data: samples,
    format: 'f32',
    numberOfChannels: 1,
    sampleRate,
    timestamp: 0,
  });
  await source.add(sample);
  sample.close();
  source.close();
  await output.finalize();
  if (target.buffer === null) throw new Error('the sound file was not written');
  return Buffer.from(target.buffer);
}
