/** Container boxes on the path to the boxes with times. */
const FOLDERS = new Set(['moov', 'trak', 'mdia']);
const TIMED = new Set(['mvhd', 'tkhd', 'mdhd']);
const HEADER_BYTES = 8;

/** Sets the creation and modification times of an MP4 to zero, in place, so that files are reproducible. */
export function clearTimes(mp4: Buffer): Buffer {
  clearWithin(mp4, 0, mp4.length);
  return mp4;
}

function clearWithin(mp4: Buffer, start: number, end: number): void {
  for (let at = start; at + HEADER_BYTES <= end;) {
    const { size, header } = measureBox(mp4, at, end);
    const type = mp4.toString('latin1', at + 4, at + 8);
    if (size < header || at + size > end) throw new Error(`the MP4 box ${type} is cut off`);
    if (FOLDERS.has(type)) clearWithin(mp4, at + header, at + size);
    // A version byte and three of flags, then the two times: 8 bytes each in version 1, else 4.
    if (TIMED.has(type)) {
      const times = at + header + 4;
      mp4.fill(0, times, times + (mp4[at + header] === 1 ? 16 : 8));
    }
    at += size;
  }
}

/** A size of 1 means that the real one follows in 8 bytes, 0 that the box extends to the end. */
function measureBox(mp4: Buffer, at: number, end: number): { size: number; header: number } {
  const short = mp4.readUInt32BE(at);
  if (short === 0) return { size: end - at, header: HEADER_BYTES };
  if (short !== 1) return { size: short, header: HEADER_BYTES };
  if (at + 16 > end) throw new Error('an MP4 box is cut off');
  return { size: Number(mp4.readBigUInt64BE(at + 8)), header: 16 };
}
