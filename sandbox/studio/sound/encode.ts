import { registerMp3Encoder } from '@mediabunny/mp3-encoder';
import { AudioSample, AudioSampleSource, BufferTarget, Mp3OutputFormat, Output } from 'mediabunny';

import type { Sound } from './sound.ts';

/** Samples of one frame. */
const BLOCK = 4_096;
const BITS = 16;
const LOUDEST = 32_767;

/** Encodes a sound as FLAC: 16-bit, mono, every frame as it is (verbatim), so that it is as long as a WAV. */
export function writeFlac({ samples, sampleRate }: Sound): Buffer {
  const frames: Buffer[] = [];
  for (let start = 0; start < samples.length; start += BLOCK) {
    frames.push(frame(samples.subarray(start, start + BLOCK), frames.length));
  }
  return Buffer.concat([Buffer.from('fLaC'), streamInfo(samples.length, sampleRate), ...frames]);
}

/** The samples as they are, 16-bit little endian: what services call pcm. */
export function writePcm({ samples }: Sound): Buffer {
  const pcm = Buffer.alloc(samples.length * 2);
  for (const [index, value] of samples.entries()) pcm.writeInt16LE(level(value), index * 2);
  return pcm;
}

function level(value: number): number {
  return Math.round(Math.max(-1, Math.min(1, value)) * LOUDEST);
}

/** The only metadata block; sizes of frames and the checksum of the samples are left unknown (0). */
function streamInfo(length: number, sampleRate: number): Buffer {
  const block = Buffer.alloc(4 + 34);
  block[0] = 0x80; // the last block, STREAMINFO
  block.writeUIntBE(34, 1, 3);
  block.writeUInt16BE(BLOCK, 4);
  block.writeUInt16BE(BLOCK, 6);
  const facts = (BigInt(sampleRate) << 44n) | (BigInt(BITS - 1) << 36n) | BigInt(length);
  block.writeBigUInt64BE(facts, 14);
  return block;
}

function frame(samples: Float32Array, number: number): Buffer {
  // Sync code, fixed block size; the size in 16 bits at the end, the rate of STREAMINFO; one channel of 16 bits.
  const head = [
    0xff,
    0xf8,
    0x70,
    0x08,
    ...utf8Number(number),
    (samples.length - 1) >> 8,
    (samples.length - 1) & 0xff,
  ];
  const begin = Buffer.from([...head, crc8(head), 0x02]); // 0x02: a verbatim subframe
  const body = Buffer.alloc(samples.length * 2);
  for (const [index, value] of samples.entries()) body.writeInt16BE(level(value), index * 2);
  const whole = Buffer.concat([begin, body, Buffer.alloc(2)]);
  whole.writeUInt16BE(crc16(whole.subarray(0, -2)), whole.length - 2);
  return whole;
}

/** The number of a frame, coded as UTF-8 codes a character. */
function utf8Number(number: number): readonly number[] {
  return number < 0x80 ? [number] : [...Buffer.from(String.fromCodePoint(number))];
}

function crc8(bytes: readonly number[]): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = ((crc << 1) ^ (crc & 0x80 ? 0x07 : 0)) & 0xff;
  }
  return crc;
}

function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = ((crc << 1) ^ (crc & 0x8000 ? 0x8005 : 0)) & 0xffff;
  }
  return crc;
}

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
