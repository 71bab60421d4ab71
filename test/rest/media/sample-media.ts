import { readFile } from 'node:fs/promises';

import { postForm, type RestAnswer } from '../../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../../kit/kiln.ts';

/** A Kiln without latency, and the addresses of an image and of a recording that it has. */
export async function startWithSamples({ text = 'Hello there.' } = {}): Promise<{
  kiln: KilnUnderTest;
  imageUrl: string;
  recording: string;
}> {
  const kiln = await startKiln({ isQuick: true });
  const { body: stored } = await postForm(kiln.url, '/api/file/upload', { file: await readImage() });
  const say = '/api/agg/speech_router/sync/generate/speech';
  const { body: spoken } = await postForm(kiln.url, say, { text, format: 'wav' });
  return { kiln, imageUrl: stored.data, recording: spoken.data.url };
}

/** The sample image as a file of a form; `name` and `type` are what it says of itself. */
export async function readImage(name = 'a.png', type = 'image/png'): Promise<File> {
  const bytes = await readFile(new URL('../../kit/samples/image.png', import.meta.url));
  return new File([Uint8Array.from(bytes)], name, { type });
}

/** The recording at an address as a file of a form. */
export async function downloadWav(address: string): Promise<File> {
  const bytes = new Uint8Array(await (await fetch(address)).arrayBuffer());
  return new File([bytes], 'a.wav', { type: 'audio/wav' });
}

/** The first output's own facts, and whether its address gave as many bytes as they say. */
export async function openFirst({ body }: RestAnswer): Promise<object> {
  if (body.status !== true) throw new Error(JSON.stringify(body));
  const [media] = body.data.media;
  const bytes = (await (await fetch(body.data.url)).arrayBuffer()).byteLength;
  return { ...media, isWhole: bytes === media.bytes && media.url === body.data.url };
}
