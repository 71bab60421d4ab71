import type { Peaks } from './decoder-messages.ts';
import { decodeInThread } from './decoder-thread.ts';
import { waveformDrawing } from './drawings.ts';

/** The waveform of a recording as SVG. Fails when the recording can't be decoded. */
export async function drawWaveform(recording: Uint8Array, width: number): Promise<Buffer> {
  const peaks = await decodeInThread<Peaks>(new URL('./waveform-thread.ts', import.meta.url), recording);
  if (peaks === null) throw new Error('the recording can not be decoded');
  return Buffer.from(waveformDrawing(peaks, width));
}
