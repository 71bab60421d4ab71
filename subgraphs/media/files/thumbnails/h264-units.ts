/** The parts of H.264 in MP4 (ISO/IEC 14496-15). Pure; a RangeError for what is cut off. */

/** What a decoder is told first, from an avcC box. */
export interface ParameterSets {
  /** Bytes of the length before each unit of a packet. */
  readonly lengthBytes: number;
  readonly parameterSets: readonly Uint8Array[];
}

const FIRST_SET = 5;

export function parameterSetsOf(avcC: Uint8Array): ParameterSets {
  const box = Buffer.from(avcC.buffer, avcC.byteOffset, avcC.byteLength);
  const parameterSets: Uint8Array[] = [];
  let at = FIRST_SET;
  // First the sequence sets, whose count has five bits, then the picture sets.
  for (const mask of [0x1f, 0xff]) {
    const count = box.readUInt8(at) & mask;
    at += 1;
    for (let index = 0; index < count; index += 1) {
      const length = box.readUInt16BE(at);
      parameterSets.push(box.subarray(at + 2, at + 2 + length));
      at += 2 + length;
    }
  }
  return { lengthBytes: (box.readUInt8(4) & 3) + 1, parameterSets };
}

/** The units of a packet. */
export function unitsOf(packet: Uint8Array, lengthBytes: number): readonly Uint8Array[] {
  const bytes = Buffer.from(packet.buffer, packet.byteOffset, packet.byteLength);
  const units: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = bytes.readUIntBE(at, lengthBytes);
    units.push(bytes.subarray(at + lengthBytes, at + lengthBytes + length));
    at += lengthBytes + length;
  }
  return units;
}
