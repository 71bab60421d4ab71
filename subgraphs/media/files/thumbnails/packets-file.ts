import {
  BufferTarget,
  type EncodedPacket,
  EncodedVideoPacketSource,
  type InputVideoTrack,
  MkvOutputFormat,
  Output,
} from 'mediabunny';

/** Packets of a track as a Matroska file of their own: what another decoder is given, instead of a file with an index to follow. */
export async function packetsAlone(
  track: InputVideoTrack,
  packets: AsyncIterable<EncodedPacket> | Iterable<EncodedPacket>,
): Promise<Uint8Array | null> {
  const [codec, config] = [await track.getCodec(), await track.getDecoderConfig()];
  if (codec === null || config === null) return null;
  const target = new BufferTarget();
  const output = new Output({ format: new MkvOutputFormat(), target });
  const source = new EncodedVideoPacketSource(codec);
  output.addVideoTrack(source);
  await output.start();
  for await (const packet of packets) await source.add(packet, { decoderConfig: config });
  await output.finalize();
  return target.buffer === null ? null : new Uint8Array(target.buffer);
}
